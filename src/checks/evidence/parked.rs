//! Proof that a worker that stood at a point was let go while it was stopped, and only then.

use super::Proof;
use super::stop::Case;
use crate::checks::say::secs;
use crate::timeline::history::PointSeen;

impl Case<'_> {
    /// The point at which the worker stood when it was stopped.
    pub(super) fn parked(&self, worker: usize) -> Option<&PointSeen> {
        let points = self.history.points.iter().rev();
        let point = points
            .filter(|point| point.worker == worker && point.waits)
            .find(|point| point.at <= self.onset.effective)?;
        let resumed = self.history.resumed.iter().any(|resumed| {
            resumed.worker == worker
                && resumed.point == point.point
                && resumed.at >= point.at
                && resumed.at < self.onset.began
        });
        (!resumed).then_some(point)
    }

    /// The one byte for that point.
    pub(super) fn go(
        &self,
        (index, parked): (usize, Option<&PointSeen>),
        proof: &mut Proof,
    ) -> Option<&PointSeen> {
        let (name, worker) = (&self.plan.name, self.history.worker_name(index));
        let Some(parked) = parked else {
            let own = self
                .plan
                .when
                .strip_prefix(worker)
                .is_some_and(|w| w.starts_with('.'));
            let point = [".before", ".armed", ".after"];
            let waits = own && point.iter().any(|end| self.plan.when.ends_with(end));
            proof.require(!waits, || {
                format!(
                    "{name}: {worker} did not stand at {} when it was stopped",
                    self.plan.when
                )
            });
            return None;
        };
        proof.events.push(parked.seq);
        let all = |list: &'_ [PointSeen]| -> Vec<usize> {
            let same = |seen: &PointSeen| seen.worker == index && seen.point == parked.point;
            (0..list.len()).filter(|i| same(&list[*i])).collect()
        };
        let gos = all(&self.history.gos);
        proof.require(gos.len() == 1, || {
            format!(
                "{name}: the byte that lets {worker} go on from {} was written {} times, not once",
                parked.point,
                gos.len()
            )
        });
        let resumed = all(&self.history.resumed);
        proof.require(!resumed.is_empty(), || {
            format!("{name}: {worker} never went on from {}", parked.point)
        });
        for seen in resumed.iter().map(|i| &self.history.resumed[*i]) {
            proof.events.push(seen.seq);
            proof.require(seen.at >= self.heal.began, || {
                format!(
                    "{name}: {worker} went on from {} at {}, before it was woken at {}",
                    parked.point,
                    secs(seen.at),
                    secs(self.heal.began)
                )
            });
        }
        gos.first().map(|i| &self.history.gos[*i])
    }

    /// The byte was written while the worker was seen stopped, before and after.
    pub(super) fn go_while_stopped(&self, go: Option<&PointSeen>, proof: &mut Proof) {
        let Some(go) = go else {
            return;
        };
        proof.events.push(go.seq);
        let before = self
            .window
            .look("stopped")
            .is_some_and(|look| look.at < go.at);
        let after = self.window.look("heal").is_some_and(|look| go.at < look.at);
        proof.require(before && after && go.at < self.heal.began, || {
            format!(
                "{}: it is not shown that the byte that lets the worker go on from {} was written \
                 while it was stopped",
                self.plan.name, go.point
            )
        });
    }
}

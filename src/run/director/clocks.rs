//! Wall clocks of single processes: who is started with one that can be moved, moving it, and
//! asking its owner what it shows. Only the owner's answer counts: a library that was not loaded
//! or a file that somebody put back moves nothing.

use super::players::Struck;
use super::scene::Scene;
use super::{DirectorError, asking};
use crate::env::clock_shim::WallClock;
use crate::env::error::EnvError;
use crate::faults;
use crate::plan::{FaultPlan, Service, Target};

/// What a jump and its measure may differ by, ns: the grain of the clocks, and then some.
const TOLERANCE_NS: i128 = 5_000_000;

/// The wall clock of one process.
#[derive(Debug)]
pub struct Clock {
    moved: WallClock,
    /// How far it was ahead of lab time before it was moved, ns.
    home: Option<i128>,
}

/// One reading of a wall clock between two readings of lab time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Lab time before, ns.
    pub before: u64,
    /// Lab time after, ns.
    pub after: u64,
    /// What it showed, microseconds since the Unix epoch.
    pub wall_us: u64,
}

impl Reading {
    /// How far it is ahead of lab time, ns.
    fn ahead(self) -> i128 {
        i128::from(self.wall_us) * 1000 - i128::from(self.before.midpoint(self.after))
    }

    /// Whether it is so far ahead, as well as this reading can tell.
    fn is_ahead_by(self, ns: i128) -> bool {
        let width = i128::from(self.after.saturating_sub(self.before));
        (self.ahead() - ns).abs() <= width + TOLERANCE_NS
    }
}

/// The variables with which a process of this name is started: none, unless a fault of the plan
/// moves its clock.
pub fn variables(scene: &mut Scene, name: &str) -> Result<Vec<(String, String)>, DirectorError> {
    let moves = |fault: &FaultPlan| {
        let kind = faults::find(&fault.kind).filter(|kind| kind.moves_clock());
        kind.is_some() && may_hit(scene, &fault.target, name)
    };
    if !scene.plan.faults.iter().any(moves) {
        return Ok(Vec::new());
    }
    if let Some(clock) = scene.clocks.get(name) {
        return Ok(clock.moved.variables());
    }
    let folder = scene.spec.work_dir.join("clocks");
    let moved = WallClock::prepare(&folder, name).map_err(|error| {
        let text = format!("cannot give {name} a clock of its own: {error}");
        DirectorError::Env(EnvError::new(text, "use another state folder"))
    })?;
    let variables = moved.variables();
    let clock = Clock { moved, home: None };
    scene.clocks.insert(name.to_owned(), clock);
    Ok(variables)
}

fn may_hit(scene: &Scene, target: &Target, name: &str) -> bool {
    match target {
        Target::Worker(named) | Target::Member(named) => named == name,
        Target::Server(Service::Lock) => name == scene.service_name(Service::Lock),
        Target::Holder => scene.plan.workers.iter().any(|worker| worker.name == name),
        Target::Server(Service::Store) | Target::Everyone => false,
    }
}

/// Lets the clock of the target jump; lab time before, and when the target was seen to have jumped.
pub async fn jump(
    scene: &mut Scene,
    (plan, struck): (&FaultPlan, &Struck),
) -> Result<Result<(u64, u64), String>, DirectorError> {
    let by_ms = plan.by_ms.ok_or_else(|| bug("a jump by nothing"))?;
    let by_ns = by_ms.saturating_mul(1_000_000);
    let home = match asking::time(scene, struck).await? {
        Ok(reading) => reading.ahead(),
        Err(why) => return Ok(Err(why)),
    };
    let began = scene.now();
    let clock = clock_of(scene, struck)?;
    clock.home = Some(home);
    if let Err(error) = clock.moved.set_ahead(by_ns) {
        return Ok(Err(format!("its clock cannot be moved: {error}")));
    }
    let reading = match asking::time(scene, struck).await? {
        Ok(reading) => reading,
        Err(why) => return Ok(Err(why)),
    };
    if reading.is_ahead_by(home + i128::from(by_ns)) {
        return Ok(Ok((began, scene.now())));
    }
    let moved_us = (reading.ahead() - home) / 1000;
    // It may have moved by something else.
    let _ = clock_of(scene, struck)?.moved.set_ahead(0);
    Ok(Err(format!(
        "its clock was to jump by {by_ms} ms and moved by {moved_us} µs"
    )))
}

/// Sets the clock of the target right; lab time before, and when that was seen. None if there is
/// nobody left whose clock it is.
pub async fn back(
    scene: &mut Scene,
    struck: &Struck,
) -> Result<Option<(u64, Option<u64>)>, DirectorError> {
    // Whatever it shows by now is on the record.
    if asking::time(scene, struck).await?.is_err() {
        return Ok(None);
    }
    let began = scene.now();
    let clock = clock_of(scene, struck)?;
    let home = clock.home.take();
    if clock.moved.set_ahead(0).is_err() {
        return Ok(Some((began, None)));
    }
    let reading = asking::time(scene, struck).await?.ok();
    let right = reading
        .zip(home)
        .is_some_and(|(reading, home)| reading.is_ahead_by(home));
    Ok(Some((began, right.then(|| scene.now()))))
}

fn clock_of<'s>(scene: &'s mut Scene, struck: &Struck) -> Result<&'s mut Clock, DirectorError> {
    let name = match struck {
        Struck::Worker(name, ..) | Struck::Server(name, _) => name,
        Struck::Edges(..) => return Err(bug("the clock of an edge")),
    };
    let clock = scene.clocks.get_mut(name);
    clock.ok_or_else(|| bug("a clock that nobody prepared"))
}

fn bug(what: &str) -> DirectorError {
    DirectorError::Bug(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_tells_a_jump_as_well_as_its_width_allows() {
        let reading = Reading {
            before: 1_000_000,
            after: 1_200_000,
            wall_us: 31_001_100,
        };
        assert_eq!(reading.ahead(), 31_000_000_000);
        assert!(reading.is_ahead_by(31_000_000_000));
        assert!(reading.is_ahead_by(31_005_200_000));
        assert!(!reading.is_ahead_by(31_005_200_001));
        assert!(!reading.is_ahead_by(0));
    }
}

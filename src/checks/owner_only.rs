//! `owner_only`: a release or renewal of one grant never changes the key or lease of another, nor
//! takes the key once more when its own has ended.
//!
//! The server's stream does not say who asked. A deletion before the deadline, with no release of
//! the holder's own under way and one of another grant under way, is that other's doing; likewise
//! an extension.

use super::say::{secs, whose, workers_of};
use super::{Check, Finding};
use crate::timeline::event::Call;
use crate::timeline::history::{Author, Cause, Grant, History, KeyEnd, Operation};

mod told;
mod tried;

use tried::tried;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct OwnerOnly;

impl Check for OwnerOnly {
    fn name(&self) -> &'static str {
        "owner_only"
    }

    fn claim(&self) -> &'static str {
        "a release or renewal of one grant never changes the key or lease of another, nor takes the key anew"
    }

    fn judge(&self, history: &History) -> Finding {
        let anew = self.taken_anew(history);
        anew.unwrap_or_else(|| self.of_another(history))
    }
}

impl OwnerOnly {
    fn of_another(&self, history: &History) -> Finding {
        let mut unclear = None;
        for grant in history.grants.iter().filter(|grant| grant.doubt.is_none()) {
            for extension in &grant.extensions {
                match &extension.author {
                    Author::Foreign(operations) if !operations.is_empty() => {
                        let what = format!("extended at {}", secs(extension.at.latest));
                        let seen = (what, extension.seq);
                        return self.violated(history, grant, operations, seen);
                    }
                    Author::Unclear(_) => {
                        unclear.get_or_insert((grant, "extended", extension.seq));
                    }
                    Author::Foreign(_) | Author::Own(_) => {}
                }
            }
            let KeyEnd::Taken { seq, at, cause, .. } = &grant.end else {
                continue;
            };
            match cause {
                Cause::BlindDelete(operations) => {
                    let what = format!("deleted no later than {},", secs(at.latest));
                    let seen = (what, *seq);
                    return self.violated(history, grant, operations, seen);
                }
                Cause::Unclear(_) => {
                    unclear.get_or_insert((grant, "deleted", *seq));
                }
                Cause::Overwrite(_)
                | Cause::Flush
                | Cause::Restart
                | Cause::Failover
                | Cause::Clock
                | Cause::Unexplained => {}
            }
        }
        if let Some((grant, what, seq)) = unclear {
            let why = format!(
                "the key of {} was {what}, and it cannot be told by whose request",
                whose(history, grant)
            );
            return Finding::unknown(self, why).resting_on([grant.seq, seq]);
        }
        if asked(history)
            && let Some(unseen) = Finding::unseen(self, history)
        {
            return unseen;
        }
        self.nothing_changed(history)
    }

    /// How often it could have been, and what else was tried.
    fn nothing_changed(&self, history: &History) -> Finding {
        let tried = tried(history);
        let beside = told::beside(history, &tried);
        let seqs = |all: &[usize]| -> Vec<u64> {
            let all = all.iter().take(20);
            all.flat_map(|i| history.operations[*i].seqs()).collect()
        };
        if tried.met.is_empty() {
            let why = match beside.is_empty() {
                true => "no release or renewal was tried while another grant held the key",
                false => {
                    "no release or renewal is shown to have reached the server while another grant \
                     held the key"
                }
            };
            let cut = tried.cut.iter().map(|(index, _)| *index);
            let elsewhere = tried.elsewhere.iter().map(|(index, _)| *index);
            let all: Vec<usize> = cut.chain(elsewhere).collect();
            let all = [&all[..], &tried.unshown, &tried.perhaps, &tried.own].concat();
            return Finding::vacuous(self, why.to_owned() + &beside).resting_on(seqs(&all));
        }
        let why = format!(
            "releases or renewals that reached the server while another grant held the key: {}; none \
             of them changed it{beside}",
            tried.met.len()
        );
        Finding::holds(self, why).resting_on(seqs(&tried.met))
    }

    fn taken_anew(&self, history: &History) -> Option<Finding> {
        let sure = history.grants.iter().filter(|grant| grant.doubt.is_none());
        let mut anew = sure.filter_map(|grant| Some((grant, grant.renewal?)));
        let (grant, renewal) = anew.next()?;
        let renewal = &history.operations[renewal];
        let why = format!(
            "a renewal of {} took the key anew at {}: its own had ended, and nobody had asked for another",
            history.worker_name(renewal.worker),
            secs(grant.granted.latest)
        );
        let violated = Finding::violated(self, why)
            .resting_on([grant.seq].into_iter().chain(renewal.seqs()))
            .witnessed_by(history, [renewal.worker]);
        Some(violated)
    }

    fn violated(
        &self,
        history: &History,
        victim: &Grant,
        culprits: &[usize],
        (what, seq): (String, u64),
    ) -> Finding {
        let operations = culprits.iter().map(|i| &history.operations[*i]);
        let verb = match operations.clone().next().map(|operation| &operation.call) {
            Some(Call::Renew { .. }) => "renewal",
            Some(_) | None => "release",
        };
        let its_own = operations
            .clone()
            .all(|operation| Some(operation.worker) == victim.worker);
        let which = match its_own {
            true => "for another attempt of its own, which did not hold it",
            false => "which was not its holder",
        };
        let why = format!(
            "the key of {} was {what} by a {verb} of {}, {which}",
            whose(history, victim),
            workers_of(history, culprits)
        );
        let workers: Vec<usize> = operations
            .clone()
            .map(|operation| operation.worker)
            .collect();
        Finding::violated(self, why)
            .resting_on(
                [victim.seq, seq]
                    .into_iter()
                    .chain(operations.flat_map(Operation::seqs)),
            )
            .witnessed_by(history, workers.into_iter().chain(victim.worker))
    }
}

/// Somebody asked for a release or a renewal.
fn asked(history: &History) -> bool {
    let mut operations = history.operations.iter();
    operations.any(|one| matches!(one.call, Call::Renew { .. } | Call::Release { .. }))
}

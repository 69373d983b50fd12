//! `stops_after_loss`: no protected step is begun after the handle said Lost.
//!
//! A step begun before, and completed after, is the late holder that fencing is for; it is not
//! this.

use super::say::{count, secs};
use super::{Check, Finding};
use crate::ids::GrantId;
use crate::timeline::event::Call;
use crate::timeline::history::{History, Loss};
use foldhash::HashMap;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct StopsAfterLoss;

impl Check for StopsAfterLoss {
    fn name(&self) -> &'static str {
        "stops_after_loss"
    }

    fn claim(&self) -> &'static str {
        "no protected step is begun after the handle said that the lock is lost"
    }

    fn judge(&self, history: &History) -> Finding {
        let mut lost: HashMap<(usize, &GrantId), &Loss> = HashMap::default();
        for loss in &history.losses {
            let first = lost.entry((loss.worker, &loss.grant)).or_insert(loss);
            if loss.at < first.at {
                *first = loss;
            }
        }
        for operation in &history.operations {
            let grant = match &operation.call {
                Call::Write {
                    grant: Some(grant), ..
                }
                | Call::Seal { grant, .. } => grant,
                Call::Write { grant: None, .. }
                | Call::Acquire
                | Call::Enter { .. }
                | Call::Attempt { .. }
                | Call::Renew { .. }
                | Call::Release { .. }
                | Call::Check { .. }
                | Call::Read
                | Call::ReadUnder { .. }
                | Call::Publish { .. }
                | Call::Relay
                | Call::Refence
                | Call::Hold => continue,
            };
            let Some(loss) = lost.get(&(operation.worker, grant)) else {
                continue;
            };
            if operation.invoked > loss.at.saturating_add(history.epsilon_ns) {
                let why = format!(
                    "{} began {} at {}, {} after its handle said that the lock is lost",
                    history.worker_name(operation.worker),
                    operation.step.as_deref().unwrap_or("a write"),
                    secs(operation.invoked),
                    secs(operation.invoked - loss.at),
                );
                return Finding::violated(self, why)
                    .resting_on([loss.seq].into_iter().chain(operation.seqs()))
                    .witnessed_by(history, [operation.worker]);
            }
        }
        if lost.is_empty() {
            return Finding::vacuous(self, "no handle said that its lock is lost");
        }
        let mut told: Vec<u64> = lost.values().map(|loss| loss.seq).collect();
        told.sort_unstable();
        let why = format!(
            "{} told that the lock is lost; no protected step was begun under it after that",
            count(told.len(), "handle")
        );
        Finding::holds(self, why).resting_on(told.into_iter().take(20))
    }
}

//! Who believed to hold, and for how long: what a worker's handle said, not what the server knew.

use super::tenure::granted;
use crate::ids::GrantId;
use crate::timeline::event::Call;
use crate::timeline::history::History;
use std::collections::HashMap;

/// A span in which a handle said that it holds.
#[derive(Debug, Clone)]
pub struct Belief {
    /// Worker.
    pub worker: String,
    /// Grant.
    pub grant: GrantId,
    /// When the grant was answered, lab time, ns.
    pub from: u64,
    /// When Lost was told, the release began or the process was gone; the end of the record if
    /// none of these, ns.
    pub until: u64,
    /// It ended because the process was gone: the dead believe nothing.
    pub died: bool,
}

/// From each grant's answer to the first of: Lost told, its release begun, its process gone, the
/// end of the record.
pub fn beliefs(history: &History) -> Vec<Belief> {
    let mut ends: HashMap<&GrantId, u64> = HashMap::new();
    let mut end = |grant, at: u64| {
        let first = ends.entry(grant).or_insert(at);
        *first = at.min(*first);
    };
    for loss in &history.losses {
        end(&loss.grant, loss.at);
    }
    for operation in &history.operations {
        if let Call::Release { grant } = &operation.call {
            end(grant, operation.invoked);
        }
    }
    history
        .operations
        .iter()
        .filter_map(|operation| {
            let (grant, ..) = granted(operation)?;
            let from = operation.returned.as_ref()?.at;
            let ended = ends.get(grant).copied().unwrap_or(history.last_at);
            let gone = gone(history, operation.worker, from).filter(|gone| *gone < ended);
            let until = gone.unwrap_or(ended);
            Some(Belief {
                worker: history.worker_name(operation.worker).to_owned(),
                grant: grant.clone(),
                from,
                until: until.max(from),
                died: gone.is_some(),
            })
        })
        .collect()
}

/// When the process that a worker ran at a time was gone, ns.
fn gone(history: &History, worker: usize, at: u64) -> Option<u64> {
    history.workers.get(worker)?.gone(at)
}

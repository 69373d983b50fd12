//! Who waited, and who could not: waits for the lock, attempts that found it busy, stops.

use super::tenure;
use crate::timeline::event::{Answer, Call};
use crate::timeline::history::History;

/// How long each successful acquire or enter took, ns.
pub fn waits(history: &History) -> Vec<u64> {
    let granted = history
        .operations
        .iter()
        .filter(|operation| tenure::granted(operation).is_some());
    granted
        .filter_map(|operation| {
            let back = operation.returned.as_ref()?;
            Some(back.at.saturating_sub(operation.invoked))
        })
        .collect()
}

/// Attempts that found the lock busy: worker and when the attempt was sent.
pub fn busy(history: &History) -> Vec<(String, u64)> {
    let attempts = history.operations.iter().filter(|operation| {
        matches!(operation.call, Call::Attempt { .. })
            && matches!(operation.answer(), Some(Answer::Busy))
    });
    attempts
        .map(|operation| {
            let name = history.worker_name(operation.worker);
            (name.to_owned(), operation.invoked)
        })
        .collect()
}

/// A worker that was killed and never came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Death {
    /// Who.
    pub worker: String,
    /// Lab time at which its process was known to be gone, ns.
    pub at: u64,
    /// The line.
    pub event: u64,
}

/// Every worker whose last process was ended by a signal.
pub fn deaths(history: &History) -> Vec<Death> {
    let last = history.workers.iter().filter_map(|worker| {
        let exit = worker.lives.last()?.exit?;
        exit.signal?;
        Some(Death {
            worker: worker.name.clone(),
            at: exit.at,
            event: exit.seq,
        })
    });
    last.collect()
}

/// When each worker was stopped: worker, from, to; a stop that never ends does so with the record.
pub fn stopped(history: &History) -> Vec<(String, u64, u64)> {
    let spans = history.workers.iter().flat_map(|worker| {
        worker.stopped.iter().map(|span| {
            let to = span.to.min(history.last_at.max(span.from));
            (worker.name.clone(), span.from, to)
        })
    });
    spans.collect()
}

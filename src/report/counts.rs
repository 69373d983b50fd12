//! What is counted of a run for its signals. Numbers of one run: they bound nothing.

use crate::timeline::event::{Answer, Call, Outcome};
use crate::timeline::history::History;

/// Signals as numbers, by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Acquire commands: granted, busy, other.
    pub attempts: Vec<(&'static str, usize)>,
    /// Renewals: worked, failed.
    pub renewals: Vec<(&'static str, usize)>,
    /// Stale writes at the store: refused, accepted.
    pub stale: Vec<(&'static str, usize)>,
    /// Operations without an answer.
    pub unknown: usize,
    /// Servers that ended while the run lasted.
    pub server_exits: usize,
}

/// The signals that are counted.
pub fn counts(history: &History) -> Counts {
    let attempts = acquires(history);
    let sent = |worked| {
        let renewals = history.operations.iter().filter(|operation| {
            matches!(operation.call, Call::Renew { .. })
                && matches!(operation.answer(), Some(Answer::Renewed)) == worked
        });
        renewals.count()
    };
    let stale = |accepted| {
        let attempts = history.store.iter().filter(|attempt| {
            attempt.fencing.is_some()
                && attempt.fencing < attempt.highest
                && attempt.accepted == accepted
        });
        attempts.count()
    };
    let lives = history.servers.values().flatten();
    let end = history.end.as_ref().map_or(history.last_at, |end| end.1);
    let ended = |at: u64| at < end;
    Counts {
        attempts,
        renewals: vec![("worked", sent(true)), ("failed", sent(false))],
        stale: vec![("refused", stale(false)), ("accepted", stale(true))],
        unknown: open(history),
        server_exits: lives
            .filter(|life| life.exit.is_some_and(|exit| ended(exit.at)))
            .count(),
    }
}

fn acquires(history: &History) -> Vec<(&'static str, usize)> {
    let (mut granted, mut busy, mut other) = (0, 0, 0);
    for operation in &history.operations {
        if !matches!(operation.call, Call::Attempt { .. }) {
            continue;
        }
        match operation.answer() {
            Some(Answer::Granted { .. }) => granted += 1,
            Some(Answer::Busy) => busy += 1,
            Some(_) | None => other += 1,
        }
    }
    vec![("granted", granted), ("busy", busy), ("other", other)]
}

fn open(history: &History) -> usize {
    let open = history.operations.iter().filter(|operation| {
        operation
            .returned
            .as_ref()
            .is_none_or(|back| back.outcome == Outcome::Info)
    });
    open.count()
}

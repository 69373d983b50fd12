//! What is counted of a run for its signals. Numbers of one run: they bound nothing.

use super::scene::Scene;
use super::scene::writes::{Fate, Harm};
use crate::checks::no_stale_read::exposed;
use crate::checks::no_stale_write::{is_tokenless, staleness};
use crate::timeline::event::{Answer, Call, Outcome};
use crate::timeline::history::{History, Operation, PointSeen};
use std::collections::HashSet;

/// Signals as numbers, by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Acquire commands that left their worker: granted, busy, other.
    pub attempts: Vec<(&'static str, usize)>,
    /// Grants that the server made and of which the worker that had asked never heard.
    pub unheard: usize,
    /// Renewals: worked, failed.
    pub renewals: Vec<(&'static str, usize)>,
    /// Stale writes at the store, as the check `no_stale_write` counts them: refused (stale or late),
    /// accepted (stale).
    pub stale: Vec<(&'static str, usize)>,
    /// Writes without a grant and without a fencing token, by writers that never had the lock: refused,
    /// accepted. Not counted as stale: they have no number that could be old.
    pub tokenless: Vec<(&'static str, usize)>,
    /// Writes that the store accepted after their writer's lease had ended, in legal order.
    pub late: usize,
    /// Reads that came after their reader's time, as the check `no_stale_read` counts them: refused,
    /// answered.
    pub late_reads: Vec<(&'static str, usize)>,
    /// Operations without an answer; a step and the command that it waits for count once.
    pub unknown: usize,
    /// Servers that ended before the last worker was done.
    pub server_exits: usize,
    /// What was done to servers: kind of the fault, server, how often.
    pub done_to_servers: Vec<(String, String, usize)>,
}

/// The signals that are counted.
pub fn counts(history: &History, scene: &Scene) -> Counts {
    let attempts = acquires(history);
    let sent = |worked| {
        let renewals = history.operations.iter().filter(|operation| {
            matches!(operation.call, Call::Renew { .. })
                && matches!(operation.answer(), Some(Answer::Renewed)) == worked
        });
        renewals.count()
    };
    let found = staleness(history).stale;
    let accepted = found.iter().map(|(index, _)| &history.store[*index]);
    let accepted = accepted.filter(|attempt| attempt.accepted && !is_tokenless(attempt));
    let without = |accepted: bool| {
        let writes = history.store.iter().filter(|one| is_tokenless(one));
        writes.filter(|one| one.accepted == accepted).count()
    };
    // Who was refused by the number of a seal alone is known to the scene's writes.
    let reached = || {
        let writes = scene.writes.iter();
        writes.filter(|one| one.applied.is_some() && !one.seal)
    };
    let refused = reached().filter(|one| one.fate == Fate::Rejected && one.is_stale());
    let late = reached().filter(|one| one.harm() == Some(Harm::Late));
    let lives = history.servers.values().flatten();
    let end = drill_ends(history);
    let ended = |at: u64| at < end;
    Counts {
        attempts,
        unheard: scene.tenures.iter().filter(|one| one.unheard).count(),
        renewals: vec![("worked", sent(true)), ("failed", sent(false))],
        stale: vec![("refused", refused.count()), ("accepted", accepted.count())],
        tokenless: vec![("refused", without(false)), ("accepted", without(true))],
        late: late.count(),
        late_reads: late_reads(history),
        unknown: open(history),
        server_exits: lives
            .filter(|life| life.exit.is_some_and(|exit| ended(exit.at)))
            .count(),
        done_to_servers: done_to_servers(history),
    }
}

/// A server that is frozen, emptied or cut off from its replicas does not end.
fn done_to_servers(history: &History) -> Vec<(String, String, usize)> {
    let mut done: Vec<(String, String, usize)> = Vec::new();
    for window in &history.faults {
        let (Some(server), times @ 1..) = (&window.server, window.onsets.len()) else {
            continue;
        };
        let same = |one: &&mut (String, String, usize)| one.0 == window.kind && one.1 == *server;
        match done.iter_mut().find(same) {
            Some(known) => known.2 += times,
            None => done.push((window.kind.clone(), server.clone(), times)),
        }
    }
    done
}

/// When the last worker was done, lab time, ns: what ends later was ended by the lab.
pub fn drill_ends(history: &History) -> u64 {
    let done = history.operations.iter().map(|operation| {
        let back = operation.returned.as_ref();
        back.map_or(operation.invoked, |back| back.at)
    });
    let reached = history.store.iter().map(|attempt| attempt.applied);
    done.chain(reached).max().unwrap_or(0)
}

fn late_reads(history: &History) -> Vec<(&'static str, usize)> {
    let late = exposed(history).into_iter().filter(|read| read.stale);
    let (answered, refused): (Vec<_>, Vec<_>) =
        late.partition(|read| history.store[read.index].accepted);
    vec![("refused", refused.len()), ("answered", answered.len())]
}

fn acquires(history: &History) -> Vec<(&'static str, usize)> {
    let (mut granted, mut busy, mut other) = (0, 0, 0);
    for operation in &history.operations {
        if !matches!(operation.call, Call::Attempt { .. }) || never_left(history, operation) {
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

/// Its worker ended while it stood just before sending it.
pub fn never_left(history: &History, operation: &Operation) -> bool {
    let (Some(step), None) = (&operation.step, &operation.returned) else {
        return false;
    };
    let worker = operation.worker;
    let armed = format!("{}.{step}.armed", history.worker_name(worker));
    let here = |seen: &&PointSeen| {
        seen.worker == worker && seen.point == armed && seen.at >= operation.invoked
    };
    let stood = history.points.iter().filter(here).any(|seen| seen.waits);
    stood && !history.resumed.iter().any(|seen| here(&seen))
}

fn is_open(operation: &Operation) -> bool {
    let back = operation.returned.as_ref();
    back.is_none_or(|back| back.outcome == Outcome::Info)
}

/// A step that asks for the lock is open because a command of its own is: that is one unknown.
fn open(history: &History) -> usize {
    let all = history.operations.iter().filter(|one| is_open(one));
    let (commands, others): (Vec<_>, Vec<_>) =
        all.partition(|one| matches!(one.call, Call::Attempt { .. }));
    let of_a_step: HashSet<(usize, &Option<String>)> =
        commands.iter().map(|one| (one.worker, &one.step)).collect();
    let waits = |one: &&&Operation| {
        matches!(one.call, Call::Acquire | Call::Enter { .. })
            && of_a_step.contains(&(one.worker, &one.step))
    };
    commands.len() + others.iter().filter(|one| !waits(one)).count()
}

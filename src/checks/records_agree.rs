//! `records_agree`: the parts of the record do not contradict each other.
//!
//! A violation is the lab's own defect, never the lock's, and ends in no verdict: a gap or a
//! duplicate in the record, an effect on the server or an entry in the store's log that no recorded
//! operation can have caused, an answer of the store that its log does not know. A *lock's* answer
//! without an effect is not this: a lock may lie, and `outcome_honesty` says so.

use super::say::{secs, whose};
use super::{Check, Finding};
use crate::faults::{self, Hits};
use crate::timeline::event::{AttemptKind, Call};
use crate::timeline::history::{Author, Cause, Defect, History, KeyEnd, Operation, Told};
use foldhash::HashMap;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct RecordsAgree;

impl Check for RecordsAgree {
    fn name(&self) -> &'static str {
        super::RECORDS_AGREE
    }

    fn claim(&self) -> &'static str {
        "the record is whole and its parts do not contradict each other"
    }

    fn judge(&self, history: &History) -> Finding {
        let mut defects: Vec<Defect> = history.defects.clone();
        if !history.operations.is_empty() {
            server_effects(history, &mut defects);
            store_entries(history, &mut defects);
        }
        store_answers(history, &mut defects);
        queue_entries(history, &mut defects);
        let Some(first) = defects.first() else {
            return Finding::holds(self, "no part of the record contradicts another");
        };
        let why = match defects.len() {
            1 => first.what.clone(),
            n => format!("{}; and {} more", first.what, n - 1),
        };
        let events = defects
            .iter()
            .flat_map(|defect| defect.events.iter().copied());
        Finding::violated(self, why).resting_on(events.take(50))
    }
}

/// Every effect has an operation that can have caused it.
fn server_effects(history: &History, defects: &mut Vec<Defect>) {
    for grant in &history.grants {
        if grant.doubt.is_some() {
            continue;
        }
        let whose = || whose(history, grant);
        if grant.attempt.is_none() {
            defects.push(Defect {
                events: vec![grant.seq],
                what: format!(
                    "the server granted {} at {} and no recorded attempt asked for it",
                    whose(),
                    secs(grant.granted.middle())
                ),
            });
            continue;
        }
        let nobody = |author: &Author| matches!(author, Author::Own(None));
        if let Some(lone) = grant.extensions.iter().find(|e| nobody(&e.author)) {
            let resent = grant.attempt.is_some_and(|i| {
                let attempt = &history.operations[i];
                attempt.in_flight(lone.at.earliest, lone.at.latest)
            });
            if !resent {
                defects.push(Defect {
                    events: vec![grant.seq, lone.seq],
                    what: format!(
                        "the lease of {} was extended and no renewal was recorded",
                        whose()
                    ),
                });
            }
        }
        if let KeyEnd::Taken {
            seq,
            cause: Cause::Unexplained,
            at,
            ..
        } = &grant.end
            && !a_server_was_hit(history, at.latest)
        {
            defects.push(Defect {
                events: vec![grant.seq, *seq],
                what: format!(
                    "the key of {} was deleted and no release was recorded",
                    whose()
                ),
            });
        }
    }
}

/// A fault of a server had begun by then: it may delete keys, and a fault of workers does not. Of
/// one without an onset nobody knows when it began; `evidence` says that it is not shown.
fn a_server_was_hit(history: &History, by: u64) -> bool {
    history.faults.iter().any(|window| {
        let kind = faults::find(&window.kind);
        let hits = kind.is_none_or(|kind| kind.hits == Hits::Server) || window.server.is_some();
        hits && window.onsets.first().is_none_or(|onset| onset.began <= by)
    })
}

/// Every entry of the store's log was asked for, as it stands there.
fn store_entries(history: &History, defects: &mut Vec<Defect>) {
    for entry in &history.store {
        if entry.kind == AttemptKind::Seal {
            continue;
        }
        let Some(operation) = entry.operation.map(|i| &history.operations[i]) else {
            defects.push(Defect {
                events: vec![entry.seq],
                what: format!(
                    "the store's log has {} and no worker recorded it",
                    entry.write
                ),
            });
            continue;
        };
        let as_asked = match &operation.call {
            Call::Write {
                based_on,
                grant,
                fencing,
                ..
            } => (based_on, grant, fencing) == (&entry.based_on, &entry.grant, &entry.fencing),
            Call::ReadUnder { grant, fencing, .. } => {
                (grant, fencing) == (&entry.grant, &entry.fencing)
            }
            _other => continue,
        };
        if !as_asked {
            defects.push(Defect {
                events: vec![operation.seq, entry.seq],
                what: format!(
                    "{} is in the store's log otherwise than it was asked",
                    entry.write
                ),
            });
        }
    }
}

/// What the store answered is in its log.
fn store_answers(history: &History, defects: &mut Vec<Defect>) {
    let complete = |reason: &str| reason == "complete";
    if !history
        .end
        .as_ref()
        .is_some_and(|(_, _, reason)| complete(reason))
    {
        return; // The log is collected at the end.
    }
    let mut logged: HashMap<&str, (bool, u64)> = HashMap::default();
    for entry in &history.store {
        let known = logged.entry(&entry.write).or_insert((false, entry.seq));
        known.0 |= entry.accepted;
    }
    for operation in &history.operations {
        let (Call::Write { write, .. } | Call::ReadUnder { read: write, .. }) = &operation.call
        else {
            continue;
        };
        let known = logged.get(&**write);
        let what = match (operation.told(), known) {
            (Told::Open, _) | (Told::Done, Some((true, _))) | (Told::NotDone, Some((false, _))) => {
                continue;
            }
            (Told::NotDone, None) if !rejected(operation) => continue,
            (Told::Done, Some((false, _))) => "was told as accepted and stands as refused",
            (Told::NotDone, Some((true, _))) => "was told as refused and stands as accepted",
            (Told::Done | Told::NotDone, None) => "was answered and is missing",
        };
        defects.push(Defect {
            events: operation
                .seqs()
                .into_iter()
                .chain(known.map(|(_, seq)| *seq))
                .collect(),
            what: format!("{write} {what} in the store's log"),
        });
    }
}

/// Every entry of the queue's log was asked for, and what was told as published is there.
fn queue_entries(history: &History, defects: &mut Vec<Defect>) {
    let mut asked: HashMap<(&str, &str), Option<u64>> = HashMap::default();
    for operation in &history.operations {
        if let Call::Publish { publish, message } = &operation.call {
            let told = operation.told() == Told::Done;
            asked.insert((publish, message), told.then_some(operation.seq));
        }
    }
    for line in &history.published {
        let known = asked.remove(&(&line.publish, &line.message));
        if known.is_none() && !history.operations.is_empty() {
            defects.push(Defect {
                events: vec![line.seq],
                what: format!(
                    "the queue's log has {} from {} and no worker recorded it",
                    line.message, line.publish
                ),
            });
        }
    }
    if history.queue_read.is_none() {
        return;
    }
    let missing = asked
        .iter()
        .filter_map(|(what, told)| Some(((*told)?, what)));
    let mut missing: Vec<_> = missing.collect();
    missing.sort_unstable();
    for (seq, (publish, message)) in missing {
        defects.push(Defect {
            events: vec![seq],
            what: format!(
                "{message} was told as published by {publish} and the queue has not got it"
            ),
        });
    }
}

/// The store itself refused it; a store that could not be reached logs nothing.
fn rejected(operation: &Operation) -> bool {
    matches!(
        operation.answer(),
        Some(crate::timeline::event::Answer::Rejected { .. })
    )
}

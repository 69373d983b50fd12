//! `retry_budget`: a waiter sends at most three commands in any one second.
//!
//! Counted where the worker records them, just before they leave. Recorded times jitter, so a
//! second counts as broken only if four commands fall into nine tenths of it.

use super::say::secs;
use super::{Check, Finding};
use crate::timeline::event::Call;
use crate::timeline::history::{History, Operation};
use std::collections::BTreeMap;

/// Commands that one waiter may send in any one second.
const COMMANDS: usize = 3;
/// What of a second certainly was one, ns.
const CERTAIN_NS: u64 = 900_000_000;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct RetryBudget;

impl Check for RetryBudget {
    fn name(&self) -> &'static str {
        "retry_budget"
    }

    fn claim(&self) -> &'static str {
        "a waiter sends at most three commands in any one second"
    }

    fn judge(&self, history: &History) -> Finding {
        let waits = by_worker(history, |call| matches!(call, Call::Enter { .. }));
        let sent = by_worker(history, |call| matches!(call, Call::Attempt { .. }));
        let mut most = 0;
        for (worker, waits) in waits {
            let Some(sent) = sent.get(&worker) else {
                continue;
            };
            for wait in waits {
                let from = sent.partition_point(|attempt| attempt.invoked < wait.invoked);
                let to = sent.partition_point(|attempt| attempt.invoked <= wait.ended());
                let during = &sent[from..to.max(from)];
                most = most.max(during.len());
                if let Some((first, last)) = broken(history, during) {
                    return self.violated(history, first, last);
                }
            }
        }
        if most == 0 {
            return Finding::vacuous(self, "nobody waited for the lock");
        }
        let why = format!("{most} commands in one wait at most, never four in a second");
        Finding::holds(self, why)
    }
}

impl RetryBudget {
    fn violated(&self, history: &History, first: &Operation, last: &Operation) -> Finding {
        let why = format!(
            "{} sent {} commands within {} from {}, while it waited",
            history.worker_name(first.worker),
            COMMANDS + 1,
            secs(last.invoked - first.invoked),
            secs(first.invoked)
        );
        Finding::violated(self, why)
            .resting_on([first.seq, last.seq])
            .witnessed_by(history, [first.worker])
    }
}

/// Each worker's operations of one kind, by invoke.
fn by_worker(history: &History, kind: impl Fn(&Call) -> bool) -> BTreeMap<usize, Vec<&Operation>> {
    let mut all: BTreeMap<usize, Vec<&Operation>> = BTreeMap::new();
    for operation in history.operations.iter().filter(|one| kind(&one.call)) {
        all.entry(operation.worker).or_default().push(operation);
    }
    for list in all.values_mut() {
        list.sort_by_key(|operation| operation.invoked);
    }
    all
}

/// The first and last of four commands that came too fast, if any.
fn broken<'a>(history: &History, sent: &[&'a Operation]) -> Option<(&'a Operation, &'a Operation)> {
    sent.iter()
        .zip(sent.iter().skip(COMMANDS))
        .map(|(first, last)| (*first, *last))
        .find(|(first, last)| {
            let within = last.invoked - first.invoked;
            // A stall between a command and its record makes two commands look closer.
            let stalls = history.stalls.iter();
            let stalled: u64 = if within < CERTAIN_NS {
                stalls
                    .filter(|stall| {
                        stall.span.from <= last.invoked && first.invoked <= stall.span.to
                    })
                    .map(|stall| stall.span.len())
                    .fold(0, u64::saturating_add)
            } else {
                0
            };
            within < CERTAIN_NS.saturating_sub(stalled)
        })
}

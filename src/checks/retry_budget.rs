//! `retry_budget`: a waiter sends at most three commands in any one second.
//!
//! Counted where the worker records them, just before they leave: its attempts. The release that
//! gives back what an attempt may have taken is not counted: it must not wait for a budget.
//! Recorded times jitter, so a second counts as broken only if four fall into nine tenths of it.

use super::say::{count, secs};
use super::{Check, Finding};
use crate::timeline::event::Call;
use crate::timeline::history::{History, NEVER, Operation};
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
        let mut stalled = None;
        for (worker, waits) in waits {
            let Some(sent) = sent.get(&worker) else {
                continue;
            };
            for wait in waits {
                let during = during(wait, sent);
                most = most.max(during.len());
                for (first, last) in too_fast(during) {
                    if last.invoked - first.invoked < certain(history, (first, last)) {
                        return self.violated(history, first, last);
                    }
                    stalled.get_or_insert((first, last));
                }
            }
        }
        if let Some((first, last)) = stalled {
            let why = format!(
                "{}; but the host stalled in that time",
                told(history, first, last)
            );
            return Finding::unknown(self, why).resting_on([first.seq, last.seq]);
        }
        if most == 0 {
            return Finding::vacuous(self, "nobody waited for the lock");
        }
        let why = format!(
            "{} in one wait at most, never four in a second",
            count(most, "command")
        );
        Finding::holds(self, why)
    }
}

impl RetryBudget {
    fn violated(&self, history: &History, first: &Operation, last: &Operation) -> Finding {
        Finding::violated(self, told(history, first, last))
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

/// The commands of one wait, by invoke.
fn during<'s, 'a>(wait: &Operation, sent: &'s [&'a Operation]) -> &'s [&'a Operation] {
    let until = wait.returned.as_ref().map_or(NEVER, |returned| returned.at);
    let from = sent.partition_point(|command| command.invoked < wait.invoked);
    let to = sent.partition_point(|command| command.invoked <= until);
    sent.get(from..to).unwrap_or_default()
}

/// The first and last of each four commands that came too fast.
fn too_fast<'a>(sent: &[&'a Operation]) -> impl Iterator<Item = (&'a Operation, &'a Operation)> {
    sent.iter()
        .zip(sent.iter().skip(COMMANDS))
        .map(|(first, last)| (*first, *last))
        .filter(|(first, last)| last.invoked - first.invoked < CERTAIN_NS)
}

/// What of a second certainly was one: a stall between a command and its record makes two commands
/// look closer, ns.
fn certain(history: &History, (first, last): (&Operation, &Operation)) -> u64 {
    let stalls = history.stalls.iter();
    let stalled = stalls
        .filter(|stall| stall.span.from <= last.invoked && first.invoked <= stall.span.to)
        .map(|stall| stall.span.len())
        .fold(0, u64::saturating_add);
    CERTAIN_NS.saturating_sub(stalled)
}

fn told(history: &History, first: &Operation, last: &Operation) -> String {
    format!(
        "{} sent {} commands within {} from {}, while it waited",
        history.worker_name(first.worker),
        COMMANDS + 1,
        secs(last.invoked - first.invoked),
        secs(first.invoked)
    )
}

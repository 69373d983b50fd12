//! The seven signals that an operator of a lock watches, and where to look first when one is off:
//! acquisitions and waits, holds, renewals, retries, time at work, stale writes, state of the lock
//! service; and what stayed unknown. Numbers of one run: they describe it and bound nothing.

use super::counts::{Counts, counts};
use super::words::{count, span};
use crate::timeline::event::{Answer, Call};
use crate::timeline::history::{History, Operation};
use std::collections::BTreeMap;

/// One signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// What it is.
    pub name: &'static str,
    /// What it was.
    pub value: String,
    /// Where to look first if it is not as it should be.
    pub look_first: &'static str,
}

/// All seven, in a fixed order, then what was left unknown.
pub fn of(history: &History) -> Vec<Signal> {
    let counts = counts(history);
    let signal = |name, value, look_first| Signal {
        name,
        value,
        look_first,
    };
    let waited = spread(&waits(history), "wait");
    vec![
        signal(
            "acquisitions and waits",
            format!("{}; waits: {waited}", outcomes(&counts.attempts)),
            "how much one key covers, a backlog of work, a holder that hangs",
        ),
        signal(
            "time held",
            spread(&holds(history), "grant"),
            "slow tails of the work, pauses of the runtime, slow services behind it",
        ),
        signal(
            "renewals",
            renewals(history),
            "the lock server's latency, the network, starved threads",
        ),
        signal(
            "attempts an acquisition",
            format!("{}; waiters {}", retries(&counts), waiters(history)),
            "backoff and jitter, the deadline of the request",
        ),
        signal(
            "time at work",
            spread(&super::nearness::work_times(history), "finished work"),
            "the slow tail (p95, p99), outside services, then the lease",
        ),
        signal(
            "stale writes",
            outcomes(&counts.stale),
            "stopped processes, cut networks, a lease that is too short",
        ),
        signal(
            "state of the lock service",
            format!(
                "{} of a server; losses told: {}",
                count(counts.server_exits, "end"),
                losses(history)
            ),
            "replication lag, elections, nodes and clocks",
        ),
        signal(
            "unknown outcomes",
            unknown(history),
            "what a caller does with a timeout: it must not take it for a no",
        ),
    ]
}

fn outcomes(of: &[(&'static str, usize)]) -> String {
    let told: Vec<String> = of.iter().map(|(name, n)| format!("{n} {name}")).collect();
    told.join(", ")
}

fn retries(counts: &Counts) -> String {
    let all: usize = counts.attempts.iter().map(|(_, n)| n).sum();
    let granted = counts.attempts.first().map_or(0, |(_, n)| *n);
    format!("{} for {}", count(all, "command"), count(granted, "grant"))
}

fn took(operation: &Operation) -> Option<u64> {
    let back = operation.returned.as_ref()?;
    Some(back.at.saturating_sub(operation.invoked))
}

/// How long each successful acquire or enter step took, ns.
pub fn waits(history: &History) -> Vec<u64> {
    let steps = history.operations.iter().filter(|operation| {
        matches!(operation.call, Call::Acquire | Call::Enter { .. })
            && matches!(operation.answer(), Some(Answer::Granted { .. }))
    });
    steps.filter_map(took).collect()
}

/// How long each renewal that worked took, ns.
pub fn renewal_times(history: &History) -> Vec<u64> {
    let renewals = history.operations.iter().filter(|operation| {
        matches!(operation.call, Call::Renew { .. })
            && matches!(operation.answer(), Some(Answer::Renewed))
    });
    renewals.filter_map(took).collect()
}

/// How long the server certainly named each holder, ns.
pub fn holds(history: &History) -> Vec<u64> {
    let certain = history.grants.iter().filter_map(|grant| grant.definite);
    certain
        .map(|definite| {
            definite
                .to
                .min(history.last_at)
                .saturating_sub(definite.from)
        })
        .collect()
}

fn renewals(history: &History) -> String {
    let sent = history
        .operations
        .iter()
        .filter(|operation| matches!(operation.call, Call::Renew { .. }))
        .count();
    let times = renewal_times(history);
    if times.is_empty() {
        return match sent {
            0 => "none sent".to_owned(),
            _ => format!("{sent} sent, none worked"),
        };
    }
    format!(
        "{} of {sent} worked, each took: {}",
        times.len(),
        spread(&times, "renewal")
    )
}

fn losses(history: &History) -> String {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for loss in &history.losses {
        *reasons.entry(&loss.reason).or_default() += 1;
    }
    if reasons.is_empty() {
        return "none told".to_owned();
    }
    let told = reasons
        .iter()
        .map(|(reason, times)| format!("{times} × {reason}"));
    told.collect::<Vec<_>>().join("; ")
}

fn unknown(history: &History) -> String {
    match counts(history).unknown {
        0 => "none".to_owned(),
        n => count(n, "operation"),
    }
}

fn waiters(history: &History) -> String {
    let mut edges: Vec<(u64, i64)> = Vec::new();
    for operation in &history.operations {
        if matches!(operation.call, Call::Enter { .. }) {
            edges.push((operation.invoked, 1));
            edges.extend(operation.returned.as_ref().map(|back| (back.at, -1)));
        }
    }
    edges.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, step) in edges {
        now += step;
        most = most.max(now);
    }
    format!("at most {most}")
}

/// Median and largest of so many of these.
fn spread(values: &[u64], noun: &str) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    match sorted.as_slice() {
        [] => "none".to_owned(),
        [one] => span(*one),
        many => format!(
            "median {}, longest {}, of {}",
            span(many[(many.len() - 1) / 2]),
            span(many[many.len() - 1]),
            count(many.len(), noun)
        ),
    }
}

//! The seven signals that an operator of a lock watches: acquisitions, waits, holds, renewals,
//! losses, unknown outcomes, waiters. Numbers of one run: they describe it and bound nothing.

use super::words::{count, span};
use crate::timeline::event::{Answer, Call, Outcome};
use crate::timeline::history::{History, Operation};
use std::collections::BTreeMap;

/// One signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// What it is.
    pub name: &'static str,
    /// What it was.
    pub value: String,
}

/// All seven, in a fixed order.
pub fn of(history: &History) -> Vec<Signal> {
    let signal = |name, value| Signal { name, value };
    vec![
        signal("acquire commands", acquires(history)),
        signal("wait for the lock", spread(&waits(history), "wait")),
        signal("time held", spread(&holds(history), "grant")),
        signal("renewals", renewals(history)),
        signal("losses by reason", losses(history)),
        signal("unknown outcomes", unknown(history)),
        signal("waiters at once", waiters(history)),
    ]
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

fn acquires(history: &History) -> String {
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
    format!("{granted} granted, {busy} busy, {other} other")
}

fn holds(history: &History) -> Vec<u64> {
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
    let open = history.operations.iter().filter(|operation| {
        operation
            .returned
            .as_ref()
            .is_none_or(|back| back.outcome == Outcome::Info)
    });
    let n = open.count();
    if n == 0 {
        "none".to_owned()
    } else {
        count(n, "operation")
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

//! What the signals say, in words.

use super::super::counts::Counts;
use super::super::measures::{renewal_times, spread};
use super::super::words::count;
use crate::timeline::event::Call;
use crate::timeline::history::History;
use std::collections::BTreeMap;

pub(super) fn ends(n: usize) -> String {
    match n {
        0 => "no server ended".to_owned(),
        1 => "a server ended once".to_owned(),
        n => format!("servers ended {n} times"),
    }
}

/// What was done to servers, whether or not one ended of it.
pub(super) fn done(to: &[(String, String, usize)]) -> String {
    let told = to.iter().map(|(kind, server, times)| match times {
        1 => format!("{kind} of {server}"),
        n => format!("{n} × {kind} of {server}"),
    });
    match told.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => none,
        told => format!("; done by the drill: {told}"),
    }
}

/// Who was granted the lock without being told.
pub(super) fn unheard(counts: &Counts) -> String {
    match counts.unheard {
        0 => String::new(),
        1 => " (the server granted 1 of these; its worker never heard of it)".to_owned(),
        n => format!(" (the server granted {n} of these; their workers never heard of it)"),
    }
}

/// Writes, and reads where any came late.
pub(super) fn stale(counts: &Counts) -> String {
    let mut writes = outcomes(&counts.stale);
    if counts.late > 0 {
        writes = format!(
            "{writes}; accepted in legal order after the lease had ended: {}",
            counts.late
        );
    }
    let writes = match counts.late_reads.iter().map(|(_, n)| n).sum::<usize>() {
        0 => writes,
        _ => format!("{writes}; late reads: {}", outcomes(&counts.late_reads)),
    };
    match counts.tokenless.iter().map(|(_, n)| n).sum::<usize>() {
        0 => writes,
        _ => format!(
            "{writes}; writes without a fencing token: {}",
            outcomes(&counts.tokenless)
        ),
    }
}

pub(super) fn outcomes(of: &[(&'static str, usize)]) -> String {
    let word = |name: &'static str| match name {
        "other" => "failed or without an answer",
        name => name,
    };
    let told = of.iter().map(|(name, n)| format!("{n} {}", word(name)));
    let told: Vec<String> = told.collect();
    told.join(", ")
}

pub(super) fn retries(counts: &Counts) -> String {
    let all: usize = counts.attempts.iter().map(|(_, n)| n).sum();
    let granted = counts.attempts.first().map_or(0, |(_, n)| *n) + counts.unheard;
    let unheard = match counts.unheard {
        0 => String::new(),
        n => format!(" (of {n} of them the worker never heard)"),
    };
    let (all, granted) = (count(all, "command"), count(granted, "grant"));
    format!("{all} for {granted}{unheard}")
}

pub(super) fn renewals(history: &History) -> String {
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

pub(super) fn losses(history: &History) -> String {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for loss in &history.losses {
        *reasons.entry(&loss.reason).or_default() += 1;
    }
    if reasons.is_empty() {
        return "nobody was told that its lock is lost".to_owned();
    }
    let told = reasons
        .iter()
        .map(|(reason, times)| format!("{times} × {reason}"));
    format!("losses told: {}", told.collect::<Vec<_>>().join("; "))
}

pub(super) fn unknown(counts: &Counts) -> String {
    match counts.unknown {
        0 => "none".to_owned(),
        n => count(n, "operation"),
    }
}

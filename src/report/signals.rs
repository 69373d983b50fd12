//! The seven signals that an operator of a lock watches, and where to look first when one is off:
//! acquisitions and waits, holds, renewals, retries, time at work, stale writes, state of the lock
//! service; and beside them what stayed unknown. Numbers of one run: they describe it and bound nothing.

use super::counts::{Counts, counts};
use super::measures::{holds, lives, renewal_times, spread, tries, waiters, waits, work_times};
use super::nearness;
use super::shape::{Shape, Tone};
use super::words::count;
use crate::timeline::event::Call;
use crate::timeline::history::{History, ms};
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
    /// What it looks like, row by row; nothing if there is nothing to show.
    pub shapes: Vec<Shape>,
}

/// Where to look first if a signal is not as it should be.
pub mod look_first {
    /// Few acquisitions, or long waits.
    pub const ACQUISITIONS: &str =
        "how much one key covers, a backlog of work, a holder that hangs";
    /// The lock is held long.
    pub const HOLD: &str = "slow tails of the work, pauses of the runtime, slow services behind it";
    /// Renewals fail, or are slow.
    pub const RENEWALS: &str = "the lock server's latency, the network, starved threads";
    /// An acquisition takes many commands.
    pub const ATTEMPTS: &str = "backoff and jitter, the deadline of the request";
    /// The work takes much of the lease.
    pub const WORK: &str = "the slow tail (p95, p99), outside services, then the lease";
    /// Stale writes.
    pub const STALE: &str = "stopped processes, cut networks, a lease that is too short";
    /// The lock service ends, or loses locks.
    pub const SERVICE: &str = "replication lag, elections, nodes and clocks";
}

/// All seven, in a fixed order, then what was left unknown.
pub fn of(history: &History) -> Vec<Signal> {
    let counts = counts(history);
    let (waited, held) = (waits(history), holds(history));
    let lease = Some(ms(history.plan.lock.lease_ms));
    let mut all = vec![
        signal(
            "acquisitions and waits",
            format!(
                "{}; waits: {}",
                outcomes(&counts.attempts),
                spread(&waited, "wait")
            ),
            look_first::ACQUISITIONS,
            vec![
                parts(&counts.attempts, &[Tone::Good, Tone::Plain, Tone::Doubt]),
                Shape::times("waits", waited, None),
            ],
        ),
        signal(
            "time held",
            spread(&held, "grant"),
            look_first::HOLD,
            vec![Shape::times("held", held, lease)],
        ),
        signal(
            "renewals",
            renewals(history),
            look_first::RENEWALS,
            vec![
                parts(&counts.renewals, &[Tone::Good, Tone::Doubt]),
                Shape::times("answered after", renewal_times(history), None),
            ],
        ),
        signal(
            "attempts an acquisition",
            format!("{}; waiters {}", retries(&counts), waiters(history)),
            look_first::ATTEMPTS,
            vec![Shape::parts(tries(history))],
        ),
    ];
    all.extend(of_the_work(history, &counts));
    all
}

/// The rest of the seven: what became of the work, and of the lock service.
fn of_the_work(history: &History, counts: &Counts) -> Vec<Signal> {
    let work = work_times(history);
    let lease = Some(ms(history.plan.lock.lease_ms));
    vec![
        signal(
            "time at work",
            nearness::told(&work, &history.plan),
            look_first::WORK,
            vec![Shape::times("work", work, lease)],
        ),
        signal(
            "stale writes",
            stale(counts),
            look_first::STALE,
            vec![parts(&counts.stale, &[Tone::Doubt, Tone::Bad])],
        ),
        signal(
            "state of the lock service",
            format!(
                "{} while the drill ran; {}",
                ends(counts.server_exits),
                losses(history)
            ),
            look_first::SERVICE,
            lives(history),
        ),
        signal(
            "unknown outcomes",
            unknown(counts),
            "what a caller does with a timeout: it must not take it for a no",
            Vec::new(),
        ),
    ]
}

fn signal(
    name: &'static str,
    value: String,
    look_first: &'static str,
    shapes: Vec<Option<Shape>>,
) -> Signal {
    Signal {
        name,
        value,
        look_first,
        shapes: shapes.into_iter().flatten().collect(),
    }
}

fn parts(of: &[(&'static str, usize)], tones: &[Tone]) -> Option<Shape> {
    let toned = of.iter().zip(tones);
    Shape::parts(toned.map(|((name, n), tone)| ((*name).to_owned(), *n, *tone)))
}

fn ends(n: usize) -> String {
    match n {
        0 => "no server ended".to_owned(),
        1 => "a server ended once".to_owned(),
        n => format!("servers ended {n} times"),
    }
}

/// Writes, and reads where any came late.
fn stale(counts: &Counts) -> String {
    let mut writes = outcomes(&counts.stale);
    if counts.late > 0 {
        writes = format!(
            "{writes}; accepted in legal order after the lease had ended: {}",
            counts.late
        );
    }
    match counts.late_reads.iter().map(|(_, n)| n).sum::<usize>() {
        0 => writes,
        _ => format!("{writes}; late reads: {}", outcomes(&counts.late_reads)),
    }
}

fn outcomes(of: &[(&'static str, usize)]) -> String {
    let word = |name: &'static str| match name {
        "other" => "failed or without an answer",
        name => name,
    };
    let told = of.iter().map(|(name, n)| format!("{n} {}", word(name)));
    let told: Vec<String> = told.collect();
    told.join(", ")
}

fn retries(counts: &Counts) -> String {
    let all: usize = counts.attempts.iter().map(|(_, n)| n).sum();
    let granted = counts.attempts.first().map_or(0, |(_, n)| *n);
    format!("{} for {}", count(all, "command"), count(granted, "grant"))
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
        return "nobody was told that its lock is lost".to_owned();
    }
    let told = reasons
        .iter()
        .map(|(reason, times)| format!("{times} × {reason}"));
    format!("losses told: {}", told.collect::<Vec<_>>().join("; "))
}

fn unknown(counts: &Counts) -> String {
    match counts.unknown {
        0 => "none".to_owned(),
        n => count(n, "operation"),
    }
}

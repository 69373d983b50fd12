//! The seven signals that an operator of a lock watches, and where to look first when one is off:
//! acquisitions and waits, holds, renewals, retries, time at work, stale writes, state of the lock
//! service; and beside them what stayed unknown. Numbers of one run: they describe it and bound nothing.

use super::counts::{Counts, counts};
use super::holds;
use super::measures::{lives, renewal_times, spread, tries, waiters, waits, work_times};
use super::nearness;
use super::scene::Scene;
use super::shape::{Shape, Tone};
use crate::timeline::history::{History, ms};
use said::{done, ends, losses, outcomes, renewals, retries, stale, unheard, unknown};

mod said;

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
pub fn of(history: &History, scene: &Scene) -> Vec<Signal> {
    let counts = counts(history, scene);
    let (waited, held) = (waits(history), holds::holds(scene));
    let lease = Some(ms(history.plan.lock.lease_ms));
    let mut all = vec![
        signal(
            "acquisitions and waits",
            format!(
                "{}{}; waits: {}",
                outcomes(&counts.attempts),
                unheard(&counts),
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
            holds::told(&held),
            look_first::HOLD,
            vec![
                Shape::times("held", holds::ended(&held), lease),
                Shape::times("held so far", holds::open(&held), lease),
            ],
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
                "{} while the drill ran{}; {}",
                ends(counts.server_exits),
                done(&counts.done_to_servers),
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

//! `recovers`: after the holder's death or the last heal, a lock that nobody alive holds reaches a
//! runnable contender within granted lease + stated bound.
//!
//! Bounds are asked of runnable time only: while a contender is stopped nothing is owed to it. A
//! lock that a live worker holds, or may hold, is not owed to anybody. A dead holder's lease is
//! part of the bound. Where a quorum decides, a fault that leaves a quorum alone takes the lock from
//! nobody: it need not be healed first. Nor need what was done to one worker that has died since.

use super::say::{count, secs};
use super::{Check, Finding};
use crate::timeline::event::Call;
use crate::timeline::history::time::joined;
use crate::timeline::history::{FaultWindow, Grant, History, NEVER, Operation, Span, ms};

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct Recovers;

impl Check for Recovers {
    fn name(&self) -> &'static str {
        "recovers"
    }

    fn claim(&self) -> &'static str {
        "after the holder's death or the last heal, a free lock reaches a waiting contender within \
         the granted lease and the stated bound"
    }

    fn judge(&self, history: &History) -> Finding {
        let Some(since) = owed_since(history) else {
            return Finding::vacuous(self, "no holder died and no fault was healed");
        };
        let bound = ms(history.plan.lock.lease_ms)
            .saturating_add(ms(history.plan.recovery_bound_ms))
            .saturating_add(history.epsilon_ns);
        let taken = taken(history);
        let mut waited = 0;
        let mut longest: Option<Span> = None;
        for operation in &history.operations {
            if !matches!(operation.call, Call::Enter { .. }) {
                continue;
            }
            let Some(wait) = Span::new(
                operation.invoked.max(since),
                operation
                    .returned
                    .as_ref()
                    .map_or(history.last_at, |r| r.at),
            ) else {
                continue;
            };
            waited += 1;
            for idle in owed(history, operation, wait, &taken) {
                if longest.is_none_or(|longest| longest.len() < idle.len()) {
                    longest = Some(idle);
                }
                if idle.len() > bound {
                    return self.overdue(history, operation, (idle, bound));
                }
            }
        }
        if waited == 0 {
            let why = format!("nobody waited for the lock after {}", secs(since));
            return Finding::vacuous(self, why);
        }
        let why = format!(
            "{} after {}; {} (bound {})",
            count(waited, "wait"),
            secs(since),
            told(history, longest),
            secs(bound)
        );
        Finding::holds(self, why)
    }
}

impl Recovers {
    fn overdue(
        &self,
        history: &History,
        waiter: &Operation,
        (idle, bound): (Span, u64),
    ) -> Finding {
        if let Some(unseen) = Finding::unseen(self, history) {
            return unseen.resting_on(waiter.seqs());
        }
        let name = history.worker_name(waiter.worker);
        let stalled = history.stalled_in(idle);
        let why = format!(
            "{name} waited from {} to {}, {} longer than the bound of {}, for a lock that nobody \
             alive held",
            secs(idle.from),
            secs(idle.to),
            secs(idle.len() - bound),
            secs(bound)
        );
        if stalled >= idle.len() - bound {
            let why = format!(
                "{why}; but the host stalled for {} in that time",
                secs(stalled)
            );
            let stalls = history
                .stalls
                .iter()
                .filter(|stall| stall.span.overlap(idle) > 0);
            return Finding::unknown(self, why)
                .resting_on(waiter.seqs())
                .resting_on(stalls.map(|stall| stall.seq).take(20));
        }
        Finding::violated(self, why)
            .resting_on(waiter.seqs())
            .witnessed_by(history, [waiter.worker])
    }
}

/// From when on a free lock is owed to contenders: the last heal (what was done to a server once
/// and for all is over when it is done, and so is what leaves a quorum alone; what was done to one
/// worker is over when that is gone) or, if there is none, the first death of a holder.
pub fn owed_since(history: &History) -> Option<u64> {
    let mut ends = Vec::new();
    for window in &history.faults {
        let of_server = window.server.is_some();
        if of_server && (!window.lasts || leaves_a_quorum(history, window)) {
            ends.extend(window.onsets.iter().map(|onset| onset.effective));
        } else {
            let heals = window.heals.iter();
            let healed = heals.map(|heal| heal.removed.unwrap_or(heal.began));
            let gone = outlived(history, window).unwrap_or(NEVER);
            ends.extend(healed.map(|healed| healed.min(gone)));
        }
    }
    let healed = ends.into_iter().max();
    let deaths = history.grants.iter().filter_map(|grant| {
        let died = died(history, grant)?;
        grant
            .definite
            .is_some_and(|span| span.contains(died))
            .then_some(died)
    });
    healed.or(deaths.min())
}

/// When the worker was gone that a fault hit, if it was the only one.
fn outlived(history: &History, fault: &FaultWindow) -> Option<u64> {
    let worker = history.workers.get(fault.worker?)?;
    worker.gone(fault.onsets.first()?.began)
}

/// With all that was done to servers while it lasted, enough of them are left to decide.
fn leaves_a_quorum(history: &History, fault: &FaultWindow) -> bool {
    let lock = &history.plan.lock;
    let voters = usize::try_from(lock.voters).unwrap_or(usize::MAX);
    let span = lasted(fault);
    let mut hit: Vec<&String> = history
        .faults
        .iter()
        .filter(|other| lasted(other).from <= span.to && span.from <= lasted(other).to)
        .filter_map(|other| other.server.as_ref())
        .collect();
    hit.sort_unstable();
    hit.dedup();
    hit.len() + lock.quorum() <= voters
}

/// From its first onset to its heal; what has none may last for ever.
fn lasted(fault: &FaultWindow) -> Span {
    let from = fault.onsets.first().map_or(NEVER, |onset| onset.began);
    let heal = fault.heals.last().and_then(|heal| heal.removed);
    Span {
        from,
        to: heal.unwrap_or(NEVER),
    }
}

/// When the process that was granted the lock was gone, if it was killed.
fn died(history: &History, grant: &Grant) -> Option<u64> {
    let worker = history.workers.get(grant.worker?)?;
    worker.gone(grant.granted.latest)
}

/// When somebody alive held the lock, or may have.
fn taken(history: &History) -> Vec<Span> {
    let spans = history.grants.iter().filter_map(|grant| {
        let gone = died(history, grant).unwrap_or(NEVER);
        let until = if grant.doubt.is_some() {
            NEVER
        } else {
            grant.possible.to
        };
        Span::new(grant.possible.from, until.min(gone))
    });
    joined(spans.collect())
}

/// The longest wait for a lock that nobody alive held: how long a dead holder's lease still ran,
/// and how long the lock was free.
fn told(history: &History, longest: Option<Span>) -> String {
    let Some(longest) = longest else {
        return "no runnable contender waited for a lock that nobody alive held".to_owned();
    };
    let wait = format!(
        "a runnable contender waited {} at most for a lock that nobody alive held",
        secs(longest.len())
    );
    match bequeathed(history, longest) {
        0 => wait,
        dead => format!(
            "{wait}: {} until the lease of its dead holder had ended, and {} while the lock was free",
            secs(dead),
            secs(longest.len().saturating_sub(dead))
        ),
    }
}

/// How much of a span lies in the lease of a holder that had died, ns.
fn bequeathed(history: &History, span: Span) -> u64 {
    let leases = history.grants.iter().filter_map(|grant| {
        let died = died(history, grant)?;
        Span::new(died, grant.possible.to)
    });
    let leases = joined(leases.collect());
    leases.iter().map(|lease| lease.overlap(span)).sum()
}

/// The parts of a wait in which the lock was free and the waiter could run, stopped time cut out:
/// what lies between two times at which the lock was taken counts as one.
fn owed(history: &History, waiter: &Operation, wait: Span, taken: &[Span]) -> Vec<Span> {
    let first = taken.partition_point(|span| span.to <= wait.from);
    let mut idle = Vec::new();
    let mut from = wait.from;
    for span in &taken[first..] {
        if span.from >= wait.to {
            break;
        }
        idle.extend(Span::new(from, span.from));
        from = from.max(span.to);
    }
    idle.extend(Span::new(from, wait.to));
    let stopped = &history.workers[waiter.worker].stopped;
    idle.into_iter()
        .filter_map(|span| {
            let cut: u64 = stopped.iter().map(|stop| stop.overlap(span)).sum();
            Span::new(span.from.saturating_add(cut), span.to)
        })
        .collect()
}

//! `no_false_loss`: a holder is not told Lost while the server still holds the lock for it and the
//! deadline is further away than the stated margin.
//!
//! The margin is what the lock takes off its own deadline for drifting clocks: one per cent of the
//! lease and two milliseconds. The lock counts from its own look at the clock, which comes before
//! the line that says that the request is sent. What passed between the two is not on the record,
//! so a loss that is early by no more than the host, or a stop of the process, may have held up
//! that line proves nothing.

use super::honest_belief::knowledge;
use super::say::secs;
use super::{Check, Finding};
use crate::ids::GrantId;
use crate::lock::own_deadline_ns;
use crate::timeline::history::{Grant, History, KeyEnd, Loss, NEVER, Span, ms};
use foldhash::HashSet;

/// The host may have kept a process from running for so long, and no stall is on the record: whoever
/// watches looks every 5 ms and tells what is more than 10 ms late, ns.
const UNRECORDED_STALL: u64 = ms(15);

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct NoFalseLoss;

impl Check for NoFalseLoss {
    fn name(&self) -> &'static str {
        "no_false_loss"
    }

    fn claim(&self) -> &'static str {
        "nobody is told before its own deadline that the lock is lost while the server still holds it \
         for it"
    }

    fn judge(&self, history: &History) -> Finding {
        if history.losses.is_empty() {
            return Finding::vacuous(self, "nobody was told that the lock is lost");
        }
        let lost: HashSet<&GrantId> = history.losses.iter().map(|loss| &loss.grant).collect();
        let known = knowledge(history, |grant| lost.contains(grant));
        let mut perhaps = None;
        let mut unsure = None;
        for loss in &history.losses {
            let (Some(grant), Some(known)) =
                (history.grant_of(&loss.grant), known.get(&loss.grant))
            else {
                continue;
            };
            let Some(sent) = known.sent_by(loss.at) else {
                continue;
            };
            let deadline = sent.saturating_add(ms(grant.lease_ms));
            let in_time = deadline.saturating_sub(margin(history, grant));
            if loss.at >= in_time {
                continue;
            }
            let early = in_time - loss.at;
            let held = held_until(history, grant);
            if held.is_some_and(|span| span.contains(loss.at)) {
                if early <= held_up(history, loss.worker, (sent, early)) {
                    unsure.get_or_insert((grant, loss, early));
                    continue;
                }
                let deadline = own_deadline_ns(sent, grant.lease_ms);
                return self.violated(history, (grant, loss), deadline);
            }
            if taken_by(grant) > loss.at.saturating_add(history.epsilon_ns) {
                perhaps.get_or_insert((grant, loss));
            }
        }
        if let Some(unseen) = Finding::unseen(self, history) {
            return unseen;
        }
        if let Some(unsure) = unsure {
            return self.unsure(history, unsure);
        }
        if let Some((grant, loss)) = perhaps {
            let why = format!(
                "{} was told at {} that its lock is lost, and it cannot be told whether its key \
                 was gone by then",
                history.worker_name(loss.worker),
                secs(loss.at)
            );
            let events = [loss.seq, grant.seq].into_iter().chain(grant.end_seq());
            return Finding::unknown(self, why).resting_on(events);
        }
        let why = format!(
            "losses told: {}, none before its holder's own deadline while the server still held the \
             lock for it",
            history.losses.len()
        );
        Finding::holds(self, why)
    }
}

impl NoFalseLoss {
    fn violated(
        &self,
        history: &History,
        (grant, loss): (&Grant, &Loss),
        deadline: u64,
    ) -> Finding {
        let why = format!(
            "{} was told at {} that its lock is lost ({}), {} before its own deadline at {}, while \
             the server still held it for this grant",
            history.worker_name(loss.worker),
            secs(loss.at),
            loss.reason,
            secs(deadline.saturating_sub(loss.at)),
            secs(deadline)
        );
        Finding::violated(self, why)
            .resting_on([loss.seq, grant.seq])
            .witnessed_by(history, [loss.worker])
    }

    fn unsure(&self, history: &History, (grant, loss, early): (&Grant, &Loss, u64)) -> Finding {
        let why = format!(
            "{} was told at {} that its lock is lost while the server held it, {} earlier than its \
             own deadline allows as the record has it; but it counts from its own look at the clock, \
             which came before the line that says when it sent, and the record does not tell by how \
             much",
            history.worker_name(loss.worker),
            secs(loss.at),
            secs(early)
        );
        Finding::unknown(self, why).resting_on([loss.seq, grant.seq])
    }
}

/// How long the process may have been kept from running just before it said that it sends, so that
/// it had looked at its clock earlier, ns.
fn held_up(history: &History, worker: usize, (sent, early): (u64, u64)) -> u64 {
    let Some(before) = Span::new(sent.saturating_sub(early), sent) else {
        return 0;
    };
    let stopped = history.workers.get(worker).map(|worker| &worker.stopped);
    let stops = stopped.into_iter().flatten();
    let stopped: u64 = stops.map(|stop| stop.overlap(before)).sum();
    UNRECORDED_STALL
        .saturating_add(history.stalled_in(before))
        .saturating_add(stopped)
}

/// How near to its deadline a handle may say Lost, ns.
fn margin(history: &History, grant: &Grant) -> u64 {
    (ms(grant.lease_ms) / 100)
        .saturating_add(ms(2))
        .saturating_add(history.epsilon_ns)
}

/// When the server certainly held the key for this grant. Its own release is by the clock of the
/// one who was told; of what only the server's times tell, ε is taken off.
fn held_until(history: &History, grant: &Grant) -> Option<Span> {
    let taken = match &grant.end {
        KeyEnd::Taken { at, .. } => at.earliest,
        KeyEnd::Open | KeyEnd::Released { .. } | KeyEnd::Expired { .. } => NEVER,
    };
    let span = grant.definite?;
    let ended = taken.min(grant.lease_ends.earliest);
    let ended = ended.saturating_sub(history.epsilon_ns);
    Span::new(span.from, span.to.min(ended))
}

/// When the key of a grant had been taken from it at the latest; 0 = it never was.
fn taken_by(grant: &Grant) -> u64 {
    match &grant.end {
        KeyEnd::Taken { at, .. } => at.latest,
        KeyEnd::Open | KeyEnd::Released { .. } | KeyEnd::Expired { .. } => 0,
    }
}

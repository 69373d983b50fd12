//! `no_false_loss`: a holder is not told Lost while the server still holds the lock for it and the
//! deadline is further away than the stated margin.
//!
//! The margin is what the lock takes off its own deadline for drifting clocks: one per cent of the
//! lease and two milliseconds.

use super::honest_belief::knowledge;
use super::say::secs;
use super::{Check, Finding};
use crate::ids::GrantId;
use crate::timeline::history::{Grant, History, KeyEnd, Loss, NEVER, ms};
use foldhash::HashSet;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct NoFalseLoss;

impl Check for NoFalseLoss {
    fn name(&self) -> &'static str {
        "no_false_loss"
    }

    fn claim(&self) -> &'static str {
        "nobody is told that the lock is lost while the server still holds it for them"
    }

    fn judge(&self, history: &History) -> Finding {
        let lost: HashSet<&GrantId> = history.losses.iter().map(|loss| &loss.grant).collect();
        let known = knowledge(history, |grant| lost.contains(grant));
        for loss in &history.losses {
            let Some(grant) = history.grant_of(&loss.grant) else {
                continue;
            };
            let known = known.get(&loss.grant);
            let Some(sent) = known.and_then(|known| known.sent_by(loss.at)) else {
                continue;
            };
            let lease = ms(grant.lease_ms);
            let margin = (lease / 100)
                .saturating_add(ms(2))
                .saturating_add(history.epsilon_ns);
            let deadline = sent.saturating_add(lease);
            if held_at(history, grant, loss) && loss.at.saturating_add(margin) < deadline {
                let why = format!(
                    "{} was told at {} that its lock is lost ({}), {} before its deadline, while \
                     the server held it",
                    history.worker_name(loss.worker),
                    secs(loss.at),
                    loss.reason,
                    secs(deadline - loss.at)
                );
                return Finding::violated(self, why)
                    .resting_on([loss.seq, grant.seq])
                    .witnessed_by(history, [loss.worker]);
            }
        }
        match history.losses.len() {
            0 => Finding::vacuous(self, "nobody was told that the lock is lost"),
            n => Finding::holds(
                self,
                format!("losses told: {n}, none while the server held the lock"),
            ),
        }
    }
}

/// The server certainly held the key for this grant when the loss was told.
fn held_at(history: &History, grant: &Grant, loss: &Loss) -> bool {
    let taken = match &grant.end {
        KeyEnd::Taken { at, .. } => at.earliest,
        KeyEnd::Open | KeyEnd::Released { .. } | KeyEnd::Expired { .. } => NEVER,
    };
    grant.definite.is_some_and(|span| {
        span.from <= loss.at && loss.at.saturating_add(history.epsilon_ns) < span.to.min(taken)
    })
}

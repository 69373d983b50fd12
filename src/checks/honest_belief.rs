//! `honest_belief`: nobody claims to hold after its own honest deadline.
//!
//! What is judged is when the last command was *sent* that the server granted or renewed, plus the
//! whole granted lease: all that an honest claimant can know. What is told is how late that is by the
//! claimant's own deadline, which lies before it by the lock's margin for drifting clocks. A renewal that was told as done, and of
//! which the server's whole stream shows nothing, was none. A claim counts from when it was asked: a
//! process that is stopped inside the call is not a liar.

use super::outcome_honesty::void_renewals;
use super::say::{count, secs};
use super::{Check, Finding};
use crate::ids::GrantId;
use crate::lock::own_deadline_ns;
use crate::timeline::event::{Answer, Call};
use crate::timeline::history::{History, Operation, Told, ms};
use foldhash::HashMap;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct HonestBelief;

/// What a worker knows of one grant.
#[derive(Debug, Clone, Default)]
pub(super) struct Knowledge {
    lease_ms: Option<u64>,
    /// Each grant or renewal that was confirmed and that the server made, by answer.
    confirmed: Vec<Confirmed>,
    /// When an attempt was sent whose answer is not known.
    open: Option<u64>,
    /// When an `acquire` or `enter` said that it was granted, for locks that record no attempts.
    entered: Option<u64>,
}

/// A grant or renewal that was confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Confirmed {
    answered: u64,
    sent: u64,
    operation: usize,
    /// The latest sent of those answered by then, with its operation.
    best: (u64, usize),
}

impl Check for HonestBelief {
    fn name(&self) -> &'static str {
        "honest_belief"
    }

    fn claim(&self) -> &'static str {
        "nobody claims to hold the lock later than the lease of its last request that the server granted"
    }

    fn judge(&self, history: &History) -> Finding {
        let knowledge = knowledge(history, |_| true);
        let mut claims = 0;
        let mut asked = false;
        for (index, operation) in history.operations.iter().enumerate() {
            asked |= matches!(operation.call, Call::Check { .. } | Call::Renew { .. });
            let Some(grant) = claimed(operation) else {
                continue;
            };
            claims += 1;
            let known = knowledge.get(grant);
            let lease_ms = known.and_then(|known| known.lease_ms);
            let lease_ms = lease_ms.unwrap_or(history.plan.lock.lease_ms);
            let Some((sent, basis)) = known.and_then(|known| known.sent_before(index, operation))
            else {
                return self.groundless(history, operation);
            };
            let lease_ends = sent.saturating_add(ms(lease_ms));
            if operation.invoked > lease_ends.saturating_add(history.epsilon_ns) {
                let deadline = own_deadline_ns(sent, lease_ms);
                return self.late(history, operation, (deadline, basis));
            }
        }
        if !asked {
            return Finding::vacuous(
                self,
                "nobody was asked whether it holds, and nobody renewed: there was no claim that could \
                 have come too late",
            );
        }
        let claims = count(claims, "claim");
        let why = format!(
            "{claims} to hold, none later than the granted lease, counted from when the claimant had \
             sent the last request that was granted"
        );
        Finding::holds(self, why)
    }
}

impl HonestBelief {
    fn late(
        &self,
        history: &History,
        claim: &Operation,
        (deadline, basis): (u64, Option<usize>),
    ) -> Finding {
        let name = history.worker_name(claim.worker);
        let why = format!(
            "{name} said at {} that it holds, {} after its own deadline at {}",
            secs(claim.invoked),
            secs(claim.invoked.saturating_sub(deadline)),
            secs(deadline),
        );
        let basis = basis.map(|i| &history.operations[i]);
        Finding::violated(self, why)
            .resting_on(claim.seqs())
            .resting_on(basis.into_iter().flat_map(Operation::seqs))
            .witnessed_by(history, [claim.worker])
    }

    fn groundless(&self, history: &History, claim: &Operation) -> Finding {
        let name = history.worker_name(claim.worker);
        let why = format!(
            "{name} said at {} that it holds, but was never granted the lock",
            secs(claim.invoked)
        );
        Finding::violated(self, why)
            .resting_on(claim.seqs())
            .witnessed_by(history, [claim.worker])
    }
}

/// The grant that an operation's answer claims to hold.
fn claimed(operation: &Operation) -> Option<&GrantId> {
    if operation.told() != Told::Done {
        return None;
    }
    match (&operation.call, operation.answer()?) {
        (Call::Check { grant }, Answer::Locked { locked: true }) => grant.as_ref(),
        (Call::Acquire | Call::Enter { .. }, Answer::Granted { grant, .. }) => Some(grant),
        (Call::Renew { grant, .. }, Answer::Renewed) => Some(grant),
        _other => None,
    }
}

/// What the workers of those grants knew that are `wanted`, and since when.
pub(super) fn knowledge(
    history: &History,
    wanted: impl Fn(&GrantId) -> bool,
) -> HashMap<&GrantId, Knowledge> {
    let mut all: HashMap<&GrantId, Knowledge> = HashMap::default();
    let void = void_renewals(history);
    for (index, operation) in history.operations.iter().enumerate() {
        let told = operation.told();
        let (grant, lease_ms) = match (&operation.call, operation.answer()) {
            (Call::Attempt { grant, .. }, Some(Answer::Granted { lease_ms, .. }))
                if told == Told::Done =>
            {
                (grant, Some(*lease_ms))
            }
            (Call::Attempt { grant, .. }, _) if told == Told::Open && wanted(grant) => {
                let known = all.entry(grant).or_default();
                known.open = known.open.max(Some(operation.invoked));
                continue;
            }
            (Call::Renew { grant, .. }, Some(Answer::Renewed))
                if told == Told::Done && !void.contains(&index) =>
            {
                (grant, None)
            }
            (
                Call::Acquire | Call::Enter { .. },
                Some(Answer::Granted {
                    grant, lease_ms, ..
                }),
            ) if told == Told::Done && wanted(grant) => {
                let known = all.entry(grant).or_default();
                known.lease_ms.get_or_insert(*lease_ms);
                known.entered = known.entered.max(Some(operation.ended()));
                continue;
            }
            _other => continue,
        };
        if wanted(grant) {
            let known = all.entry(grant).or_default();
            known.lease_ms = lease_ms.or(known.lease_ms);
            known.confirm(operation, index);
        }
    }
    for known in all.values_mut() {
        known.settle();
    }
    all
}

impl Knowledge {
    fn confirm(&mut self, operation: &Operation, index: usize) {
        self.confirmed.push(Confirmed {
            answered: operation.ended(),
            sent: operation.invoked,
            operation: index,
            best: (operation.invoked, index),
        });
    }

    fn settle(&mut self) {
        self.confirmed.sort_unstable();
        let mut best: Option<(u64, usize)> = None;
        for one in &mut self.confirmed {
            best = best.filter(|(sent, _)| *sent >= one.sent);
            one.best = *best.get_or_insert(one.best);
        }
    }

    /// When the last request was sent that had been confirmed by a time, ns.
    pub(super) fn sent_by(&self, at: u64) -> Option<u64> {
        let known = self.confirmed.partition_point(|one| one.answered <= at);
        Some(self.confirmed[known.checked_sub(1)?].best.0)
    }

    /// When the last request was sent that had been confirmed when this claim was answered; the
    /// claim itself does not count.
    fn sent_before(&self, index: usize, claim: &Operation) -> Option<(u64, Option<usize>)> {
        let answered = claim.ended();
        let known = self
            .confirmed
            .partition_point(|one| one.answered <= answered);
        // Those answered in the same instant stand at the end, the claim perhaps among them.
        let itself = |one: &Confirmed| one.operation == index;
        let mut renewals = self.confirmed[..known].iter();
        let before = match &claim.call {
            Call::Renew { .. } => renewals.rposition(itself),
            _no_confirmation => None,
        };
        let after = &self.confirmed[before.map_or(known, |place| place + 1)..known];
        let others = after.iter().map(|one| (one.sent, one.operation));
        let earlier = before.unwrap_or(known).checked_sub(1);
        let latest = others
            .chain(earlier.map(|last| self.confirmed[last].best))
            .max();
        match latest {
            Some((sent, operation)) => Some((sent, Some(operation))),
            None => self.open.or(self.entered).map(|sent| (sent, None)),
        }
    }
}

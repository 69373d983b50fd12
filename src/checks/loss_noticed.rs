//! `loss_noticed`: a holder whose entitlement ends is told Lost, once, and in time.
//!
//! In time means: within the stated bound after the handle's own deadline, counted in runnable
//! time: a worker that was stopped cannot notice anything. A handle that was released, or whose
//! process ended, is told nothing.

use super::honest_belief::{Knowledge, knowledge};
use super::say::{count, secs};
use super::{Check, Finding};
use crate::ids::GrantId;
use crate::lock::own_deadline_ns;
use crate::timeline::event::{Answer, Call};
use crate::timeline::history::{Grant, History, Loss, NEVER, Operation, Span, ms};
use foldhash::{HashMap, HashSet};

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct LossNoticed;

impl Check for LossNoticed {
    fn name(&self) -> &'static str {
        "loss_noticed"
    }

    fn claim(&self) -> &'static str {
        "a holder whose lease ends is told that the lock is lost, once, within the stated bound of \
         runnable time after its own deadline"
    }

    fn judge(&self, history: &History) -> Finding {
        let mut told: HashMap<(usize, &GrantId), &Loss> = HashMap::default();
        for loss in &history.losses {
            if let Some(first) = told.insert((loss.worker, &loss.grant), loss) {
                return self.twice(history, first, loss);
            }
        }
        let open: HashSet<&GrantId> = history
            .grants
            .iter()
            .filter(|grant| may_be_owed(grant))
            .filter_map(|grant| grant.id.as_ref())
            .collect();
        let known = knowledge(history, |grant| open.contains(grant));
        let released = released(history, &open);
        let mut noticed = Vec::new();
        let mut not_due = Vec::new();
        let mut stalled = None;
        for grant in &history.grants {
            let Some(owed) = owed(history, grant, &known, &released) else {
                continue;
            };
            let id = grant.id.as_ref();
            let loss = id.and_then(|id| told.get(&(owed.worker, id))).copied();
            match late(history, owed, loss) {
                Some(late) if late.stalled => {
                    stalled.get_or_insert(late.finding(self, history, grant));
                }
                Some(late) => return late.finding(self, history, grant),
                None => match loss {
                    Some(loss) => noticed.push(loss.seq),
                    None => not_due.push(grant.seq),
                },
            }
        }
        if let Some(finding) = stalled {
            return finding;
        }
        let granted =
            |operation: &Operation| matches!(operation.answer(), Some(Answer::Granted { .. }));
        if history.operations.iter().any(granted)
            && let Some(unseen) = Finding::unseen(self, history)
        {
            return unseen;
        }
        if noticed.is_empty() && !not_due.is_empty() {
            let why = format!(
                "{} ended under a holder that was not told of it, and that gave the lock back, or was \
                 gone, before it had to be told",
                count(not_due.len(), "lease")
            );
            let events = not_due.into_iter().take(20);
            return Finding::vacuous(self, why).resting_on(events);
        }
        if noticed.is_empty() {
            return Finding::vacuous(self, "no lease ended under a holder that could be told");
        }
        let why = format!("{} noticed in time", count(noticed.len(), "lost lease"));
        Finding::holds(self, why).resting_on(noticed.into_iter().take(20))
    }
}

impl LossNoticed {
    fn twice(&self, history: &History, first: &Loss, second: &Loss) -> Finding {
        let why = format!(
            "{} was told twice that its lock is lost: at {} and {}",
            history.worker_name(second.worker),
            secs(first.at),
            secs(second.at)
        );
        Finding::violated(self, why)
            .resting_on([first.seq, second.seq])
            .witnessed_by(history, [second.worker])
    }
}

/// Whom the news was owed, after when, and until when it could have been told.
#[derive(Clone, Copy)]
struct Owed {
    worker: usize,
    /// End of the whole lease, counted from when the last request was sent that was granted: it is
    /// judged by this, ns.
    lease_ends: u64,
    /// The handle's own deadline, which lies before by the lock's margin: it is told by this, ns.
    deadline: u64,
    until: u64,
}

/// A loss that was told late or never.
struct Late<'a> {
    owed: Owed,
    /// Runnable time that passed after the handle's own deadline, ns.
    waited: u64,
    loss: Option<&'a Loss>,
    stalled: bool,
}

/// Neither in doubt nor ended by its own release.
fn may_be_owed(grant: &Grant) -> bool {
    grant.doubt.is_none() && grant.released().is_none()
}

/// When the own first release of each of these grants was asked for.
fn released<'a>(history: &'a History, of: &HashSet<&GrantId>) -> HashMap<&'a GrantId, u64> {
    let mut released = HashMap::default();
    for operation in &history.operations {
        if let Call::Release { grant } = &operation.call
            && of.contains(grant)
        {
            let first = released.entry(grant).or_insert(operation.invoked);
            *first = operation.invoked.min(*first);
        }
    }
    released
}

/// None if nobody was owed the news: the worker never knew of its grant, gave it back, was gone,
/// or the lease outlasts the record.
fn owed(
    history: &History,
    grant: &Grant,
    known: &HashMap<&GrantId, Knowledge>,
    released: &HashMap<&GrantId, u64>,
) -> Option<Owed> {
    if !may_be_owed(grant) {
        return None;
    }
    let (worker, id) = (grant.worker?, grant.id.as_ref()?);
    let knowledge = known.get(id)?;
    let ended = grant.lease_ends.latest;
    let sent = knowledge.sent_by(ended)?;
    let process = history.workers.get(worker)?;
    let gone = process.gone(grant.granted.latest).unwrap_or(NEVER);
    let given_back = released.get(id).copied().unwrap_or(NEVER);
    let until = gone.min(given_back).min(history.last_at);
    (ended < until).then_some(Owed {
        worker,
        lease_ends: sent.saturating_add(ms(grant.lease_ms)),
        deadline: own_deadline_ns(sent, grant.lease_ms),
        until,
    })
}

/// None if the loss was told in time, or there was no time for it.
fn late<'a>(history: &History, owed: Owed, loss: Option<&'a Loss>) -> Option<Late<'a>> {
    let bound = ms(history.plan.recovery_bound_ms).saturating_add(history.epsilon_ns);
    let told = loss.map_or(owed.until, |loss| loss.at);
    let window = Span::new(owed.lease_ends, told)?;
    let stopped = &history.workers[owed.worker].stopped;
    let runnable = |window: Span| {
        let cut: u64 = stopped.iter().map(|stop| stop.overlap(window)).sum();
        window.len().saturating_sub(cut)
    };
    let waited = runnable(window);
    (waited > bound).then(|| Late {
        owed,
        waited: Span::new(owed.deadline, told).map_or(waited, runnable),
        loss,
        stalled: history.stalled_in(window) >= waited - bound,
    })
}

impl Late<'_> {
    fn finding(&self, check: &LossNoticed, history: &History, grant: &Grant) -> Finding {
        let name = history.worker_name(self.owed.worker);
        let when = match self.loss {
            Some(loss) => format!("only told at {} that its lock is lost", secs(loss.at)),
            None => "never told that its lock is lost".to_owned(),
        };
        let why = format!(
            "{name} was {when}: {} in which it could run passed after its own deadline at {}",
            secs(self.waited),
            secs(self.owed.deadline)
        );
        let events = [grant.seq]
            .into_iter()
            .chain(self.loss.map(|loss| loss.seq));
        if self.stalled {
            let why = format!("{why}; but the host stalled in that time");
            return Finding::unknown(check, why).resting_on(events);
        }
        Finding::violated(check, why)
            .resting_on(events)
            .witnessed_by(history, [self.owed.worker])
    }
}

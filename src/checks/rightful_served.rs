//! `rightful_served`: the write of the only entitled holder is not refused.
//!
//! Only a writer who was certainly entitled, while nobody else can have been, was wronged. In
//! `once` mode the second write under one fencing token is refused by contract.

use super::say::{count, secs, who};
use super::{Check, Finding};
use crate::ids::GrantId;
use crate::timeline::event::{Answer, AttemptKind};
use crate::timeline::history::{Grant, History, StoreAttempt, Told};
use foldhash::HashSet;

mod crowd;
mod overtaken;
mod uncounted;

use crowd::Crowd;
use overtaken::Overtakers;
use uncounted::Uncounted;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct RightfulServed;

impl Check for RightfulServed {
    fn name(&self) -> &'static str {
        "rightful_served"
    }

    fn claim(&self) -> &'static str {
        "the store does not refuse a write of the only entitled holder"
    }

    fn judge(&self, history: &History) -> Finding {
        let crowd = Crowd::new(history);
        let mut served = Served::default();
        let mut uncounted = Uncounted::default();
        let mut refused = 0_usize;
        let mut wrote: HashSet<&GrantId> = HashSet::default();
        for write in &history.store {
            let grant = write.grant.as_ref().and_then(|id| history.grant_of(id));
            let alone = grant
                .filter(|grant| entitled(history, grant, write) && crowd.alone_at(write.applied));
            if alone.is_none() && write.accepted && write.kind == AttemptKind::Write {
                uncounted.add((history, &crowd), (write, grant));
            }
            let Some(id) = &write.grant else {
                continue;
            };
            let first = match write.kind {
                AttemptKind::Write if write.accepted => wrote.insert(id),
                AttemptKind::Write | AttemptKind::Seal | AttemptKind::Read => !wrote.contains(id),
            };
            refused += usize::from(!write.accepted);
            let Some(grant) = alone else {
                continue;
            };
            if write.accepted {
                served.add(write.kind);
            } else if !history.plan.store.once || first {
                return Finding::unseen(self, history)
                    .unwrap_or_else(|| self.violated(history, grant, write));
            }
        }
        if refused > 0
            && let Some(unseen) = Finding::unseen(self, history)
        {
            return unseen;
        }
        let rest = beside(history, &crowd) + &uncounted.told(history);
        match served.told() {
            None => {
                let why =
                    "no write was put to the store by who certainly was the only entitled holder";
                Finding::vacuous(self, why.to_owned() + &rest)
            }
            Some(told) => Finding::holds(
                self,
                format!("accepted writes of the only entitled holder: {told}, refused: none{rest}"),
            ),
        }
    }
}

/// What the store took of one who certainly was the only entitled holder.
#[derive(Debug, Default)]
struct Served {
    writes: usize,
    seals: usize,
    reads: usize,
}

impl Served {
    fn add(&mut self, kind: AttemptKind) {
        match kind {
            AttemptKind::Write => self.writes += 1,
            AttemptKind::Seal => self.seals += 1,
            AttemptKind::Read => self.reads += 1,
        }
    }

    /// `2 (and 1 read)`; none if there was nothing.
    fn told(&self) -> Option<String> {
        let others = [(self.seals, "seal"), (self.reads, "read")].into_iter();
        let others = others.filter(|(n, _)| *n > 0);
        let others: Vec<String> = others.map(|(n, what)| count(n, what)).collect();
        match (self.writes, others.as_slice()) {
            (0, []) => None,
            (writes, []) => Some(writes.to_string()),
            (writes, all) => Some(format!("{writes} (and {})", all.join(" and "))),
        }
    }
}

/// Refused writes of a holder that was entitled, but not it alone: no breach of this check, and
/// named, because the store refused one who had the lock all the same.
fn beside(history: &History, crowd: &Crowd) -> String {
    let refused = history.store.iter().filter(|write| {
        !write.accepted && write.kind == AttemptKind::Write && !crowd.alone_at(write.applied)
    });
    match rightful(history, refused).count() {
        0 => String::new(),
        n => format!(
            "; refused of one that was entitled, while another was as well, or may have been: {n}"
        ),
    }
}

impl RightfulServed {
    fn violated(&self, history: &History, grant: &Grant, write: &StoreAttempt) -> Finding {
        let why = format!(
            "the store refused {} at {} although its writer {} alone was entitled, until {}",
            write.write,
            secs(write.applied),
            who(history, grant),
            secs(grant.ended()),
        );
        Finding::violated(self, why)
            .resting_on([write.seq, grant.seq])
            .witnessed_by(history, write.worker)
    }
}

/// Of these refused writes, by index into the store's log, how many came from entitled writers, and
/// the words that say so: their fencing token was wrong, not they.
pub(super) fn apart(history: &History, refused: &[usize]) -> (usize, String) {
    let refused = refused.iter().map(|index| &history.store[*index]);
    match rightful(history, refused).count() {
        0 => (0, String::new()),
        n => (
            n,
            format!(", {n} refused for its fencing token although its writer was entitled"),
        ),
    }
}

/// Of these attempts those whose writer was certainly entitled and not overtaken, each with its
/// grant: where two are entitled, the older one's write is what a fence is there to refuse.
pub fn rightful<'h>(
    history: &'h History,
    attempts: impl IntoIterator<Item = &'h StoreAttempt>,
) -> impl Iterator<Item = (&'h StoreAttempt, &'h Grant)> {
    // Made only if it is needed: few refused writes come that far.
    let mut overtakers = None;
    attempts.into_iter().filter_map(move |attempt| {
        let grant = history.grant_of(attempt.grant.as_ref()?)?;
        if !entitled(history, grant, attempt) {
            return None;
        }
        let overtakers = overtakers.get_or_insert_with(|| Overtakers::new(&history.grants));
        let overtaken = overtakers.overtook(grant, attempt.applied)
            || overruled(history, grant, attempt.applied);
        (!overtaken).then_some((attempt, grant))
    })
}

/// What a server granted after another had taken over from it is older than what that one granted,
/// whenever it was. Rare, so it may read all grants.
fn overruled(history: &History, grant: &Grant, until: u64) -> bool {
    let newer = |next: &Grant| {
        next.key == grant.key && next.fencing > grant.fencing && next.granted.latest < until
    };
    history
        .replaced_by(&grant.server, grant.granted.earliest)
        .is_some()
        && history.grants.iter().any(newer)
}

/// The writer was certainly entitled, under the token that it was issued.
///
/// Where the workers' own order tells it, no server's clock is asked: who had been told its fencing
/// token before it began to write had been granted the lock by then, and what was answered before
/// the release was asked for came before it.
fn entitled(history: &History, grant: &Grant, write: &StoreAttempt) -> bool {
    let Some(span) = grant.definite.filter(|_| grant.fencing == write.fencing) else {
        return false;
    };
    let epsilon = history.epsilon_ns;
    let asked = write.operation.map(|i| &history.operations[i]);
    let told = asked.and_then(|asked| Some((asked.invoked, told_at(history, grant)?)));
    let begun = write.applied > span.from.saturating_add(epsilon)
        || told.is_some_and(|(asked, told)| told <= asked);
    let before = |end: u64| write.applied.saturating_add(epsilon) < end;
    let lease = grant.lease_ends.earliest;
    // Where it ends before the lease does, it ends with its own release, by the asker's own clock.
    let unreleased =
        before(span.to) || (span.to < lease && asked.is_some_and(|asked| asked.ended() <= span.to));
    begun && before(lease) && unreleased
}

/// Lab time at which the grant's attempt was answered with its fencing token, ns.
fn told_at(history: &History, grant: &Grant) -> Option<u64> {
    let attempt = history.operations.get(grant.attempt?)?;
    let Answer::Granted { fencing, .. } = attempt.answer()? else {
        return None;
    };
    let is_it = attempt.told() == Told::Done && fencing.is_some() && *fencing == grant.fencing;
    is_it.then_some(attempt.ended())
}

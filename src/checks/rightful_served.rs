//! `rightful_served`: the write of the only entitled holder is not refused.
//!
//! Only a writer who was certainly entitled, while nobody else can have been, was wronged. In
//! `once` mode the second write under one fencing token is refused by contract.

use super::say::{count, secs};
use super::{Check, Finding};
use crate::ids::GrantId;
use crate::timeline::event::AttemptKind;
use crate::timeline::history::{Grant, History, StoreAttempt};
use foldhash::{HashMap, HashSet};

mod overtaken;

use overtaken::Overtakers;

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
        let mut served = 0_usize;
        let mut seals = 0_usize;
        let mut reads = 0_usize;
        let mut refused = 0_usize;
        let mut accepted = 0_usize;
        let mut wrote: HashSet<&GrantId> = HashSet::default();
        for write in &history.store {
            accepted += usize::from(write.accepted && write.kind == AttemptKind::Write);
            let Some(id) = &write.grant else {
                continue;
            };
            let first = match write.kind {
                AttemptKind::Write if write.accepted => wrote.insert(id),
                AttemptKind::Write | AttemptKind::Seal | AttemptKind::Read => !wrote.contains(id),
            };
            refused += usize::from(!write.accepted);
            let Some(grant) = history.grant_of(id) else {
                continue;
            };
            if !entitled(history, grant, write) || !crowd.alone_at(write.applied) {
                continue;
            }
            if write.accepted {
                served += 1;
                seals += usize::from(write.kind == AttemptKind::Seal);
                reads += usize::from(write.kind == AttemptKind::Read);
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
        if served == 0 {
            let why = "no write was put to the store by who certainly was the only entitled holder";
            return Finding::vacuous(self, why.to_owned() + &rest(history, accepted));
        }
        let writes = served - seals - reads;
        let others = [(seals, "seal"), (reads, "read")].into_iter();
        let others = others.filter(|(n, _)| *n > 0);
        let others: Vec<String> = others.map(|(n, what)| count(n, what)).collect();
        let apart = match others.as_slice() {
            [] => String::new(),
            all => format!(" (and {})", all.join(" and ")),
        };
        let rest = beside(history, &crowd) + &rest(history, accepted.saturating_sub(writes));
        Finding::holds(
            self,
            format!(
                "accepted writes of the only entitled holder: {writes}{apart}, refused: none{rest}"
            ),
        )
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
        n => format!("; refused of one that was entitled at the same time as another: {n}"),
    }
}

/// Why accepted writes are not counted.
fn rest(history: &History, uncounted: usize) -> String {
    match uncounted {
        0 => String::new(),
        n => format!(
            "; accepted and not counted, because their writer was not certainly the only entitled one: {n} (a time of the server is known to within {} at best, and a release only between its request and when its effect was read)",
            secs(history.epsilon_ns)
        ),
    }
}

impl RightfulServed {
    fn violated(&self, history: &History, grant: &Grant, write: &StoreAttempt) -> Finding {
        let why = format!(
            "{} was refused at {} although its writer alone was entitled, until {}",
            write.write,
            secs(write.applied),
            secs(grant.definite.map_or(0, |span| span.to)),
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
    history.was_replaced(&grant.server, grant.granted.earliest) && history.grants.iter().any(newer)
}

/// The writer was certainly entitled, under the token that it was issued.
fn entitled(history: &History, grant: &Grant, write: &StoreAttempt) -> bool {
    let epsilon = history.epsilon_ns;
    grant.fencing == write.fencing
        && grant.definite.is_some_and(|span| {
            write.applied > span.from.saturating_add(epsilon)
                && write.applied.saturating_add(epsilon) < span.to
        })
}

/// How many grants may have been in force at a time.
struct Crowd {
    /// (from, how many from here on)
    depth: Vec<(u64, i64)>,
}

impl Crowd {
    fn new(history: &History) -> Self {
        let mut changes: HashMap<u64, i64> = HashMap::default();
        for grant in &history.grants {
            *changes.entry(grant.possible.from).or_default() += 1;
            *changes
                .entry(grant.possible.to.saturating_add(1))
                .or_default() -= 1;
        }
        let mut depth: Vec<(u64, i64)> = changes.into_iter().collect();
        depth.sort_unstable();
        let mut sum = 0;
        for (_, change) in &mut depth {
            sum += *change;
            *change = sum;
        }
        Crowd { depth }
    }

    fn alone_at(&self, at: u64) -> bool {
        let upto = self.depth.partition_point(|(from, _)| *from <= at);
        upto.checked_sub(1).is_some_and(|i| self.depth[i].1 == 1)
    }
}

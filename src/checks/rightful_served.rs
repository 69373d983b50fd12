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
            return Finding::vacuous(
                self,
                "no write was put to the store by a certain holder alone",
            );
        }
        let writes = served - seals - reads;
        let others = [(seals, "seal"), (reads, "read")].into_iter();
        let others = others.filter(|(n, _)| *n > 0);
        let others: Vec<String> = others.map(|(n, what)| count(n, what)).collect();
        let apart = match others.as_slice() {
            [] => String::new(),
            all => format!(" (and {})", all.join(" and ")),
        };
        let rest = rest(history, accepted.saturating_sub(writes));
        Finding::holds(
            self,
            format!(
                "accepted writes of the only entitled holder: {writes}{apart}, refused: none{rest}"
            ),
        )
    }
}

/// Why accepted writes are not counted.
fn rest(history: &History, uncounted: usize) -> String {
    match uncounted {
        0 => String::new(),
        n => format!(
            "; accepted and not counted, because their writer was not certainly the only entitled one: {n} (less than {} from a grant or its end is not certain)",
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
    let is_rightful = |index: &&usize| rightful(history, &history.store[**index]).is_some();
    match refused.iter().filter(is_rightful).count() {
        0 => (0, String::new()),
        n => (
            n,
            format!(", {n} refused for its fencing token although its writer was entitled"),
        ),
    }
}

/// The grant of a writer that was certainly entitled and not overtaken: where two are entitled, the
/// older one's write is what a fence is there to refuse. What a server granted after another had
/// taken over from it is older than what that one granted, whenever it was.
pub fn rightful<'h>(history: &'h History, write: &StoreAttempt) -> Option<&'h Grant> {
    let grant = history.grant_of(write.grant.as_ref()?)?;
    // Asked first: few refused writes come that far, and the grants are many.
    if !entitled(history, grant, write) {
        return None;
    }
    let overtaken = history.grants.iter().any(|next| {
        next.fencing > grant.fencing
            && next.granted.latest < write.applied
            && (grant.is_before(next)
                || history.was_replaced(&grant.server, grant.granted.earliest))
    });
    (!overtaken).then_some(grant)
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

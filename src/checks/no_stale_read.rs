//! `no_stale_read`: the store answers no `read` step of a holder whose entitlement has ended and
//! whose successor has been granted.
//!
//! What such a reader is shown may be half of its successor's work, and what it does with it is out
//! of the store's sight. A fence that compares tokens at writes alone does not cover it. What a
//! write reads to know what it builds on is judged with that write.

use super::say::{count, secs, who, whose};
use super::{Check, Finding};
use crate::timeline::event::AttemptKind;
use crate::timeline::history::{Grant, History, StoreAttempt};
use foldhash::HashMap;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct NoStaleRead;

/// A `read` step that reached the store when somebody else may have been granted since.
#[derive(Debug, Clone, Copy)]
pub struct Exposed {
    /// Index into the store's log.
    pub index: usize,
    /// Index of the reader's grant.
    own: usize,
    /// Index of a later grant of the same key.
    next: usize,
    /// The reader's entitlement had certainly ended, and the other was certainly granted.
    pub stale: bool,
}

impl Check for NoStaleRead {
    fn name(&self) -> &'static str {
        "no_stale_read"
    }

    fn claim(&self) -> &'static str {
        "the store answers no read of a holder whose entitlement had ended and after whom another was granted"
    }

    fn judge(&self, history: &History) -> Finding {
        let exposed = exposed(history);
        let answered = |read: &&Exposed| history.store[read.index].accepted;
        if let Some(read) = exposed.iter().filter(answered).find(|read| read.stale) {
            return self.violated(history, *read);
        }
        let reads = history
            .store
            .iter()
            .filter(|entry| entry.kind == AttemptKind::Read);
        let reads = reads.count();
        if reads > 0
            && let Some(unseen) = Finding::unseen(self, history)
        {
            return unseen;
        }
        if exposed.is_empty() {
            return Finding::vacuous(
                self,
                "no holder read after another had been granted the lock",
            );
        }
        let unsure = exposed.iter().filter(answered).find(|read| {
            let doubt = |grant: usize| history.grants[grant].doubt.as_ref();
            doubt(read.own).or(doubt(read.next)).is_some()
        });
        if let Some(read) = unsure {
            let entry = &history.store[read.index];
            let why = format!(
                "nothing certain can be said of the grants around {}",
                entry.write
            );
            return Finding::unknown(self, why).resting_on([entry.seq]);
        }
        let refused = || exposed.iter().filter(|read| !answered(read));
        let mut why = format!(
            "{}, {} refused after another had been granted, none answered too late",
            count(reads, "read"),
            refused().count()
        );
        if let Some(read) = refused().find(|read| read.stale) {
            why = format!("{}; {why}", told(history, *read));
        }
        Finding::holds(self, why).resting_on(refused().map(|read| history.store[read.index].seq))
    }
}

impl NoStaleRead {
    fn violated(&self, history: &History, read: Exposed) -> Finding {
        let entry = &history.store[read.index];
        let (own, next) = (&history.grants[read.own], &history.grants[read.next]);
        Finding::violated(self, told(history, read))
            .resting_on([entry.seq, own.seq, next.seq])
            .witnessed_by(history, entry.worker.into_iter().chain(next.worker))
    }
}

/// Who read what when, and how late that was.
fn told(history: &History, read: Exposed) -> String {
    let entry = &history.store[read.index];
    let (own, next) = (&history.grants[read.own], &history.grants[read.next]);
    let answer = match (entry.accepted, &entry.based_on) {
        (false, _) => "was refused".to_owned(),
        (true, Some(write)) => format!("was shown {write}"),
        (true, None) => "was shown that nothing is written".to_owned(),
    };
    let granted = match next.fencing {
        Some(token) => format!("{} was granted {token}", who(history, next)),
        None => format!("{} was granted the lock", who(history, next)),
    };
    format!(
        "{} {answer} at {}, {} after {} had ended and {} after {granted}",
        entry.write,
        secs(entry.applied),
        secs(entry.applied.saturating_sub(own.ended())),
        whose(history, own),
        secs(entry.applied.saturating_sub(next.granted.middle())),
    )
}

/// Every `read` step under a grant after which another of its key may have been made.
pub fn exposed(history: &History) -> Vec<Exposed> {
    let mut by_key: HashMap<(&str, &str), Vec<usize>> = HashMap::default();
    for (index, grant) in history.grants.iter().enumerate() {
        by_key.entry(key(grant)).or_default().push(index);
    }
    let mut found = Vec::new();
    for (index, entry) in history.store.iter().enumerate() {
        let own = entry
            .grant
            .as_ref()
            .filter(|_| entry.kind == AttemptKind::Read);
        let Some(own) = own.and_then(|id| history.grant_by_id.get(id)).copied() else {
            continue;
        };
        let all = by_key
            .get(&key(&history.grants[own]))
            .map_or(&[][..], Vec::as_slice);
        // By the server's order the next grant is the earliest that there can be.
        let next = all.get(all.partition_point(|grant| *grant <= own)).copied();
        let epsilon = history.epsilon_ns;
        let may = |next: &usize| {
            let granted = history.grants[*next].granted;
            granted.earliest <= entry.applied.saturating_add(epsilon)
        };
        if let Some(next) = next.filter(may) {
            let stale = is_stale(history, entry, (own, next));
            found.push(Exposed {
                index,
                own,
                next,
                stale,
            });
        }
    }
    found
}

fn key(grant: &Grant) -> (&str, &str) {
    (&grant.server, &grant.key)
}

fn is_stale(history: &History, entry: &StoreAttempt, (own, next): (usize, usize)) -> bool {
    let (own, next) = (&history.grants[own], &history.grants[next]);
    let after = |at: u64| entry.applied > at.saturating_add(history.epsilon_ns);
    own.doubt.is_none()
        && next.doubt.is_none()
        && after(own.possible.to)
        && after(next.granted.latest)
}

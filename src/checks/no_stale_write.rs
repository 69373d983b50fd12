//! `no_stale_write`: the store never takes a write whose fencing token is lower than one that it has
//! taken, or is that of another grant, nor one under a token that was not issued to its grant (a
//! borrowed token).
//! Order is the store's own log. Reported beside it: stale writes refused, and *late accepted* ones:
//! taken after the writer's entitlement had ended although the order was legal.

use super::say::{count, secs, token, who};
use super::{Check, Finding, rightful_served};
use crate::ids::GrantId;
use crate::timeline::event::AttemptKind;
use crate::timeline::history::{History, KeyEnd, StoreAttempt};
use foldhash::HashMap;

mod issued;

use issued::{Issued, unissued};

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct NoStaleWrite;

/// What is stale about one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    /// Its fencing token was never issued to its grant.
    Borrowed,
    /// A write with a higher fencing token, or the same of another grant, was accepted before:
    /// index into the store's log.
    After(usize),
}

/// Every write of the store's log, by what is wrong with it.
#[derive(Debug, Clone, Default)]
pub struct Staleness {
    /// Stale writes, with why, by index into the store's log.
    pub stale: Vec<(usize, Stale)>,
    /// Writes that were not stale by order but were put to the store after the writer's entitlement
    /// had certainly ended; index into the store's log.
    pub late: Vec<usize>,
    /// Attempts to write.
    pub writes: usize,
    /// Two grants wrote to one resource, so that the order could have been wrong.
    pub contested: bool,
}

impl Check for NoStaleWrite {
    fn name(&self) -> &'static str {
        "no_stale_write"
    }

    fn claim(&self) -> &'static str {
        "the store takes no write whose fencing token is lower than one that it has taken, or is \
         that of another grant, and none under a token that was not issued to its grant"
    }

    fn judge(&self, history: &History) -> Finding {
        let staleness = staleness(history);
        let accepted = |index: &usize| history.store[*index].accepted;
        let mut worst = staleness.stale.iter().filter(|(index, _)| accepted(index));
        if let Some((index, stale)) = worst.next() {
            return self.violated(history, *index, *stale);
        }
        // A sealed store refuses a late write before any newer one was accepted.
        let (late, refused_late): (Vec<usize>, Vec<usize>) =
            staleness.late.iter().partition(|index| accepted(index));
        let stale = staleness.stale.iter().map(|(index, _)| *index);
        let refused: Vec<usize> = stale.chain(refused_late).collect();
        if !staleness.contested {
            return Finding::vacuous(self, "no two grants wrote to one resource");
        }
        let tokenless = refused.iter().map(|index| &history.store[*index]);
        let tokenless = tokenless.filter(|write| is_tokenless(write)).count();
        let (rightful, apart) = rightful_served::apart(history, &refused);
        let mut why = format!(
            "{} to write, {} stale or late and refused, {} accepted after its writer's lease had ended{}{apart}",
            count(staleness.writes, "attempt"),
            refused.len() - rightful - tokenless,
            late.len(),
            match tokenless {
                0 => String::new(),
                n => format!(", {n} without a grant and without a fencing token and refused"),
            }
        );
        if let Some(index) = refused.first() {
            why = format!("{}; the store refused it; {why}", describe(history, *index));
        }
        let seqs = refused.iter().chain(&late).map(|i| history.store[*i].seq);
        Finding::holds(self, why).resting_on(seqs)
    }
}

impl NoStaleWrite {
    fn violated(&self, history: &History, index: usize, stale: Stale) -> Finding {
        let write = &history.store[index];
        let mut events = vec![write.seq];
        let mut workers: Vec<usize> = write.worker.into_iter().collect();
        let why = match stale {
            Stale::Borrowed => format!(
                "{}, {}; the store took it",
                describe(history, index),
                unissued(history, write)
            ),
            Stale::After(before) => {
                let before = &history.store[before];
                events.push(before.seq);
                workers.extend(before.worker);
                format!(
                    "{}; the store took it although it had taken {} with {}{}",
                    describe(history, index),
                    before.write,
                    token(before.fencing),
                    replaced(history, index),
                )
            }
        };
        if let Some(grant) = write.grant.as_ref().and_then(|id| history.grant_of(id)) {
            events.push(grant.seq);
        }
        Finding::violated(self, why)
            .resting_on(events)
            .witnessed_by(history, workers)
    }
}

/// What it did to the data: whether its writer had read the write that it replaced.
fn replaced(history: &History, index: usize) -> String {
    let write = &history.store[index];
    let same = |other: &&StoreAttempt| {
        let is_write = other.kind == AttemptKind::Write && other.took_effect();
        is_write && other.resource == write.resource
    };
    match history.store[..index].iter().rfind(same) {
        Some(last) if write.based_on.as_ref() == Some(&last.write) => format!(
            "; it was based on {}, so no update was lost by it",
            last.write
        ),
        Some(last) => format!(
            "; it replaced {} without having read it, so that update is lost",
            last.write
        ),
        None => String::new(),
    }
}

/// Its writer claims no grant and presents no fencing token: it writes without the lock, and there is
/// nothing by which it could be old.
pub fn is_tokenless(write: &StoreAttempt) -> bool {
    write.kind == AttemptKind::Write && write.grant.is_none() && write.fencing.is_none()
}

/// Sorts every write of the store's log.
pub fn staleness(history: &History) -> Staleness {
    let issued = Issued::new(history);
    let mut highest: HashMap<&str, usize> = HashMap::default();
    let mut writers: HashMap<&str, Option<&GrantId>> = HashMap::default();
    let mut found = Staleness::default();
    for (index, write) in history.store.iter().enumerate() {
        if write.kind != AttemptKind::Write {
            continue;
        }
        found.writes += 1;
        if write.done_before {
            // It changed nothing: under which token does not matter.
            continue;
        }
        let first = *writers
            .entry(&write.resource)
            .or_insert(write.grant.as_ref());
        found.contested |= first != write.grant.as_ref();
        let before = highest.get(&*write.resource).copied();
        if issued.lacks(write) {
            found.stale.push((index, Stale::Borrowed));
        } else if let Some(before) = before
            && outdated(write, &history.store[before])
        {
            found.stale.push((index, Stale::After(before)));
        } else if is_late(history, write) {
            found.late.push(index);
        }
        let newer = |before: usize| history.store[before].fencing < write.fencing;
        if write.accepted && before.is_none_or(newer) {
            highest.insert(&write.resource, index);
        }
    }
    found
}

/// `write` is older than an accepted write before it.
fn outdated(write: &StoreAttempt, before: &StoreAttempt) -> bool {
    match (write.fencing, before.fencing) {
        (Some(mine), Some(theirs)) => {
            mine < theirs || (mine == theirs && write.grant != before.grant)
        }
        (None, _) | (_, None) => false,
    }
}

/// The writer's entitlement had certainly ended.
fn is_late(history: &History, write: &StoreAttempt) -> bool {
    let grant = write.grant.as_ref().and_then(|id| history.grant_of(id));
    grant.is_some_and(|grant| {
        grant.doubt.is_none()
            && write.applied > grant.possible.to.saturating_add(history.epsilon_ns)
    })
}

/// Who wrote with which token when, and how late that was.
pub fn describe(history: &History, index: usize) -> String {
    let write = &history.store[index];
    let name = write
        .worker
        .map_or("an unknown writer", |w| history.worker_name(w));
    let mut told = format!(
        "{name} wrote with {} at {}",
        token(write.fencing),
        secs(write.applied)
    );
    let Some(grant) = write.grant.as_ref().and_then(|id| history.grant_of(id)) else {
        return told;
    };
    let mut details = Vec::new();
    if write.applied >= grant.possible.to {
        let late = write.applied.saturating_sub(grant.ended());
        let ended = match &grant.end {
            KeyEnd::Released { .. } => "its release",
            KeyEnd::Open | KeyEnd::Expired { .. } | KeyEnd::Taken { .. } => "its lease ended",
        };
        details.push(format!("{} after {ended}", secs(late)));
    }
    let mut grants = history.grants.iter();
    let next = grants.find(|next| grant.is_before(next) && next.granted.latest < write.applied);
    if let Some(next) = next {
        details.push(format!(
            "{} after {} was granted {}",
            secs(write.applied - next.granted.middle()),
            who(history, next),
            next.fencing
                .map_or("the lock".to_owned(), |fencing| fencing.to_string()),
        ));
    }
    if !details.is_empty() {
        told = format!("{told}, {}", details.join(" and "));
    }
    told
}

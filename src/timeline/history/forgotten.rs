//! What a server forgot of a lock, and whether somebody put it back: an owner whom its key named,
//! or how far its counter had come. By the server's own stream alone.
//!
//! An owner is back when the key names it once more. A counter is back when it rises otherwise than
//! by one for a grant; where several servers are one lock service the lock itself does that after a
//! failover, and a counter of theirs is never taken for put back.

use super::collect::RawEffect;
use super::{History, Operation};
use crate::ids::OwnerDigest;
use crate::timeline::event::{Call, Change};
use foldhash::HashMap;
use std::collections::BTreeMap;

/// A server forgot something of a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    /// `seq` of the server's effect.
    pub seq: u64,
    /// Lab time at which the observer had read it, ns.
    pub at: u64,
    /// Server name.
    pub server: String,
    /// Key, without the lab's prefix.
    pub key: String,
    /// What it knew before.
    pub what: Memory,
    /// `seq` of the effect that put it back.
    pub back: Option<u64>,
}

/// What a server knew of a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Memory {
    /// The owner in the key.
    Owner(OwnerDigest),
    /// The counter of fencing tokens.
    Counter(u64),
    /// All that there was, if anything: the server was emptied.
    Everything,
}

/// Reads what each server forgot, in its own order; nothing where no fault hits a server.
pub(super) fn read(history: &mut History, effects: &BTreeMap<String, Vec<RawEffect>>) {
    if history.faults.iter().all(|fault| fault.server.is_none()) {
        return;
    }
    let drawn = history.operations.iter().any(draws);
    let mut forgotten = Vec::new();
    for (server, effects) in effects {
        let mut effects: Vec<&RawEffect> = effects.iter().collect();
        effects.sort_by_key(|effect| (effect.pos, effect.seq));
        let mut book = Book {
            server,
            drawn,
            moved: history.roles.contains_key(server),
            owners: HashMap::default(),
            counters: HashMap::default(),
            forgotten: Vec::new(),
        };
        for (index, effect) in effects.iter().enumerate() {
            book.take(effect, effects.get(index + 1).copied());
        }
        forgotten.extend(book.forgotten);
    }
    history.forgotten = forgotten;
}

/// Asks for a fencing token without the lock: the counter rises, and nobody is granted.
const fn draws(operation: &Operation) -> bool {
    matches!(operation.call, Call::Refence)
}

/// What one server knows while its effects go by.
struct Book<'a> {
    server: &'a str,
    /// Tokens are drawn without a grant.
    drawn: bool,
    /// The lock itself moves the counter.
    moved: bool,
    owners: HashMap<&'a str, &'a OwnerDigest>,
    counters: HashMap<&'a str, u64>,
    forgotten: Vec<Forgotten>,
}

impl<'a> Book<'a> {
    fn take(&mut self, effect: &'a RawEffect, next: Option<&RawEffect>) {
        let key = effect.key.as_str();
        match &effect.change {
            Change::Set { owner, .. } => self.names(effect, Some(owner)),
            Change::Restarted { owner, .. } | Change::Copied { owner, .. } => {
                if self.owners.get(key).copied() != owner.as_ref() {
                    self.forget_owner(effect, key);
                }
                self.names(effect, owner.as_ref());
            }
            Change::Deleted => self.forget_owner(effect, key),
            Change::Flushed => {
                self.forget(effect, key, Memory::Everything);
                let owners: Vec<&str> = self.owners.keys().copied().collect();
                owners.iter().for_each(|key| self.forget_owner(effect, key));
                let counters: Vec<&str> = self.counters.keys().copied().collect();
                counters.iter().for_each(|key| self.counts(effect, key, 0));
            }
            Change::Counter { value: Some(value) } => {
                let before = self.counters.get(key).copied().unwrap_or(0);
                self.counts(effect, key, *value);
                if *value > before && !self.is_own_rise((before, *value), effect, next) {
                    self.put_back(effect, |what| matches!(what, Memory::Counter(_)));
                }
            }
            Change::Counter { value: None } | Change::Extended { .. } => {}
        }
    }

    /// The key names this owner from here on.
    fn names(&mut self, effect: &'a RawEffect, owner: Option<&'a OwnerDigest>) {
        if let Some(owner) = owner {
            self.put_back(effect, |what| *what == Memory::Owner(owner.clone()));
            self.owners.insert(&effect.key, owner);
        }
    }

    fn counts(&mut self, effect: &RawEffect, key: &'a str, value: u64) {
        let before = self.counters.insert(key, value).unwrap_or(0);
        if value < before {
            self.forget(effect, key, Memory::Counter(before));
        }
    }

    /// It rises by one, for the grant that follows it.
    fn is_own_rise(
        &self,
        (before, value): (u64, u64),
        effect: &RawEffect,
        next: Option<&RawEffect>,
    ) -> bool {
        let granted = next.is_some_and(|next| {
            let fencing = match &next.change {
                Change::Set { fencing, .. } => *fencing,
                _other => None,
            };
            next.key == effect.key && fencing.is_some_and(|fencing| fencing.0 == value)
        });
        self.moved || (value == before + 1 && (granted || self.drawn))
    }

    fn forget_owner(&mut self, effect: &RawEffect, key: &str) {
        if let Some(owner) = self.owners.remove(key) {
            self.forget(effect, key, Memory::Owner(owner.clone()));
        }
    }

    fn forget(&mut self, effect: &RawEffect, key: &str, what: Memory) {
        self.forgotten.push(Forgotten {
            seq: effect.seq,
            at: effect.at,
            server: self.server.to_owned(),
            key: key.to_owned(),
            what,
            back: None,
        });
    }

    /// The newest of this kind that the key had lost is there again.
    fn put_back(&mut self, effect: &RawEffect, is_it: impl Fn(&Memory) -> bool) {
        let mut lost = self.forgotten.iter_mut().rev();
        let lost = lost.find(|lost| lost.key == effect.key && is_it(&lost.what));
        if let Some(lost) = lost {
            lost.back.get_or_insert(effect.seq);
        }
    }
}

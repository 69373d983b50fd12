//! The server's effects, in the server's order, to grants.
//!
//! The traps: an expiry is seen only when the server notices it, so the end of a lease is its
//! deadline and never the deletion; release and expiry look alike; the key may end without the
//! entitlement ending; a key may be extended by somebody who does not hold it.

use super::History;
use super::attribute::{Index, grant_of};
use super::clock_map::{ClockMap, Offset};
use super::collect::RawEffect;
use super::grant::{Author, Cause, Extension, Grant, KeyEnd};
use super::operation::Operation;
use super::roles::RoleSeen;
use super::time::{Bounds, NEVER, Span, ms};
use crate::ids::{FencingToken, OwnerDigest};
use crate::timeline::event::{Answer, Change};
use foldhash::HashMap;
use reigns::{Identity, Originals};
use std::collections::BTreeMap;

mod copied;
mod ends;
mod entitlement;
mod reigns;
mod restart;
mod trust;

/// Reads all effects into `history.grants`.
pub(super) fn derive_grants(history: &mut History, mut effects: BTreeMap<String, Vec<RawEffect>>) {
    for (server, effects) in &mut effects {
        effects.sort_by_key(|effect| (effect.pos, effect.seq));
        trust::check_order(history, server, effects);
    }
    let keys = (0..history.workers.len()).map(|worker| history.key_of(worker));
    let index = Index::new(&history.operations, keys.collect());
    let parts = reigns::in_order(effects, &history.roles);
    let mut book = Book {
        originals: Originals::of(&parts, &history.roles),
        several: &history.roles,
        made: HashMap::default(),
        newest: HashMap::default(),
        left: HashMap::default(),
        operations: &history.operations,
        clocks: &history.clocks,
        lease_ms: history.plan.lock.lease_ms,
        index,
        grants: Vec::new(),
        held: HashMap::default(),
        explained: vec![false; history.operations.len()],
        either: HashMap::default(),
        server: String::new(),
        clock: None,
        floor: 0,
    };
    for part in parts {
        book.turn_to(part.server);
        for effect in &part.effects {
            if part.rules {
                book.take(effect);
            } else {
                book.copy(effect);
            }
        }
    }
    let mut grants = book.close();
    let trust = trust::Trust::new(&history.observers);
    for grant in &mut grants {
        grant.doubt = trust.doubt(grant);
        if grant.doubt.is_some() {
            grant.definite = None;
        }
    }
    for (i, grant) in grants.iter().enumerate() {
        if let Some(id) = &grant.id {
            history.grant_by_id.entry(id.clone()).or_insert(i);
        }
    }
    history.grants = grants;
}

type Held = HashMap<String, (usize, Option<Bounds>)>;

/// What is known while the effects go by.
struct Book<'a> {
    operations: &'a [Operation],
    clocks: &'a BTreeMap<String, ClockMap>,
    lease_ms: u64,
    index: Index<'a>,
    grants: Vec<Grant>,
    /// On this server: key → index of the grant that holds it, and the key's own deadline (none =
    /// no lease).
    held: Held,
    /// The same of other servers, and their floors.
    left: HashMap<String, (Held, u64)>,
    /// Servers that are one lock service.
    several: &'a BTreeMap<String, Vec<RoleSeen>>,
    /// Which of equal effects on several servers was the first.
    originals: Originals,
    /// Grants of several servers by what tells their effects from others.
    made: HashMap<Identity, usize>,
    /// The newest grant of each server and key.
    newest: HashMap<(String, String), usize>,
    /// Which operations have caused an effect already.
    explained: Vec<bool>,
    /// Releases that ended their own key, or found it just expired: → that grant. Either is
    /// possible until an effect turns up that nothing else can have caused.
    either: HashMap<usize, usize>,
    server: String,
    clock: Option<&'a ClockMap>,
    /// No later effect of this server was applied before this, ns.
    floor: u64,
}

impl Book<'_> {
    /// From here on effects are of this server.
    fn turn_to(&mut self, server: String) {
        let before = std::mem::replace(&mut self.server, server.clone());
        let held = std::mem::take(&mut self.held);
        self.left.insert(before, (held, self.floor));
        (self.held, self.floor) = self.left.remove(&server).unwrap_or_default();
        self.clock = self.clocks.get(&server);
    }

    fn take(&mut self, effect: &RawEffect) {
        match &effect.change {
            Change::Set {
                owner,
                fencing,
                until_ms,
            } => {
                if !self.is_copied_set(effect, *until_ms) {
                    self.granted(effect, owner, *fencing, *until_ms);
                }
            }
            Change::Extended { until_ms } => self.extended(effect, *until_ms),
            Change::Deleted => {
                if let Some((holder, until)) = self.held.remove(&effect.key)
                    && !self.ended_elsewhere(holder)
                {
                    self.grants[holder].end = self.deleted(effect, holder, until);
                }
            }
            Change::Flushed => {
                let at = Bounds::between(self.floor, effect.at);
                for (holder, _) in std::mem::take(&mut self.held).into_values() {
                    self.grants[holder].end = KeyEnd::Taken {
                        seq: effect.seq,
                        pos: effect.pos,
                        at,
                        cause: Cause::Flush,
                    };
                }
            }
            Change::Restarted {
                owner, until_ms, ..
            } => self.restarted(effect, owner.as_ref(), *until_ms),
            Change::Copied {
                owner, until_ms, ..
            } => self.copied_anew(effect, owner.as_ref(), *until_ms),
            Change::Counter { .. } => {}
        }
    }

    /// Lab time of a grant or renewal that set the deadline `until_ms`, and of that deadline.
    fn times(&self, effect: &RawEffect, until_ms: Option<u64>, lease_ms: u64) -> (Bounds, Bounds) {
        let seen = Bounds::between(self.floor.min(effect.at), effect.at);
        let promised = |at: Bounds| Bounds {
            earliest: at.earliest.saturating_add(ms(lease_ms)),
            latest: at.latest.saturating_add(ms(lease_ms)),
        };
        let (Some(until_ms), Some(clock)) = (until_ms, self.clock) else {
            return (seen, promised(seen));
        };
        let began_ms = until_ms.saturating_sub(lease_ms);
        let exact = |offset: Offset| offset.lab(began_ms).meet(seen).map(|at| (at, offset));
        match clock.offset_at(began_ms, effect.at).and_then(exact) {
            Some((at, offset)) => (at, offset.lab(until_ms)),
            // The server gave another lease than was asked: its deadline is the truth.
            None => match clock.offset_when(effect.at) {
                Some(offset) => (seen, offset.lab(until_ms)),
                None => (seen, promised(seen)),
            },
        }
    }

    fn granted(
        &mut self,
        effect: &RawEffect,
        owner: &OwnerDigest,
        fencing: Option<FencingToken>,
        until_ms: Option<u64>,
    ) {
        let (mut granted, mut lease_ends) = self.times(effect, until_ms, self.lease_ms);
        let attempt = self.index.attempt(owner, fencing, granted);
        let operation = attempt.map(|i| &self.operations[i]);
        let mut lease_ms = self.lease_ms;
        let mut told = None;
        if let Some(Answer::Granted {
            lease_ms: given,
            fencing,
            ..
        }) = operation.and_then(Operation::answer)
        {
            told = *fencing;
            if *given != lease_ms {
                lease_ms = *given;
                (granted, lease_ends) = self.times(effect, until_ms, lease_ms);
            }
        }
        if let Some(operation) = operation {
            let limits = Bounds::between(operation.invoked.min(effect.at), effect.at);
            granted = granted.meet(limits).unwrap_or(limits);
        }
        if until_ms.is_none() {
            lease_ends.earliest = granted.earliest.saturating_add(ms(lease_ms));
            lease_ends.latest = granted.latest.saturating_add(ms(lease_ms));
        }
        self.floor = self.floor.max(granted.earliest);
        self.overtakes(effect, granted);
        self.displace(effect, granted, attempt);
        let holder = self.grants.len();
        self.remember(effect, holder);
        self.held
            .insert(effect.key.clone(), (holder, until_ms.map(|_| lease_ends)));
        self.grants.push(Grant {
            seq: effect.seq,
            server: self.server.clone(),
            pos: effect.pos,
            key: effect.key.clone(),
            owner: owner.clone(),
            fencing: fencing.or(told),
            attempt,
            id: operation.and_then(grant_of).cloned(),
            worker: operation.map(|operation| operation.worker),
            granted,
            seen: effect.at,
            lease_ms,
            endless: until_ms.is_none(),
            lease_ends,
            extensions: Vec::new(),
            copies: Vec::new(),
            end: KeyEnd::Open,
            definite: None,
            possible: Span { from: 0, to: NEVER },
            doubt: None,
        });
    }

    fn extended(&mut self, effect: &RawEffect, until_ms: Option<u64>) {
        let Some((holder, _)) = self.held.get(&effect.key).copied() else {
            return;
        };
        let lease_ms = self.grants[holder].lease_ms;
        let (at, until) = self.times(effect, until_ms, lease_ms);
        self.floor = self.floor.max(at.earliest);
        let until = until_ms.map(|_| until);
        if let Some((_, deadline)) = self.held.get_mut(&effect.key) {
            *deadline = until;
        }
        if self.extended_elsewhere(holder, until) {
            return;
        }
        let explained = |i: usize| self.explained[i];
        let id = self.grants[holder].id.as_ref();
        let author = self.index.renewed_by((id, &effect.key), at, &explained);
        if let Author::Own(Some(operation)) = author {
            self.explained[operation] = true;
        }
        self.grants[holder].extensions.push(Extension {
            seq: effect.seq,
            pos: effect.pos,
            at,
            until,
            author,
        });
    }
}

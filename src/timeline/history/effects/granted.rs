//! A grant, or a renewal: when the server made it, until when, and whose it is.

use super::super::clock_map::Offset;
use super::super::collect::RawEffect;
use super::super::grant::{Author, Extension, Grant, KeyEnd};
use super::super::operation::Operation;
use super::super::time::{Bounds, NEVER, Span, ms};
use super::Book;
use crate::ids::{FencingToken, OwnerDigest};
use crate::timeline::event::Answer;

/// Readings of one deadline at two times differ by no more, ns.
const SAME_NS: u64 = 2_000_000;

impl Book<'_> {
    /// Lab time of a grant or renewal that set the deadline `until_ms`, and of that deadline.
    pub(super) fn times(
        &self,
        effect: &RawEffect,
        until_ms: Option<u64>,
        lease_ms: u64,
    ) -> (Bounds, Bounds) {
        let seen = Bounds::between(self.floor.min(effect.at), effect.at);
        let (Some(until_ms), Some(clock)) = (until_ms, self.clock) else {
            return (seen, promised(seen, lease_ms));
        };
        let began_ms = until_ms.saturating_sub(lease_ms);
        let exact = |offset: Offset| offset.lab(began_ms).meet(seen).map(|at| (at, offset));
        match clock.offset_at(began_ms, effect.at).and_then(exact) {
            Some((at, offset)) => (at, offset.lab(until_ms)),
            // The server gave another lease than was asked: its deadline is the truth.
            None => match clock.offset_when(effect.at) {
                Some(offset) => (seen, offset.lab(until_ms)),
                None => (seen, promised(seen, lease_ms)),
            },
        }
    }

    pub(super) fn granted(
        &mut self,
        effect: &RawEffect,
        owner: &OwnerDigest,
        fencing: Option<FencingToken>,
        until_ms: Option<u64>,
    ) {
        let (mut granted, mut lease_ends) = self.times(effect, until_ms, self.lease_ms);
        let attempt = self.index.attempt(owner, fencing, granted);
        if attempt.is_none() && self.put_back(effect, owner, until_ms) {
            return;
        }
        let (attempt, renewal) = self.or_remade(attempt, (owner, &effect.key), granted);
        let operation = attempt.map(|i| &self.operations[i]);
        let (mut lease_ms, mut told) = (self.lease_ms, None);
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
        granted = operation.map_or(granted, |asked| since(asked, effect, granted));
        lease_ends = until_ms.map_or(promised(granted, lease_ms), |_| lease_ends);
        self.floor = self.floor.max(granted.earliest);
        self.overtakes(effect, granted);
        self.displace(effect, granted, attempt);
        self.hold(effect, self.until(until_ms, lease_ends));
        self.grants.push(Grant {
            seq: effect.seq,
            server: self.server.clone(),
            pos: effect.pos,
            key: effect.key.clone(),
            owner: owner.clone(),
            fencing: fencing.or(told),
            attempt,
            renewal,
            id: operation.and_then(Operation::grant).cloned(),
            worker: operation.map(|operation| operation.worker),
            granted,
            seen: effect.at,
            lease_ms,
            endless: self.until(until_ms, lease_ends).is_none(),
            lease_ends,
            extensions: Vec::new(),
            copies: Vec::new(),
            end: KeyEnd::Open,
            given_back: None,
            definite: None,
            possible: Span { from: 0, to: NEVER },
            doubt: None,
        });
    }

    /// The attempt that asked for a key; if none did, what made it all the same.
    fn or_remade(
        &self,
        attempt: Option<usize>,
        key: (&OwnerDigest, &str),
        at: Bounds,
    ) -> (Option<usize>, Option<usize>) {
        match attempt {
            Some(attempt) => (Some(attempt), None),
            None => match self.remade(key, at) {
                Some((attempt, renewal)) => (Some(attempt), Some(renewal)),
                None => (self.late_vote(key.0, at), None),
            },
        }
    }

    /// The key that a grant holds was set for it once more, to the same deadline: its fencing token
    /// is another. Whether it was.
    pub(super) fn written_anew(
        &mut self,
        effect: &RawEffect,
        (owner, fencing): (&OwnerDigest, Option<FencingToken>),
        until_ms: Option<u64>,
    ) -> bool {
        let Some((holder, Some(until))) = self.held.get(&effect.key).copied() else {
            return false;
        };
        let lease_ms = self.grants[holder].lease_ms;
        let (_, anew) = self.times(effect, until_ms, lease_ms);
        let same = until.middle().abs_diff(anew.middle()) <= SAME_NS;
        if !same || until_ms.is_none() || self.grants[holder].owner != *owner {
            return false;
        }
        self.grants[holder].fencing = fencing;
        true
    }

    /// The attempt that a server voted for when a quorum of the others had decided it already: who
    /// asks does not wait for all of them, and has an owner token of its own for each attempt.
    fn late_vote(&self, owner: &OwnerDigest, at: Bounds) -> Option<usize> {
        let attempt = self
            .voters
            .then(|| self.index.last_attempt(owner, at.latest));
        attempt.flatten()
    }

    /// The attempt and the renewal of an earlier grant of this owner, whose key a renewal has set
    /// anew after it had ended.
    fn remade(&self, (owner, key): (&OwnerDigest, &str), at: Bounds) -> Option<(usize, usize)> {
        let mut earlier = self.grants.iter().rev().take(256);
        let before = earlier.find(|grant| grant.owner == *owner && grant.key == key)?;
        let renewal = self
            .index
            .renewal_under_way((before.id.as_ref()?, key), at)?;
        Some((before.attempt?, renewal))
    }

    /// A key's deadline, if it has one: as the server told it, or as it was promised at least.
    pub(super) fn until(&self, until_ms: Option<u64>, until: Bounds) -> Option<Bounds> {
        (until_ms.is_some() || !self.tells_deadlines).then_some(until)
    }

    /// The key is held by the grant that comes next.
    fn hold(&mut self, effect: &RawEffect, until: Option<Bounds>) {
        let holder = self.grants.len();
        self.remember(effect, holder);
        self.held.insert(effect.key.clone(), (holder, until));
    }

    pub(super) fn extended(&mut self, effect: &RawEffect, until_ms: Option<u64>) {
        let Some((holder, before)) = self.held.get(&effect.key).copied() else {
            return;
        };
        let lease_ms = self.grants[holder].lease_ms;
        let (mut at, mut until) = self.times(effect, until_ms, lease_ms);
        let explained = |i: usize| self.explained[i];
        let id = self.grants[holder].id.as_ref();
        let author = self.index.renewed_by((id, &effect.key), at, &explained);
        if let (Author::Own(Some(renewal)), false) = (&author, self.tells_deadlines) {
            // No sooner than it was asked for.
            at = since(&self.operations[*renewal], effect, at);
            until = promised(at, lease_ms);
        }
        self.floor = self.floor.max(at.earliest);
        let until = self.until(until_ms, until);
        if let Some((_, deadline)) = self.held.get_mut(&effect.key) {
            *deadline = until;
        }
        if self.extended_elsewhere(holder, until) {
            return;
        }
        // A voter was told the agreed number twice: its lease is what it was.
        let unmoved = self.voters && until_ms.is_some() && before == until;
        if unmoved && author == Author::Own(None) {
            return;
        }
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

/// When it was granted, since it was asked for no earlier than this.
fn since(asked: &Operation, effect: &RawEffect, granted: Bounds) -> Bounds {
    let limits = Bounds::between(asked.invoked.min(effect.at), effect.at);
    granted.meet(limits).unwrap_or(limits)
}

/// The end of a lease that begins at `at`.
fn promised(at: Bounds, lease_ms: u64) -> Bounds {
    Bounds {
        earliest: at.earliest.saturating_add(ms(lease_ms)),
        latest: at.latest.saturating_add(ms(lease_ms)),
    }
}

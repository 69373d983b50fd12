//! What is read from a server that copies another, and what a failover leaves behind: grants whose
//! key the new server has as well, and grants that it never had.

use super::reigns::identity;
use super::{Book, RawEffect};
use crate::ids::OwnerDigest;
use crate::timeline::event::Change;
use crate::timeline::history::grant::{Cause, Copy, KeyEnd};
use crate::timeline::history::time::Bounds;

impl Book<'_> {
    /// A key was set here as it had been set on another server. Whether it was.
    pub(super) fn is_copied_set(&mut self, effect: &RawEffect, until_ms: Option<u64>) -> bool {
        let Some(identity) = identity(effect) else {
            return false;
        };
        if !self.originals.is_copy(&identity, &self.server, effect.pos) {
            return false;
        }
        // Of a grant that is not read yet nothing is known here, and nothing follows.
        self.held.remove(&effect.key);
        if let Some(grant) = self.made.get(&identity).copied() {
            self.hold_copy(effect, grant, until_ms);
        }
        true
    }

    /// Effects while the server copies another: they keep what it holds, and end nothing.
    pub(super) fn copy(&mut self, effect: &RawEffect) {
        match &effect.change {
            // One that nobody else made was made here, whatever the server said of itself.
            Change::Set { .. } => self.take(effect),
            Change::Extended { until_ms } => {
                if let Some((grant, _)) = self.held.get(&effect.key).copied() {
                    let until = self.deadline(effect, grant, *until_ms);
                    self.held.insert(effect.key.clone(), (grant, until));
                }
            }
            Change::Deleted => drop(self.held.remove(&effect.key)),
            Change::Flushed => self.held.clear(),
            Change::Copied { .. } | Change::Restarted { .. } => self.take(effect),
            Change::Counter { .. } => {}
        }
    }

    /// The server threw away what it had and copied another. What it alone had granted is gone.
    pub(super) fn copied_anew(
        &mut self,
        effect: &RawEffect,
        owner: Option<&OwnerDigest>,
        until_ms: Option<u64>,
    ) {
        let before = self.held.remove(&effect.key);
        let named = owner.and_then(|owner| {
            let mut grants = self.grants.iter().enumerate().rev();
            let found = grants.find(|(_, grant)| grant.key == effect.key && grant.owner == *owner);
            found.map(|(index, _)| index)
        });
        if let Some((grant, _)) = before.filter(|(grant, _)| Some(*grant) != named)
            && self.grants[grant].server == self.server
        {
            let at = Bounds::between(self.floor.min(effect.at), effect.at);
            self.lost(grant, effect, at);
        }
        if let Some(grant) = named {
            self.hold_copy(effect, grant, until_ms);
        }
    }

    fn hold_copy(&mut self, effect: &RawEffect, grant: usize, until_ms: Option<u64>) {
        let until = self.deadline(effect, grant, until_ms);
        self.held.insert(effect.key.clone(), (grant, until));
        if self.grants[grant].server != self.server {
            self.grants[grant].copies.push(Copy {
                seq: effect.seq,
                server: self.server.clone(),
                pos: effect.pos,
                seen: effect.at,
            });
        }
    }

    fn deadline(&self, effect: &RawEffect, grant: usize, until_ms: Option<u64>) -> Option<Bounds> {
        let lease_ms = self.grants[grant].lease_ms;
        until_ms.map(|_| self.times(effect, until_ms, lease_ms).1)
    }

    /// What this server is about to end had ended on the server that it was copied from.
    pub(super) fn ended_elsewhere(&self, grant: usize) -> bool {
        let grant = &self.grants[grant];
        grant.server != self.server && grant.end != KeyEnd::Open
    }

    /// This server extends what had been extended so on the server that it was copied from.
    pub(super) fn extended_elsewhere(&self, grant: usize, until: Option<Bounds>) -> bool {
        let grant = &self.grants[grant];
        let same = |known: &Option<Bounds>| match (known, until) {
            (Some(known), Some(until)) => known.meet(until).is_some(),
            (None, None) => true,
            _ => false,
        };
        let mut known = grant.extensions.iter().map(|extension| extension.until);
        grant.server != self.server && known.any(|known| same(&known))
    }

    /// A grant of one of several servers is about to be the `index`th.
    pub(super) fn remember(&mut self, effect: &RawEffect, index: usize) {
        if self.several.contains_key(&self.server) {
            self.made.extend(identity(effect).map(|id| (id, index)));
            let place = (self.server.clone(), effect.key.clone());
            self.newest.insert(place, index);
        }
    }

    /// Before this server makes a grant: of what other servers had granted before, the key is gone
    /// if this server does not have it.
    pub(super) fn overtakes(&mut self, effect: &RawEffect, granted: Bounds) {
        if !self.several.contains_key(&self.server) {
            return;
        }
        let here = self.held.get(&effect.key).map(|(grant, _)| *grant);
        let others: Vec<usize> = self
            .newest
            .iter()
            .filter(|((server, key), _)| {
                *key == effect.key && *server != self.server && self.several.contains_key(server)
            })
            .map(|(_, grant)| *grant)
            .filter(|grant| Some(*grant) != here)
            .collect();
        for grant in others {
            if self.grants[grant].granted.latest <= granted.earliest {
                self.lost(grant, effect, granted);
            }
        }
    }

    /// The key of a grant is gone by a failover, unless it had ended before.
    fn lost(&mut self, grant: usize, effect: &RawEffect, at: Bounds) {
        let known = &mut self.grants[grant];
        let last = known
            .extensions
            .iter()
            .filter_map(|one| one.until)
            .next_back();
        let until = last.unwrap_or(known.lease_ends);
        let over = !known.endless && at.latest >= until.earliest;
        if known.end == KeyEnd::Open && !over {
            known.end = KeyEnd::Taken {
                seq: effect.seq,
                pos: effect.pos,
                at,
                cause: Cause::Failover,
            };
        }
    }
}

//! A server that was started again: what it still holds of a key, and what it has forgotten.

use super::{Book, RawEffect};
use crate::ids::OwnerDigest;
use crate::timeline::history::grant::{Cause, KeyEnd};
use crate::timeline::history::time::Bounds;

impl Book<'_> {
    /// The key's grant goes on if the server still names its owner. A grant whose end the server
    /// has forgotten holds the key once more.
    pub(super) fn restarted(
        &mut self,
        effect: &RawEffect,
        owner: Option<&OwnerDigest>,
        until_ms: Option<u64>,
    ) {
        let held = self.held.remove(&effect.key).map(|(holder, _)| holder);
        let of_key = |grant: &&super::Grant| grant.server == self.server && grant.key == effect.key;
        let named = owner.and_then(|owner| {
            let mut grants = self.grants.iter().enumerate().rev();
            let found = grants.find(|(_, grant)| of_key(grant) && grant.owner == *owner);
            found.map(|(index, _)| index)
        });
        if let Some(holder) = held.filter(|holder| Some(*holder) != named) {
            self.grants[holder].end = KeyEnd::Taken {
                seq: effect.seq,
                pos: effect.pos,
                at: Bounds::between(self.floor.min(effect.at), effect.at),
                cause: Cause::Restart,
            };
        }
        if let Some(holder) = named {
            let lease_ms = self.grants[holder].lease_ms;
            let until = until_ms.map(|_| self.times(effect, until_ms, lease_ms).1);
            self.held.insert(effect.key.clone(), (holder, until));
            if held.is_none() {
                self.grants[holder].end = KeyEnd::Open;
            }
        }
    }
}

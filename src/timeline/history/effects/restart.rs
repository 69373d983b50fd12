//! A server that was started again: what it still holds of a key, and what it has forgotten. And what
//! somebody put back that a server had lost.

use super::{Book, RawEffect};
use crate::ids::OwnerDigest;
use crate::timeline::history::grant::{Cause, KeyEnd};
use crate::timeline::history::time::Bounds;

impl Book<'_> {
    /// The key's grant goes on if the server still names its owner. A grant whose end the server
    /// has forgotten holds the key once more; but what was done stays done: a release took effect
    /// and promises nothing any more, and who deleted another's key did so.
    pub(super) fn restarted(
        &mut self,
        effect: &RawEffect,
        owner: Option<&OwnerDigest>,
        until_ms: Option<u64>,
    ) {
        let (held, deadline) = self.held.remove(&effect.key).unzip();
        let of_key = |grant: &&super::Grant| grant.server == self.server && grant.key == effect.key;
        let named = owner.and_then(|owner| {
            let mut grants = self.grants.iter().enumerate().rev();
            let found = grants.find(|(_, grant)| of_key(grant) && grant.owner == *owner);
            found.map(|(index, _)| index)
        });
        if let Some(holder) = held.filter(|holder| Some(*holder) != named) {
            let (seq, pos, seen) = (effect.seq, effect.pos, effect.at);
            let until = deadline.flatten();
            // What ran out while the server was away was not lost by it.
            self.grants[holder].end = if until.is_some_and(|until| seen >= until.earliest) {
                KeyEnd::Expired { seq, pos, seen }
            } else {
                KeyEnd::Taken {
                    seq,
                    pos,
                    at: Bounds::between(self.floor.min(seen), seen),
                    cause: Cause::Restart,
                }
            };
        }
        if let Some(holder) = named {
            let lease_ms = self.grants[holder].lease_ms;
            let until = self.until(until_ms, self.times(effect, until_ms, lease_ms).1);
            if self.grants[holder].released().is_none() {
                self.held.insert(effect.key.clone(), (holder, until));
            }
        }
    }

    /// Nobody asked for it, and the key names an owner whose grant the server had lost: it was put
    /// back by hand. The grant holds the key once more and is no new one. Whether it was.
    pub(super) fn put_back(
        &mut self,
        effect: &RawEffect,
        owner: &OwnerDigest,
        until_ms: Option<u64>,
    ) -> bool {
        let mut grants = self.grants.iter().enumerate().rev();
        let of_key = |grant: &super::Grant| grant.server == self.server && grant.key == effect.key;
        let found = grants.find(|(_, grant)| of_key(grant) && grant.owner == *owner);
        let lost = found.filter(|(_, grant)| was_lost(&grant.end));
        let Some((index, _)) = lost else {
            return false;
        };
        let (at, until) = self.times(effect, until_ms, self.grants[index].lease_ms);
        self.displace(effect, at, None);
        let until = self.until(until_ms, until);
        self.held.insert(effect.key.clone(), (index, until));
        true
    }
}

/// No request of anybody ended it.
const fn was_lost(end: &KeyEnd) -> bool {
    matches!(
        end,
        KeyEnd::Taken {
            cause: Cause::Flush | Cause::Restart | Cause::Unexplained,
            ..
        }
    )
}

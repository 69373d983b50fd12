//! What the value of a lock's key says of whom it was granted to.

use crate::ids::{FencingToken, OwnerDigest};

/// Whom a lock was granted to, and with which number.
pub type Held = (OwnerDigest, Option<FencingToken>);

/// What a lock key's value says: `owner:fencing`, or the owner alone. Nobody but the lock
/// service ever sees the owner token itself.
pub(super) fn owner_and_fencing(value: &[u8]) -> Held {
    let at = value.iter().rposition(|byte| *byte == b':');
    let parts = at.map(|at| (&value[..at], &value[at + 1..]));
    let number = |bytes| std::str::from_utf8(bytes).ok()?.parse().ok();
    match parts.and_then(|(owner, fencing)| Some((owner, number(fencing)?))) {
        Some((owner, fencing)) => (OwnerDigest::of(owner), Some(FencingToken(fencing))),
        None => {
            let owner = parts.filter(|(_, fencing)| fencing.is_empty());
            (
                OwnerDigest::of(owner.map_or(value, |(owner, _)| owner)),
                None,
            )
        }
    }
}

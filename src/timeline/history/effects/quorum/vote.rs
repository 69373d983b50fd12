//! One server's vote of a quorum, and when it was seen to come and to go.

use crate::timeline::history::grant::{Cause, Grant, KeyEnd};
use crate::timeline::history::time::NEVER;

/// A vote and the lab times at which its key came and was seen to go, ns.
pub(super) struct Vote {
    pub(super) grant: Grant,
    pub(super) on: u64,
    pub(super) off: u64,
}

impl Vote {
    pub(super) fn new(grant: Grant) -> Vote {
        let (on, off) = (come(&grant), gone(&grant));
        Vote { grant, on, off }
    }
}

/// Lab time at which a vote's key was seen to come, ns. One that was given back had come before, also
/// where both were read at once: then by its own server's clock.
fn come(vote: &Grant) -> u64 {
    match &vote.end {
        KeyEnd::Released { at, .. } => vote.granted.latest.min(at.earliest).min(vote.seen),
        KeyEnd::Taken { .. } if is_in_doubt(vote) => vote.granted.latest.min(vote.seen),
        KeyEnd::Open | KeyEnd::Expired { .. } | KeyEnd::Taken { .. } => vote.seen,
    }
}

/// A vote was read as come and gone at once, and its own release may have ended it, or another's:
/// somebody may have held by it, and when it went cannot be told.
pub(super) fn is_in_doubt(vote: &Grant) -> bool {
    match &vote.end {
        KeyEnd::Taken {
            at,
            cause: Cause::Unclear(_),
            ..
        } => at.latest <= vote.seen,
        KeyEnd::Taken { .. } | KeyEnd::Open | KeyEnd::Expired { .. } | KeyEnd::Released { .. } => {
            false
        }
    }
}

/// Lab time at which a vote's key was seen to be gone, ns; of one that ran out, when it did.
fn gone(vote: &Grant) -> u64 {
    match &vote.end {
        KeyEnd::Open => match vote.endless {
            true => NEVER,
            false => vote.lease_ends.latest,
        },
        KeyEnd::Released { at, .. } | KeyEnd::Taken { at, .. } => at.latest,
        KeyEnd::Expired { seen, .. } => vote.lease_ends.latest.min(*seen),
    }
}

//! Grants: successful acquisitions, by the server's own order, and what became of each.
//!
//! A grant is identified by its place in the server's order and by the attempt that it answers,
//! found by owner digest *and* time *and* fencing token: two grants may share an owner string.
//! *Entitlement* is what the lock promised (from the grant to its own release or the end of its
//! lease); the *key* may end otherwise, and then somebody else may be granted too early.

use super::time::{Bounds, NEVER, Span};
use crate::ids::{FencingToken, GrantId, OwnerDigest};

/// One grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// `seq` of the server's effect.
    pub seq: u64,
    /// Server name.
    pub server: String,
    /// Position in the server's order.
    pub pos: u64,
    /// Key, without the lab's prefix.
    pub key: String,
    /// Digest of the owner token in the key's value.
    pub owner: OwnerDigest,
    /// Fencing token by the server, else by the attempt's answer.
    pub fencing: Option<FencingToken>,
    /// Index of the attempt it answers ([`super::History::operations`]); none if there is none.
    pub attempt: Option<usize>,
    /// The renewal that made it, index into the same: nobody asked for it, the renewal set a key
    /// anew that had ended. Then the attempt is that of the grant that was to be renewed.
    pub renewal: Option<usize>,
    /// The attempt's identity.
    pub id: Option<GrantId>,
    /// The attempt's worker, index into [`super::History::workers`].
    pub worker: Option<usize>,
    /// Lab time at which the server granted it.
    pub granted: Bounds,
    /// Lab time at which the observer had read it, ns: it was granted no later.
    pub seen: u64,
    /// The lease that the server gave, milliseconds.
    pub lease_ms: u64,
    /// The server set the key without a lease: unless an extension gives it one, it never ends.
    pub endless: bool,
    /// Lab time at which the last own grant or renewal runs out; of a key without a lease, when
    /// what was asked for would.
    pub lease_ends: Bounds,
    /// Every change of the key's deadline while the key was this grant's.
    pub extensions: Vec<Extension>,
    /// Where else the key was seen as this grant had set it, on servers that copy each other.
    pub copies: Vec<Copy>,
    /// What became of the key.
    pub end: KeyEnd,
    /// Lab time at which another server, that had copied the key, applied this grant's own release
    /// although the key had ended otherwise on the server before.
    pub given_back: Option<Bounds>,
    /// The part of the entitlement that is certain; none if there is none.
    pub definite: Option<Span>,
    /// All of the time in which the entitlement may have lasted.
    pub possible: Span,
    /// Why nothing certain can be said of this grant (the observer had lost its place, …).
    pub doubt: Option<String>,
}

/// The key's deadline was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// `seq` of the server's effect.
    pub seq: u64,
    /// Position in the server's order.
    pub pos: u64,
    /// Lab time at which the server applied it.
    pub at: Bounds,
    /// Lab time of the new deadline; none = the lease was removed.
    pub until: Option<Bounds>,
    /// Who did it.
    pub author: Author,
}

/// Another server took over the key as a grant had set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// `seq` of that server's effect.
    pub seq: u64,
    /// That server.
    pub server: String,
    /// Position in that server's order.
    pub pos: u64,
    /// Lab time at which the observer had read it, ns.
    pub seen: u64,
}

/// Whose operation caused an effect on a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Author {
    /// An operation of the grant that held the key, or nothing on the record speaks against it.
    Own(Option<usize>),
    /// It cannot be told which of these operations it was.
    Unclear(Vec<usize>),
    /// Only these operations of other grants were under way; none = nothing was.
    Foreign(Vec<usize>),
}

/// What became of the key of a grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyEnd {
    /// It was still there when the record ended.
    Open,
    /// This grant's own release took it away.
    Released {
        /// `seq` of the server's effect.
        seq: u64,
        /// Position in the server's order.
        pos: u64,
        /// Lab time, from the release's `invoke` to the effect seen.
        at: Bounds,
        /// The release, index into [`super::History::operations`].
        operation: usize,
    },
    /// Its deadline passed; the server noticed no later than this effect.
    Expired {
        /// `seq` of the effect that shows it.
        seq: u64,
        /// Position in the server's order.
        pos: u64,
        /// Lab time at which it was seen, ns; never the deadline itself.
        seen: u64,
    },
    /// Something else ended it before its time.
    Taken {
        /// `seq` of the server's effect.
        seq: u64,
        /// Position in the server's order.
        pos: u64,
        /// Lab time of the effect.
        at: Bounds,
        /// What did it.
        cause: Cause,
    },
}

/// What ended a key before its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// A release that did not compare the owner: one of these operations of other grants.
    BlindDelete(Vec<usize>),
    /// Another attempt overwrote the key: these attempts.
    Overwrite(Vec<usize>),
    /// Everything on the server was deleted.
    Flush,
    /// The server was started again and did not have it any more.
    Restart,
    /// Another server took over that did not have it, or its own server copied one that did not.
    Failover,
    /// The server's clock was moved, and the server took the lease for expired.
    Clock,
    /// It cannot be told which of these releases did it; one of them is the grant's own.
    Unclear(Vec<usize>),
    /// Nothing on the record did it: eviction, a restart, a client outside the lab.
    Unexplained,
}

impl Grant {
    /// The other grant of the same key was made later: in the server's order, or certainly in time
    /// if another server made it.
    pub fn is_before(&self, next: &Grant) -> bool {
        let later = if next.server == self.server {
            next.pos > self.pos
        } else {
            next.granted.earliest > self.granted.latest
        };
        next.key == self.key && later
    }

    /// Lab time at which its own release was applied, by whichever server.
    pub fn released(&self) -> Option<Bounds> {
        match &self.end {
            KeyEnd::Released { at, .. } => Some(*at),
            KeyEnd::Open | KeyEnd::Expired { .. } | KeyEnd::Taken { .. } => self.given_back,
        }
    }

    /// Lab time at which its entitlement ended, as sentences tell it: by its own release, else with
    /// its lease, ns. One reading for all of them; never for a judgement.
    pub fn ended(&self) -> u64 {
        self.ends_with(self.lease_ends.middle())
    }

    /// The same of a lease that is taken to end at `lease`, ns.
    pub fn ends_with(&self, lease: u64) -> u64 {
        match &self.end {
            KeyEnd::Released { at, .. } => at.middle().min(lease),
            KeyEnd::Taken { .. } => {
                // Its own release, even of a key that was gone, gives the lock back.
                let given_back = self.definite.map_or(NEVER, |span| span.to);
                let released = given_back < self.lease_ends.earliest;
                if released { given_back } else { lease }
            }
            KeyEnd::Expired { .. } | KeyEnd::Open => lease,
        }
    }

    /// `seq` of the effect that ended its key.
    pub fn end_seq(&self) -> Option<u64> {
        match &self.end {
            KeyEnd::Open => None,
            KeyEnd::Released { seq, .. }
            | KeyEnd::Expired { seq, .. }
            | KeyEnd::Taken { seq, .. } => Some(*seq),
        }
    }

    /// Own extensions, in the server's order.
    pub fn own_extensions(&self) -> impl Iterator<Item = &Extension> {
        self.extensions
            .iter()
            .filter(|extension| matches!(extension.author, Author::Own(_)))
    }
}

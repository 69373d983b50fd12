//! What a worker presents to the store, and the line of its log that says so.

use crate::ids::{FencingToken, GrantId, OwnerDigest};
use crate::store::Attempt;
use std::fmt::Debug;

/// What a worker presents to the store.
#[derive(Debug, Clone, Default)]
pub(super) struct Claim {
    /// The lock under which it works, or should.
    pub(super) key: String,
    /// Digest of the owner token; for the log alone.
    pub(super) owner: Option<OwnerDigest>,
    pub(super) grant: Option<GrantId>,
    pub(super) fencing: Option<FencingToken>,
}

impl Claim {
    /// Of one who has never been granted the lock.
    pub(super) fn without_grant(key: &str) -> Self {
        Claim {
            key: key.to_owned(),
            ..Claim::default()
        }
    }

    /// One line of the log: who put what to the store, and what it answered.
    pub(super) fn tell(&self, (verb, attempt): (&str, &Attempt), answer: &dyn Debug) {
        tracing::info!(
            lock.key = self.key,
            lock.owner = self.owner.as_ref().map(tracing::field::display),
            lock.grant = self.grant.as_ref().map(tracing::field::display),
            lock.fencing = self.fencing.map(|token| token.0),
            resource = attempt.resource,
            attempt = attempt.write,
            job = attempt.job,
            ?answer,
            "store {verb}"
        );
    }
}

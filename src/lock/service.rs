//! What a back end does: five commands, each bounded in time. Everything else (identity, deadline,
//! renewal, loss, waiting) is written once, above this trait.
//!
//! A back end refuses to guess. An answer is given only if the server gave it; whatever else
//! happened is a [`CommandError`], *failed* if it definitely had no effect and *unknown* if not.

use crate::ids::{FencingToken, OwnerToken};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use async_trait::async_trait;
use std::time::Duration;
use tokio::time::Instant;

/// Where a lock lives: a prefix that belongs to the manager and a key that names the resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LockName {
    /// In front of every key.
    pub prefix: String,
    /// The resource; never empty.
    pub key: String,
}

/// One command for one attempt or grant.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// Which lock.
    pub name: &'a LockName,
    /// Proof of ownership.
    pub owner: &'a OwnerToken,
    /// The grant's fencing token, once it is known.
    pub fencing: Option<FencingToken>,
    /// Requested lease, whole milliseconds, ≥ 1.
    pub lease: Duration,
    /// The command must have returned by then, hung socket or not.
    pub until: Instant,
}

impl Ask<'_> {
    /// The lease in milliseconds.
    pub fn lease_ms(&self) -> u64 {
        u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX)
    }
}

/// The server's answer to an acquire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcquireAnswer {
    /// Ours, now or since an earlier send of the same attempt (then the lease is not refreshed).
    Granted {
        /// Fencing token, where the back end gives one; the same for a resend.
        fencing: Option<FencingToken>,
        /// The lease that the server gave.
        lease: Duration,
    },
    /// Somebody else's.
    Busy {
        /// For how long yet, if the server knows.
        remaining: Option<Duration>,
    },
}

/// The server's answer to a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenewAnswer {
    /// The lease runs from anew.
    Renewed {
        /// The lease that the server gave.
        lease: Duration,
    },
    /// There is no such lock; it was not created again.
    Absent,
    /// Somebody else holds it; it was not touched.
    Foreign,
}

/// The server's answer to a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseAnswer {
    /// It was ours and is gone.
    Released,
    /// Nothing of ours was there.
    NotOurs,
}

/// Woken when a lock may have become free.
#[async_trait]
pub trait Wake: Send {
    /// Already listening: [`Wake::woken`] would send nothing.
    fn listening(&self) -> bool;

    /// Returns once after each wake-up. Dropping the future and asking again loses nothing. A
    /// broken wake-up never returns (the waiter's poll is the floor) and never spins.
    async fn woken(&mut self);
}

/// How far a property reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// As long as the back end works at all.
    Guaranteed,
    /// Only so far as the sentence says.
    BestEffort(&'static str),
    /// Not at all.
    Absent,
}

/// What a back end promises, for reports and `list locks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Fencing tokens rise strictly with each grant of a key.
    pub fencing: Promise,
    /// At most one owner by the server's truth.
    pub exclusion: Promise,
    /// Waiters are let in in the order of their arrival.
    pub fair: Promise,
    /// A release wakes a waiter (otherwise waiters only poll).
    pub wakes: bool,
}

/// A back end.
#[async_trait]
pub trait LockService: Send + Sync {
    /// The defect built in on purpose, if any. The lock core asks for those that live above the
    /// back end.
    fn flaw(&self) -> Option<Flaw> {
        None
    }

    /// One atomic step: test, set the owner with a lease, mint the fencing token.
    ///
    /// # Errors
    /// When the server gave no answer.
    async fn acquire(&self, ask: &Ask<'_>) -> Result<AcquireAnswer, CommandError>;

    /// One atomic step: compare the owner, extend the lease.
    ///
    /// # Errors
    /// When the server gave no answer.
    async fn renew(&self, ask: &Ask<'_>) -> Result<RenewAnswer, CommandError>;

    /// One atomic step: compare the owner, delete; then wake one waiter.
    ///
    /// # Errors
    /// When the server gave no answer.
    async fn release(&self, ask: &Ask<'_>) -> Result<ReleaseAnswer, CommandError>;

    /// How many replicas have this attempt's grant, as soon as `wanted` have it or a part of the
    /// time is over; 0 if the grant is not there any more.
    ///
    /// # Errors
    /// When the server gave no answer, or this back end has no replicas that could be asked.
    async fn copies(&self, ask: &Ask<'_>, wanted: u64) -> Result<u64, CommandError> {
        let _ = (ask, wanted);
        let why = "no replica of this lock can be asked";
        Err(CommandError::Failed(why.to_owned()))
    }

    /// What is left of the present lease; none if the lock is free or has no lease (a foreign key).
    ///
    /// # Errors
    /// When the server gave no answer.
    async fn remaining(
        &self,
        name: &LockName,
        until: Instant,
    ) -> Result<Option<Duration>, CommandError>;

    /// The next fencing token, drawn without the lock: known to be wrong, since nobody granted
    /// anything. For experiments; nothing in the lock core asks for it.
    ///
    /// # Errors
    /// When the server gave no answer, or this lock has no counter that can be asked by itself.
    async fn draw(&self, name: &LockName, until: Instant) -> Result<FencingToken, CommandError> {
        let _ = (name, until);
        let why = "no counter of this lock can be asked by itself";
        Err(CommandError::Failed(why.to_owned()))
    }

    /// A wake-up for one waiter. Dropping it leaves nothing behind.
    fn watch(&self, name: &LockName) -> Box<dyn Wake>;
}

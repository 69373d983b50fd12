//! What the lock core tells whoever watches it: each command before it leaves, each answer, each
//! loss. Called synchronously, so that a recorder can write its line before the effect.

use crate::ids::{FencingToken, GrantId, OwnerDigest};

/// One thing that the lock core is about to do or has just learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal<'a> {
    /// A command is about to leave. Paired with one [`Signal::Answered`] of the same `command`
    /// and `grant`, unless the future is dropped or the process dies in between.
    Sending {
        /// Which.
        command: Command,
        /// The attempt or grant it is for.
        grant: &'a GrantId,
        /// Digest of the owner token it carries.
        owner: &'a OwnerDigest,
    },
    /// Its answer.
    Answered {
        /// Which.
        command: Command,
        /// The attempt or grant.
        grant: &'a GrantId,
        /// What it means.
        answer: Reply,
    },
    /// Replicas were asked whether they have a grant, before its answer is told.
    Copies {
        /// The grant.
        grant: &'a GrantId,
        /// How many had to have it.
        wanted: u64,
        /// How many had it in time; none if that is not known.
        have: Option<u64>,
    },
    /// The handle says Lost; told once a grant.
    Lost {
        /// The grant.
        grant: &'a GrantId,
        /// Why.
        reason: &'a str,
        /// The handle's own deadline, on the manager's clock, ns.
        deadline_ns: u64,
    },
}

/// A command of the lock core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Command {
    /// One acquire attempt.
    Acquire,
    /// A renewal by the renewal task.
    AutoRenew,
    /// A renewal that the caller asked for.
    Renew,
    /// A release.
    Release,
}

/// What a reply means. Unknown is never told as busy, success or failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Acquired.
    Granted {
        /// Fencing token, where the back end gives one.
        fencing: Option<FencingToken>,
        /// The lease that the server gave, milliseconds.
        lease_ms: u64,
    },
    /// Somebody else holds it.
    Busy,
    /// The lease was extended.
    Renewed,
    /// The lock is lost, with the reason.
    Lost(String),
    /// The lock was given back.
    Released,
    /// There was nothing of ours.
    AlreadyLost,
    /// Definitely not executed.
    Failed(String),
    /// May or may not have been executed.
    Unknown(String),
}

/// Receives every signal, on the task that causes it. Must not block for long.
pub trait Probe: Send + Sync {
    /// Called for each signal.
    fn on(&self, signal: Signal<'_>);

    /// Whether commands and answers are heard at all: what tells of them is only made for a probe
    /// that listens.
    fn listens(&self) -> bool {
        true
    }
}

/// A probe that hears nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Probe for Silent {
    fn on(&self, _signal: Signal<'_>) {}

    fn listens(&self) -> bool {
        false
    }
}

//! What can go wrong, with the one distinction that matters kept in the types: *definitely not
//! executed* and *may have been executed* are never the same value.

use crate::address::WrongAddress;
use crate::redis_link::NoAnswer;
use std::time::Duration;

/// A command to a back end that brought no answer of its own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// Definitely not executed: nothing was sent, or the server refused before doing anything.
    #[error("not executed: {0}")]
    Failed(String),
    /// May or may not have been executed, now or later.
    #[error("outcome unknown: {0}")]
    Unknown(String),
}

impl From<NoAnswer> for CommandError {
    fn from(no_answer: NoAnswer) -> CommandError {
        match no_answer {
            NoAnswer::NotSent(why) | NoAnswer::Refused(_, why) => CommandError::Failed(why),
            NoAnswer::Unknown(why) => CommandError::Unknown(why),
        }
    }
}

/// Why an operation of the lock core has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// Keys name a real resource; an empty one names nothing.
    #[error("the key is empty")]
    EmptyKey,
    /// The operating system gave no random bytes for an owner token.
    #[error("no random bytes for an owner token: {0}")]
    NoRandomness(String),
    /// The address cannot be understood.
    #[error("`{address}` is not an address: {why}")]
    Address {
        /// As it was given.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// This back end has no such flaw.
    #[error("back end `{backend}` has no flaw `{flaw}`")]
    NoSuchFlaw {
        /// Name of the back end.
        backend: &'static str,
        /// Name of the flaw.
        flaw: &'static str,
    },
    /// The command definitely had no effect (unreachable, refused).
    #[error("the lock service did not execute it: {0}")]
    Failed(String),
    /// Granted, but the answer came when the lease had ended by our own clock. It was given back.
    #[error("granted too late: the lease had ended before the answer came")]
    TooLate,
}

impl From<WrongAddress> for LockError {
    fn from(WrongAddress { address, why }: WrongAddress) -> LockError {
        LockError::Address { address, why }
    }
}

/// Why a wait ended without the lock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnterError {
    /// The deadline passed while somebody else held the lock.
    #[error("the lock was held by another until the deadline")]
    TimedOut,
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
    /// Somebody else holds it; this attempt is over. Acquire anew to wait.
    #[error("held by another")]
    Busy,
    /// This handle's lease has ended. It does not come back: acquire anew.
    #[error("the lease of this handle has ended")]
    Expired,
    /// This handle has been released.
    #[error("this handle has been released")]
    Released,
    /// The deadline passed while it was not known whether the lock had been granted. What may
    /// have been granted is being given back; at worst it lives until its lease ends.
    #[error("outcome unknown at the deadline: {0}")]
    Unknown(String),
    /// The deadline passed while the lock service could not be used.
    #[error(transparent)]
    Failed(#[from] LockError),
}

/// Why options are refused, before anything is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// No server keeps a shorter lease.
    #[error("a lease of {0:?} is too short; the least is 1ms")]
    LeaseTooShort(Duration),
    /// A lease without an end in sight is no lease.
    #[error("a lease of {0:?} is too long; the most is 365 days")]
    LeaseTooLong(Duration),
    /// The lease would end before, or when, it is first renewed.
    #[error("a renewal interval of {interval:?} is not below the lease of {lease:?}")]
    IntervalNotBelowLease {
        /// Renewal interval.
        interval: Duration,
        /// Lease.
        lease: Duration,
    },
}

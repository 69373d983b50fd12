//! What events speak of: operations and their answers, changes of a key, looks at threads.

use crate::ids::{FencingToken, GrantId, OwnerDigest};
use serde::{Deserialize, Serialize};

/// Who an event comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The lab itself.
    Lab,
    /// A worker process, by name.
    Worker(String),
    /// The observer of a lock server, by the server's name.
    Server(String),
    /// The protected store's own log, or that of the queue beside it.
    Store,
}

/// What the kernel told a parent of its child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildChange {
    /// Stopped by a signal.
    Stopped,
    /// Continued by SIGCONT.
    Continued,
}

/// What an operation asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Call {
    /// Script step: one attempt.
    Acquire,
    /// Script step: wait for the lock.
    Enter {
        /// Longest wait, milliseconds.
        wait_ms: u64,
    },
    /// One acquire command on the wire, inside an `acquire` or `enter`.
    Attempt {
        /// Identity of the attempt, and of the grant it may become.
        grant: GrantId,
        /// Digest of its owner token.
        owner: OwnerDigest,
    },
    /// One renewal command on the wire.
    Renew {
        /// Whose lease.
        grant: GrantId,
        /// By the renewal task, not by a script step.
        auto: bool,
    },
    /// One release command on the wire.
    Release {
        /// Which grant.
        grant: GrantId,
    },
    /// `is_locked` was asked.
    Check {
        /// Which grant; none if the worker has no handle.
        grant: Option<GrantId>,
    },
    /// A write to the protected store.
    Write {
        /// Its id, `<worker>.write.<n>`.
        write: String,
        /// The write that the writer had read before.
        based_on: Option<String>,
        /// The grant it claims.
        grant: Option<GrantId>,
        /// The fencing token it presents.
        fencing: Option<FencingToken>,
    },
    /// The store is told the fencing token on entry.
    Seal {
        /// The grant.
        grant: GrantId,
        /// Its fencing token.
        fencing: Option<FencingToken>,
    },
    /// A read of the protected store, by a write that must know what it builds on.
    Read,
    /// A `read` step: a read of the protected store under what the worker has.
    ReadUnder {
        /// Its id, `<worker>.read.<n>`.
        read: String,
        /// The grant it claims.
        grant: Option<GrantId>,
        /// The fencing token it presents.
        fencing: Option<FencingToken>,
    },
    /// A job is put into the queue beside the store.
    Publish {
        /// The step, `<worker>.publish.<n>` or `<worker>.relay.<n>`.
        publish: String,
        /// The job.
        message: String,
    },
    /// Whatever is in the outbox is published.
    Relay,
    /// A fencing token is drawn from the lock's counter without the lock.
    Refence,
    /// Work.
    Hold,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It took effect, or the question was answered.
    Ok,
    /// It definitely had no effect.
    Fail,
    /// Unknown.
    Info,
}

/// What an operation answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// The lock was granted.
    Granted {
        /// The grant.
        grant: GrantId,
        /// Its fencing token, where the back end gives one.
        fencing: Option<FencingToken>,
        /// The lease that the server gave, milliseconds.
        lease_ms: u64,
    },
    /// Somebody else holds it.
    Busy,
    /// The lease was extended.
    Renewed,
    /// The lock is lost.
    Lost {
        /// Why.
        reason: String,
    },
    /// The lock was given back.
    Released,
    /// There was nothing of ours to give back.
    AlreadyLost,
    /// Answer of `is_locked`.
    Locked {
        /// The handle says that it holds.
        locked: bool,
    },
    /// The store took the write.
    Accepted,
    /// The store refused the write.
    Rejected {
        /// The highest fencing token it knows.
        highest: Option<FencingToken>,
    },
    /// What the store holds.
    Value {
        /// Write id whose value stands.
        write: Option<String>,
    },
    /// The fencing token that was drawn without the lock.
    Drawn {
        /// The token.
        fencing: FencingToken,
    },
    /// Done, with nothing to tell.
    Done,
    /// The wait ended without the lock.
    TimedOut,
    /// An error, in words.
    Error {
        /// The message; no secrets.
        message: String,
    },
}

/// One change of a lock key or its counter, as the server applied it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    /// The key was set: a grant, or an overwrite.
    Set {
        /// Digest of the owner token in the value.
        owner: OwnerDigest,
        /// Fencing token in the value, where the back end keeps it there.
        fencing: Option<FencingToken>,
        /// Absolute deadline by the server's wall clock, milliseconds; none = no lease.
        until_ms: Option<u64>,
    },
    /// The key's deadline was moved.
    Extended {
        /// New absolute deadline by the server's wall clock, milliseconds; none = lease removed.
        until_ms: Option<u64>,
    },
    /// The key was deleted: by a command or because it had expired.
    Deleted,
    /// Everything was deleted.
    Flushed,
    /// The server was started again; this is what it holds of the key, read before anybody else
    /// could reach it.
    Restarted {
        /// Digest of the owner token in the value; none = no key.
        owner: Option<OwnerDigest>,
        /// Fencing token in the value.
        fencing: Option<FencingToken>,
        /// Absolute deadline by the server's wall clock, milliseconds; none = no key or no lease.
        until_ms: Option<u64>,
    },
    /// The server threw away what it had and took a copy of another server; this is what it holds
    /// of the key since then.
    Copied {
        /// Digest of the owner token in the value; none = no key.
        owner: Option<OwnerDigest>,
        /// Fencing token in the value.
        fencing: Option<FencingToken>,
        /// Absolute deadline by the server's wall clock, milliseconds; none = no key or no lease.
        until_ms: Option<u64>,
    },
    /// The fencing counter changed.
    Counter {
        /// Its new value, where the stream tells it.
        value: Option<u64>,
    },
}

/// What an attempt in the store's log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptKind {
    /// A write of business data.
    Write,
    /// A raise of the mark on entry.
    Seal,
    /// A read of business data.
    Read,
}

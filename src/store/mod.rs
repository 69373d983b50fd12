//! Protected stores: what the lock is for.
//!
//! A store takes a write only if its fencing token is not older than the newest it has seen:
//! accepted if `fencing > highest`, or `fencing == highest` and the same grant. Every attempt,
//! rejected ones too, is logged by the store in its own order, in the same transaction. `racy`
//! and `off` are known to be bad and exist to show what goes wrong. A store is never the
//! instance that the lock uses.
//!
//! How to add one: a file with a type that implements [`ProtectedStore`] and a `KIND`, and its
//! two lines here.

use crate::ids::{FencingToken, GrantId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;

mod answer;
mod kinds;
pub mod postgres;
pub mod queue;
pub mod redis;
pub mod rule;
mod spec;
pub mod sqlite;
mod wall_time;

pub use answer::{ReadAnswer, StoreAnswer};
pub use spec::{Condition, Fence, Reads, StoreSpec};

/// What is put to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptKind {
    /// A write of business data.
    Write,
    /// A raise of the mark on entry.
    Seal,
    /// A read of business data.
    Read,
}

/// One write, seal or read as it is put to the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// Resource.
    pub resource: String,
    /// `<worker>.write.<n>`, `<worker>.seal.<n>` or `<worker>.read.<n>`; unique.
    pub write: String,
    /// The write that the writer had read before; in the log, of a read: the write that was shown.
    pub based_on: Option<String>,
    /// The grant that it claims; none if the writer has none.
    pub grant: Option<GrantId>,
    /// The fencing token that it presents; none if its lock gives none.
    pub fencing: Option<FencingToken>,
    /// The job that it does, if it does one; a seal never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// It is made only if its job is still pending; else it changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub if_pending: bool,
}

/// One line of the store's own log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// Place in the store's order, from 1, without gaps.
    pub n: u64,
    /// Write, seal or read.
    pub kind: AttemptKind,
    /// What was put to the store.
    pub attempt: Attempt,
    /// Accepted or not; what was done before counts as accepted.
    pub accepted: bool,
    /// Its job had been done before: nothing changed but the log.
    pub done_before: bool,
    /// Highest fencing token known before this attempt.
    pub highest: Option<FencingToken>,
    /// Lab time at which it was applied, ns.
    pub applied_ns: u64,
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The write whose value stands, none if never written.
    pub write: Option<String>,
    /// Highest fencing token accepted.
    pub highest: Option<FencingToken>,
    /// How often each job has taken effect, by name.
    pub jobs: BTreeMap<String, u64>,
}

/// A store could not be opened or read.
#[derive(Debug, thiserror::Error)]
#[error("store `{location}`: {message}")]
pub struct StoreError {
    /// Where it is.
    pub location: String,
    /// What went wrong.
    pub message: String,
}

/// Called at the last moment before the store is changed: for `atomic` and `off` just before the
/// one statement leaves, for `racy` between its read and its write. May block; never called
/// inside a transaction that would block other writers.
pub type Armed<'a> = &'a (dyn Fn() + Send + Sync);

/// What every store does.
#[async_trait::async_trait]
pub trait ProtectedStore: Send {
    /// One attempt under this store's fence, with the write that a read was shown.
    async fn put(
        &mut self,
        attempt: &Attempt,
        kind: AttemptKind,
        armed: Armed<'_>,
    ) -> (StoreAnswer, Option<String>);

    /// Writes, if the fencing token allows it.
    async fn write(&mut self, attempt: &Attempt, armed: Armed<'_>) -> StoreAnswer {
        self.put(attempt, AttemptKind::Write, armed).await.0
    }

    /// Raises the mark on entry, so that an older holder is refused before the first write.
    async fn seal(&mut self, attempt: &Attempt) -> StoreAnswer {
        self.put(attempt, AttemptKind::Seal, &|| ()).await.0
    }

    /// Reads what stands, if [`Reads`] allows it to this fencing token, and logs that it was read.
    async fn show(&mut self, attempt: &Attempt, armed: Armed<'_>) -> ReadAnswer {
        let (answer, shown) = self.put(attempt, AttemptKind::Read, armed).await;
        ReadAnswer::of(answer, shown)
    }

    /// The jobs in the outbox that are not known to be published, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn outbox(&mut self, resource: &str) -> Result<Vec<String>, StoreError>;

    /// Takes jobs out of the outbox: they are published.
    ///
    /// # Errors
    /// When the store did not say that it did; it may have.
    async fn published(&mut self, resource: &str, jobs: &[String]) -> Result<(), StoreError>;

    /// What a resource holds now, for whoever only looks on: no fence, no line in the log.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn read(&mut self, resource: &str) -> Result<Standing, StoreError>;

    /// Every attempt so far, in the store's order.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn log(&mut self) -> Result<Vec<Logged>, StoreError>;
}

/// What opening a store brings.
pub type Opening =
    Pin<Box<dyn Future<Output = Result<Box<dyn ProtectedStore>, StoreError>> + Send>>;

/// A server that the lab starts for a store before it is created, beside the lock's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreServer {
    /// An empty `redis-server`.
    Redis,
    /// A `postgres` that nobody has used.
    Postgres,
}

impl StoreServer {
    /// The location of a store on such a server.
    pub fn location(self, address: SocketAddr) -> String {
        match self {
            StoreServer::Redis => format!("redis://{address}"),
            StoreServer::Postgres => format!("postgres://{address}"),
        }
    }
}

/// One entry of the registry.
pub struct StoreKind {
    /// Name in experiment files.
    pub name: &'static str,
    /// One line for `list stores`.
    pub summary: &'static str,
    /// The server that it lives on; none if its location is a file.
    pub server: Option<StoreServer>,
    /// Creates what the store needs (tables) before the first worker opens it, then opens it.
    pub create: fn(&StoreSpec) -> Opening,
    /// Opens an existing store.
    pub open: fn(&StoreSpec) -> Opening,
}

/// Every store.
pub const ALL: &[&StoreKind] = &[&sqlite::KIND, &redis::KIND, &postgres::KIND];

/// The store of this name.
pub fn find(name: &str) -> Option<&'static StoreKind> {
    ALL.iter().copied().find(|kind| kind.name == name)
}

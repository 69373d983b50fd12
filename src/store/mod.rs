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
use rule::{Decision, JobRule, Mark, Ruling};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

mod answer;
pub mod http;
mod kinds;
pub mod postgres;
pub mod queue;
pub mod redis;
pub mod rule;
mod server;
mod spec;
pub mod sqlite;
mod wall_time;

pub use answer::{ReadAnswer, StoreAnswer, StoreError};
pub use server::StoreServer;
pub use spec::{Condition, Fence, Reads, StoreSpec};

/// What is put to the store.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The write whose value stands, none if never written.
    pub write: Option<String>,
    /// Highest fencing token accepted.
    pub highest: Option<FencingToken>,
    /// How often each job has taken effect, by name.
    pub jobs: BTreeMap<String, u64>,
}

/// Called at the last moment before the store is changed: for `atomic` and `off` just before the
/// one statement leaves, for `racy` between its read and its write. May block; never called
/// inside a transaction that would block other writers.
pub type Armed<'a> = &'a (dyn Fn() + Send + Sync);

/// What every store does.
#[async_trait::async_trait]
pub trait ProtectedStore: Send {
    /// What it was opened with.
    fn spec(&self) -> &StoreSpec;

    /// The mark of a resource as it stands now.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn mark(&mut self, resource: &str) -> Result<Mark, StoreError>;

    /// How often a job has taken effect by now.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn times_done(&mut self, resource: &str, job: &str) -> Result<u64, StoreError>;

    /// One attempt, in one step, with the write that a read was shown. What was decided is applied,
    /// and what was not is decided in that step.
    async fn put(
        &mut self,
        attempt: &Attempt,
        ruled: (AttemptKind, Ruling),
        armed: Armed<'_>,
    ) -> (StoreAnswer, Option<String>);

    /// What the client itself decides beforehand, where the store is to compare like that.
    ///
    /// # Errors
    /// When it has to look and the store cannot be read.
    async fn ruling(&mut self, attempt: &Attempt, kind: AttemptKind) -> Result<Ruling, StoreError> {
        let spec = self.spec();
        let (once, decided, job) = (spec.once, spec.decision(kind), spec.job_rule(attempt));
        let decision = match decided {
            Some(decision) => decision,
            None => Decision::Before {
                admitted: self.mark(&attempt.resource).await?.admits(attempt, once),
            },
        };
        let job = match (job, &attempt.job) {
            (Some(job), _) => job,
            (None, None) => JobRule::Blind,
            (None, Some(job)) => JobRule::seen(self.times_done(&attempt.resource, job).await?),
        };
        Ok((decision, job))
    }

    /// One attempt under this store's fence, with the write that a read was shown.
    async fn attempt(
        &mut self,
        attempt: &Attempt,
        kind: AttemptKind,
        armed: Armed<'_>,
    ) -> (StoreAnswer, Option<String>) {
        match self.ruling(attempt, kind).await {
            Ok(ruling) => self.put(attempt, (kind, ruling), armed).await,
            Err(error) => (StoreAnswer::Failed(error.message), None),
        }
    }

    /// Writes, if the fencing token allows it.
    async fn write(&mut self, attempt: &Attempt, armed: Armed<'_>) -> StoreAnswer {
        self.attempt(attempt, AttemptKind::Write, armed).await.0
    }

    /// Raises the mark on entry, so that an older holder is refused before the first write.
    async fn seal(&mut self, attempt: &Attempt) -> StoreAnswer {
        self.attempt(attempt, AttemptKind::Seal, &|| ()).await.0
    }

    /// Reads what stands, if [`Reads`] allows it to this fencing token, and logs that it was read.
    async fn show(&mut self, attempt: &Attempt, armed: Armed<'_>) -> ReadAnswer {
        let (answer, shown) = self.attempt(attempt, AttemptKind::Read, armed).await;
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
pub const ALL: &[&StoreKind] = &[&sqlite::KIND, &redis::KIND, &postgres::KIND, &http::KIND];

/// The store of this name.
pub fn find(name: &str) -> Option<&'static StoreKind> {
    ALL.iter().copied().find(|kind| kind.name == name)
}

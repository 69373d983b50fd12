//! The back ends, and the one list of them.
//!
//! How to add one: a file with a type that implements [`LockService`] and a [`LockKind`], its
//! line in [`ALL`], and the shared conformance suite passes over it.

use crate::ids::FencingToken;
use crate::lock::error::{CommandError, LockError};
use crate::lock::flaws::Flaw;
use crate::lock::probe::Command;
use crate::lock::service::{Capabilities, LockService, Promise};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub mod etcd;
mod etcd_ear;
mod etcd_steps;
mod etcd_words;
pub mod memory;
pub mod postgres;
pub mod postgres_advisory;
mod postgres_by_session;
mod postgres_ear;
pub mod postgres_row;
mod postgres_sessions;
mod postgres_words;
mod queue_ear;
pub mod redis;
mod redis_asked;
pub mod redis_cluster;
mod redis_copies;
mod redis_ear;
mod redis_found;
mod redis_lock;
mod redis_renewal;
mod redis_route;
mod redis_scripts;
mod redis_second;
pub mod redis_sentinel;
pub mod redis_slots;
pub mod redlock;
mod redlock_attempt;
pub mod redlock_count;
mod redlock_ears;
mod redlock_voters;
mod redlock_words;
pub mod zookeeper;
mod zookeeper_ear;
mod zookeeper_sessions;
mod zookeeper_steps;
mod zookeeper_words;

pub use redis_found::Via;

/// Called right before the last command of an acquire leaves; may block its caller.
#[derive(Clone)]
pub struct Armed(pub Arc<dyn Fn() + Send + Sync>);

impl fmt::Debug for Armed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Armed")
    }
}

/// What a back end is connected with.
#[derive(Debug, Clone)]
pub struct ConnectSpec {
    /// `host:port`, several of them with commas between where there are several, or any name for
    /// `memory`.
    pub address: String,
    /// Addresses that the servers themselves hand out, and the way that we reach each by; one that
    /// is not in it is taken as it is.
    pub via: Via,
    /// A defect to build in; none = the sound code.
    pub flaw: Option<Flaw>,
    /// Who connects, as a server that shows its sessions is to show it.
    pub client: Option<String>,
    /// For experiments: is told when an acquire is about to be decided.
    pub armed: Option<Armed>,
}

impl ConnectSpec {
    /// The sound code at this address.
    pub fn new(address: impl Into<String>) -> Self {
        ConnectSpec {
            address: address.into(),
            via: Via::new(),
            flaw: None,
            client: None,
            armed: None,
        }
    }

    /// With other ways to the addresses that the servers hand out.
    #[must_use]
    pub fn via(mut self, via: Via) -> Self {
        self.via = via;
        self
    }

    /// With a defect.
    #[must_use]
    pub fn flawed(mut self, flaw: Flaw) -> Self {
        self.flaw = Some(flaw);
        self
    }

    /// With somebody who is told right before the last command of each acquire leaves.
    #[must_use]
    pub fn arming(mut self, armed: Arc<dyn Fn() + Send + Sync>) -> Self {
        self.armed = Some(Armed(armed));
        self
    }
}

/// What connecting brings.
pub type Connecting = Pin<Box<dyn Future<Output = Result<Arc<dyn LockService>, LockError>> + Send>>;

/// Which servers a kind of lock lives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Servers {
    /// None.
    None,
    /// One Redis server; the address is its.
    Redis,
    /// A Redis primary, its replicas, and sentinels; the address lists the sentinels.
    Sentinel,
    /// A Redis Cluster; the address lists nodes of it.
    Cluster,
    /// Redis servers that know nothing of each other, and a quorum of them decides; the address
    /// lists them.
    Voters,
    /// One Postgres server.
    Postgres,
    /// The same, where sessions hold the locks: of their end no stream of changes tells.
    PostgresSessions,
    /// An etcd; the address lists its members.
    Etcd,
    /// A ZooKeeper; the address lists its members.
    Zookeeper,
}

/// What most back ends promise of their waiters.
const IN_TURN: Promise =
    Promise::BestEffort("waiters are woken in the order of their arrival; a newcomer may overtake");

/// Whether the locks of a back end live on such servers.
pub fn live_on(name: &str, servers: Servers) -> bool {
    named(name).is_some_and(|kind| kind.servers == servers)
}

/// One entry of the registry.
pub struct LockKind {
    /// Name in experiment files.
    pub name: &'static str,
    /// One line for `list locks`.
    pub summary: &'static str,
    /// What it promises.
    pub capabilities: Capabilities,
    /// What has to run for it.
    pub servers: Servers,
    /// Its locks exist within one process: two processes never meet at them.
    pub within_one_process: bool,
    /// The defects that can be built into it, beside those above every back end.
    pub flaws: &'static [Flaw],
    /// Byte strings of which one is in every request of this kind and in none of another, so that
    /// somebody on the way can choose it; none where that cannot be done.
    pub on_the_wire: fn(Option<Flaw>, Command) -> Vec<String>,
    /// Connects, so that a wrong address is found before the first lock is taken.
    pub connect: fn(ConnectSpec) -> Connecting,
}

/// The defects of what stands above every back end, so that each can have them.
const ABOVE: &[Flaw] = &[
    Flaw::DeadlineFromReply,
    Flaw::TimeoutMeansBusy,
    Flaw::IgnoresRenewalFailure,
    Flaw::UnboundedRenewal,
    Flaw::SwallowsReleaseError,
    Flaw::FailsOpen,
    Flaw::HotPoll,
    Flaw::WallClockDeadline,
];

impl LockKind {
    /// Whether this defect can be built into it.
    pub fn takes(&self, flaw: Flaw) -> bool {
        ABOVE.contains(&flaw) || self.flaws.contains(&flaw)
    }
}

/// Every back end.
pub const ALL: &[LockKind] = &[
    redis::KIND,
    redis_sentinel::KIND,
    redis_cluster::KIND,
    redlock::KIND,
    postgres::KIND,
    postgres_advisory::KIND,
    postgres_row::KIND,
    etcd::KIND,
    zookeeper::KIND,
    memory::KIND,
];

/// The back end of that name.
pub fn named(name: &str) -> Option<&'static LockKind> {
    ALL.iter().find(|kind| kind.name == name)
}

/// An answer that none of our commands has: something ran, but who knows what.
fn nonsense() -> CommandError {
    CommandError::Unknown("the server's answer makes no sense".into())
}

/// A fencing token as a server tells it.
fn fencing_token(number: i64) -> Result<FencingToken, CommandError> {
    u64::try_from(number)
        .map(FencingToken)
        .map_err(|_| nonsense())
}

/// Refuses a flaw that this back end does not have.
fn check_flaw(kind: &'static LockKind, flaw: Option<Flaw>) -> Result<(), LockError> {
    match flaw {
        Some(flaw) if !kind.takes(flaw) => Err(LockError::NoSuchFlaw {
            backend: kind.name,
            flaw: flaw.name(),
        }),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_every_entry_is_described() {
        let names: HashSet<_> = ALL.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|kind| !kind.summary.is_empty()));
        assert!(named("memory").is_some() && named("nothing").is_none());
    }
}

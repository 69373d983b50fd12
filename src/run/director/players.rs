//! Who plays in an arm: the workers and the faults, and where each stands.

use super::DirectorError;
use super::asking::Answered;
use super::waits::Wait;
use crate::env::control::Control;
use crate::env::edge::{EdgeId, ServerProtocol};
use crate::env::etcd;
use crate::env::postgres::stream;
use crate::env::redis::appended::Marks;
use crate::env::zookeeper;
use crate::ids::GrantId;
use crate::plan::{FaultPlan, Service};
use crate::timeline::event::ThreadLook;
use std::fs::File;
use std::net::SocketAddr;

/// One worker process.
#[derive(Debug)]
pub struct Worker {
    /// Process id and process group.
    pub pid: i32,
    /// The write end of its go pipe.
    pub go: File,
    /// What it waits for, if it waits.
    pub wait: Option<Wait>,
    /// What it has answered when it was asked.
    pub answered: Answered,
    /// Its event pipe has ended.
    pub closed: bool,
    /// The kernel has said that it is gone.
    pub exited: bool,
}

/// One server.
#[derive(Debug)]
pub struct Server {
    /// Process id and process group; none for one that somebody else has started.
    pub pid: Option<i32>,
    /// What it serves.
    pub service: Service,
    /// Where it listens.
    pub address: SocketAddr,
    /// What it speaks.
    pub protocol: ServerProtocol,
    /// The observer's connection to it; none for one that never holds what is observed.
    pub control: Option<Control>,
    /// How the observer follows it.
    pub followed: Followed,
    /// Whether it can answer.
    pub standing: Standing,
}

/// How the observer follows a server.
#[derive(Debug)]
pub enum Followed {
    /// Not at all.
    No,
    /// No more: what it does now is no part of the drill.
    Over,
    /// By its replication stream.
    Stream,
    /// By its decoded changes, and how far they have been read.
    Decoded(stream::Shared),
    /// By what it tells of its keys, and how far that has been read.
    Watched(etcd::stream::Shared),
    /// By the log of its changes, and how far that has been read.
    Logged(zookeeper::stream::Shared),
    /// One of several: by its append-only file and its role.
    Appended(Marks),
}

impl Followed {
    /// It is one of several.
    pub const fn is_one_of_several(&self) -> bool {
        matches!(self, Followed::Appended(_))
    }
}

/// Whether a server can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It runs.
    Up,
    /// A fault has stopped it.
    Stopped,
    /// It is being ended, by a fault or because the arm is over.
    Ending,
    /// Its process is gone.
    Gone,
}

/// Whom a fault has hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Struck {
    /// A worker, by name, its process group, and the grant that made it the target.
    Worker(String, i32, Option<GrantId>),
    /// A server, by name, and its process group.
    Server(String, i32),
    /// Edges, and the worker and grant that made them the target, if one did.
    Edges(Vec<EdgeId>, Option<(String, Option<GrantId>)>),
}

impl Struck {
    /// The server that was hit.
    ///
    /// # Errors
    /// When it is no server: no fault's own kind says so.
    pub fn server(&self) -> Result<&str, DirectorError> {
        match self {
            Struck::Server(name, _) => Ok(name),
            Struck::Worker(..) | Struck::Edges(..) => Err(DirectorError::Bug(
                "what only a server can have was done to another".to_owned(),
            )),
        }
    }

    /// The process group; none for what is no process.
    pub const fn pgid(&self) -> Option<i32> {
        match self {
            Struck::Worker(_, pgid, _) | Struck::Server(_, pgid) => Some(*pgid),
            Struck::Edges(..) => None,
        }
    }
}

/// Where a fault stands.
#[derive(Debug)]
pub enum FaultState {
    /// Its trigger is not on the record yet.
    Waiting,
    /// It has begun.
    Active {
        /// Whom it hit.
        struck: Struck,
        /// The look that proved the onset, if it stopped somebody.
        threads: Vec<ThreadLook>,
        /// Lab time at which the effect was seen in full, ns.
        since: u64,
    },
    /// It was healed, or could not begin.
    Over,
}

/// One fault.
#[derive(Debug)]
pub struct Fault {
    /// What the plan says.
    pub plan: FaultPlan,
    /// Where it stands.
    pub state: FaultState,
}

impl Fault {
    /// One whose trigger is not on the record yet.
    pub fn waiting(plan: &FaultPlan) -> Fault {
        Fault {
            plan: plan.clone(),
            state: FaultState::Waiting,
        }
    }
}

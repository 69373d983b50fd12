//! The faults of a plan: what is broken, whom it hits, when, and what ends it.

use serde::{Deserialize, Serialize};

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultPlan {
    /// Name, unique in the drill.
    pub name: String,
    /// Name in the registry of faults.
    pub kind: String,
    /// Whom it hits.
    pub target: Target,
    /// For a fault of the network: which edge of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge: Option<Service>,
    /// For a fault of one request or its reply: which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<ChosenCommand>,
    /// For a jump of a clock: by how much, milliseconds; below 0 = back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_ms: Option<i64>,
    /// Event at which it begins.
    pub when: String,
    /// What ends it; none = it cannot be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heal: Option<Heal>,
}

/// Whom a fault hits; resolved once, at onset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The worker of the one unexpired grant, by the server's truth.
    Holder,
    /// This worker.
    Worker(String),
    /// Every worker at once.
    Everyone,
    /// The server of this service; of several, the one that takes writes at the onset.
    Server(Service),
    /// This one of the several servers that the lock lives on.
    Member(String),
}

/// A service that workers talk to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    /// The lock service.
    Lock,
    /// The protected store, if it lives on a server.
    Store,
}

impl Service {
    /// Its word in files and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Service::Lock => "lock",
            Service::Store => "store",
        }
    }
}

/// One request of a worker to the lock service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChosenCommand {
    /// What it asks.
    pub asks: Asks,
    /// Which of them, counted from the onset, from 1.
    pub nth: u64,
}

/// What a request to the lock service asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asks {
    /// To be granted the lock.
    Acquire,
    /// To have the lease extended.
    Renew,
    /// To give the lock back.
    Release,
}

/// What ends a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Heal {
    /// An event on the record.
    After(String),
    /// Time since the proven onset, milliseconds.
    For(u64),
}

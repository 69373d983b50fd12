//! The lock of a plan.

use crate::lock::backends::redlock_count::quorum;
use serde::{Deserialize, Serialize};

/// The lock under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockPlan {
    /// Name in the registry of lock back ends.
    pub backend: String,
    /// Requested lease, milliseconds, ≥ 1.
    pub lease_ms: u64,
    /// Renewal interval, milliseconds, below the lease; none = no automatic renewal.
    pub renew_ms: Option<u64>,
    /// A named defect built into the lock on purpose; none = the sound code.
    pub flaw: Option<String>,
    /// Key that every worker locks.
    pub key: String,
    /// What renewals run on, beside the script that works.
    #[serde(default, skip_serializing_if = "RunsOn::is_own")]
    pub renewal: RunsOn,
    /// What the service keeps on disk.
    #[serde(default)]
    pub persist: Persist,
    /// A grant counts only when so many replicas are known to have it; 0 = nobody asks them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub copies: u64,
    /// How many of the replicas never take over.
    #[serde(default, skip_serializing_if = "is_none")]
    pub backups: u64,
    /// On how many servers that know nothing of each other it lives, each with a vote; 0 = a lock
    /// that knows no votes.
    #[serde(default, skip_serializing_if = "is_none")]
    pub voters: u64,
}

impl LockPlan {
    /// The servers that have a vote, by name.
    pub fn voters(&self) -> Vec<String> {
        (1..=self.voters).map(|n| format!("redis-{n}")).collect()
    }

    /// How many servers have to hold the lock's key for a grant to be there.
    pub fn quorum(&self) -> usize {
        quorum(usize::try_from(self.voters).unwrap_or(usize::MAX))
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks by reference
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// What a worker's renewals run on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunsOn {
    /// Threads of their own: work never keeps them from running.
    #[default]
    Own,
    /// The script's own thread, whenever a step waits for an answer: work starves them.
    Script,
}

impl RunsOn {
    /// They have threads of their own.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks by reference
    pub fn is_own(&self) -> bool {
        *self == RunsOn::Own
    }
}

/// What a lock service keeps over a restart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Persist {
    /// Nothing.
    #[default]
    None,
    /// What had reached the disk: at most about a second is lost.
    Everysec,
    /// Everything that was answered.
    Always,
}

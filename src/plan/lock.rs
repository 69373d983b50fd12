//! The lock of a plan.

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
    /// What the service keeps on disk.
    #[serde(default)]
    pub persist: Persist,
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

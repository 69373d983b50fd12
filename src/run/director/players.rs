//! Who plays in an arm: the workers and the faults, and where each stands.

use super::waits::Wait;
use crate::plan::FaultPlan;
use crate::timeline::event::ThreadLook;
use std::fs::File;

/// One worker process.
#[derive(Debug)]
pub struct Worker {
    /// Process id and process group.
    pub pid: i32,
    /// The write end of its go pipe.
    pub go: File,
    /// What it waits for, if it waits.
    pub wait: Option<Wait>,
    /// Its event pipe has ended.
    pub closed: bool,
    /// The kernel has said that it is gone.
    pub exited: bool,
}

/// Where a fault stands.
#[derive(Debug)]
pub enum FaultState {
    /// Its trigger is not on the record yet.
    Waiting,
    /// It has begun.
    Active {
        /// Process group that it hit.
        pgid: i32,
        /// The look that proved the onset.
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

//! What one arm will do, with every name resolved and every default explicit.
//!
//! A plan is data: it is written to `plan.json` before anything starts and, for the same
//! experiment file and seed, is byte-identical on every machine: no ports, no times, no paths.
//! The checks read it beside the timeline and read nothing else.

use crate::store::{Condition, Fence, Reads};
use serde::{Deserialize, Serialize};

mod fault;
mod lock;
mod network;
mod server;
mod worker;

pub use fault::{Asks, ChosenCommand, FaultPlan, Heal, Service, Target};
pub use lock::{LockPlan, Persist, RunsOn};
pub use network::{AUTO, NetworkPlan};
pub use server::{Overridden, ServerPlan};
pub use worker::{Fencing, Gate, OnSigterm, Step, StepAction, WorkerPlan};

/// Version of the plan's format.
pub const FORMAT: u32 = 1;

/// Name of the arm without any protection removed.
pub const MAIN_ARM: &str = "main";

/// One arm of one drill, ready to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Format version, [`FORMAT`].
    pub format: u32,
    /// Name of the drill: the stem of its file.
    pub drill: String,
    /// `main`, or the name of the control.
    pub arm: String,
    /// The question that the drill asks, in one sentence.
    pub summary: String,
    /// What a lost lock costs.
    pub class: Class,
    /// Seed of every random choice of this arm.
    pub seed: u64,
    /// The lock under test.
    pub lock: LockPlan,
    /// The protected store.
    pub store: StorePlan,
    /// What stands between the workers and the servers.
    #[serde(default)]
    pub network: NetworkPlan,
    /// The lock's server, where it is not the lab's own.
    #[serde(default, skip_serializing_if = "ServerPlan::is_the_labs")]
    pub server: ServerPlan,
    /// The contenders, in the order of the file.
    pub workers: Vec<WorkerPlan>,
    /// What is broken on purpose, in the order of the file.
    pub faults: Vec<FaultPlan>,
    /// Preconditions that the record must show, or the arm is inconclusive.
    pub evidence: Vec<Evidence>,
    /// Checks that must be put to the test: a vacuous one makes the arm inconclusive.
    pub required_checks: Vec<String>,
    /// Checks whose `unknown` outcome does not make the arm inconclusive; any other's does.
    pub optional_checks: Vec<String>,
    /// What this design cannot hold, said beforehand.
    pub limit: Option<Limit>,
    /// For a control arm: what was removed and what must go red.
    pub control: Option<Control>,
    /// Every control of the drill, in the order of the file: a run without one of them is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<String>,
    /// How long any one trigger, and the arm as a whole after its last trigger, may take before
    /// everything is healed; milliseconds.
    pub patience_ms: u64,
    /// Within this time after the granted lease a free lock must reach a waiting contender;
    /// milliseconds.
    pub recovery_bound_ms: u64,
}

impl Plan {
    /// Some step publishes: there is a queue beside the store.
    pub fn has_queue(&self) -> bool {
        let mut steps = self.workers.iter().flat_map(|worker| &worker.script);
        steps.any(|step| step.action.publishes())
    }

    /// Some step writes only if its job is still pending.
    pub fn has_conditions(&self) -> bool {
        let mut steps = self.workers.iter().flat_map(|worker| &worker.script);
        steps.any(|step| step.action.asks_for_pending())
    }
}

/// What a lost lock costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Overlapping belief is a warning and does not decide.
    Efficiency,
    /// Overlapping work damages data.
    Correctness,
}

/// The protected store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorePlan {
    /// Name in the registry of stores.
    pub kind: String,
    /// How the store compares fencing tokens.
    pub fence: Fence,
    /// The store is told the fencing token on entry, before the first write.
    pub seal: bool,
    /// One write a fencing token only: accept `fencing > highest`, never `==`.
    pub once: bool,
    /// Resource that every worker writes.
    pub resource: String,
    /// Each job takes effect once: a second delivery is answered like the first and changes
    /// nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idempotent: bool,
    /// How a write that asks for a pending job looks at its state.
    #[serde(default, skip_serializing_if = "Condition::is_atomic")]
    pub condition: Condition,
    /// Which reads are answered.
    #[serde(default, skip_serializing_if = "Reads::is_open")]
    pub reads: Reads,
    /// A write that does a job puts it into the outbox in the same step, to be published from there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outbox: bool,
}

/// One precondition that the record must show. Preconditions never speak of results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Evidence {
    /// `W lease ended while F`: by the server's truth, a lease of W ended inside F's window.
    LeaseEnded {
        /// Whose lease.
        worker: String,
        /// The fault, or the step `worker.verb.n`.
        fault: String,
    },
    /// `W granted while F`: by the server's truth, W was granted inside F's window.
    Granted {
        /// Who was granted.
        worker: String,
        /// The fault, or the step `worker.verb.n`.
        fault: String,
    },
    /// `W copied while F`: by the servers' truth, another server had a grant that W was made inside
    /// F's window.
    Copied {
        /// Who was granted.
        worker: String,
        /// The fault, or the step `worker.verb.n`.
        fault: String,
    },
    /// `W granted N times`: by the server's truth, W (or all of a group together) was granted at
    /// least so often.
    GrantedTimes {
        /// Worker, or name of a group of workers.
        worker: String,
        /// How often at least.
        times: u64,
    },
    /// `W waited N times`: W (or a group) asked for the lock while, by the server's truth, somebody
    /// else held it, at least so often.
    Waited {
        /// Worker, or name of a group of workers.
        worker: String,
        /// How often at least.
        times: u64,
    },
    /// `W.write.N reached the store after V.write.M`: by the store's log, accepted or not; of
    /// `read` steps too.
    ReachedAfter {
        /// The later one, `worker.write.n` or `worker.read.n`.
        late: String,
        /// The earlier one, `worker.write.n` or `worker.read.n`.
        early: String,
    },
    /// `F began within D of G`: fault F was injected after fault G, and no later than this.
    BeganWithin {
        /// The later fault.
        fault: String,
        /// The earlier fault.
        of: String,
        /// Longest time from the beginning of the earlier to the effect of the later, ms.
        within_ms: u64,
    },
}

/// What this design cannot hold, said before the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Checks that must come out violated.
    pub checks: Vec<String>,
    /// Why this design cannot hold them, in one sentence.
    pub why: String,
}

/// What a control removes and what must then go red.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// The one path of the plan that differs from the main arm, e.g. `store.fence`.
    pub path: String,
    /// Its value in the main arm, as JSON.
    pub from: serde_json::Value,
    /// Its value in this arm, as JSON.
    pub to: serde_json::Value,
    /// The check that must be violated.
    pub check: String,
    /// The worker or fault that must be its witness.
    pub by: String,
    /// Checks that may be violated too.
    pub also: Vec<String>,
}

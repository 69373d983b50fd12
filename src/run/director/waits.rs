//! What each waiting worker waits for, and when that is satisfied.

use crate::plan::{Plan, StepAction, WorkerPlan};
use std::collections::BTreeSet;

/// What must be true before a waiting worker gets its byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The point at which it waits.
    pub point: String,
    /// The event that its script or its start awaits.
    pub event: Option<String>,
    /// Faults that this very point triggers: each must have begun, or have failed to.
    pub faults: Vec<String>,
    /// Lab time at which the wait began, ns.
    pub since: u64,
}

/// Points at which workers must wait: each at its start, until everybody is ready, and wherever a
/// fault begins.
pub fn parks(plan: &Plan) -> BTreeSet<String> {
    let faults = plan.faults.iter().map(|fault| fault.when.clone());
    let starts = plan.workers.iter().map(|worker| start_of(&worker.name));
    faults.chain(starts).collect()
}

/// The point at which a worker stands once it is connected to everything that it needs.
pub fn start_of(worker: &str) -> String {
    format!("{worker}.start")
}

/// What a worker that reports `point` waits for.
pub fn wait_at(plan: &Plan, worker: &str, point: &str, since: u64) -> Wait {
    let event = plan
        .workers
        .iter()
        .find(|candidate| candidate.name == worker)
        .and_then(|worker| awaited_event(worker, point));
    let faults = plan.faults.iter().filter(|fault| fault.when == point);
    Wait {
        point: point.to_owned(),
        event,
        faults: faults.map(|fault| fault.name.clone()).collect(),
        since,
    }
}

fn awaited_event(worker: &WorkerPlan, point: &str) -> Option<String> {
    if point == format!("{}.start", worker.name) {
        return worker.start.clone();
    }
    let step = worker
        .script
        .iter()
        .find(|step| point == format!("{}.{}.before", worker.name, step.name))?;
    match &step.action {
        StepAction::Await { event } | StepAction::HoldUntil { event } => Some(event.clone()),
        StepAction::Acquire
        | StepAction::Enter { .. }
        | StepAction::Check
        | StepAction::Write
        | StepAction::WriteAs { .. }
        | StepAction::Read
        | StepAction::Publish { .. }
        | StepAction::Relay
        | StepAction::Refence
        | StepAction::Hold { .. }
        | StepAction::Burn { .. }
        | StepAction::Renew
        | StepAction::Release
        | StepAction::StopIfLost => None,
    }
}

//! Whether a worker left out what it would have done.

use crate::plan::{Step, StepAction};
use crate::report::model::ArmModel;

/// A worker's script has a write that it did not begin: something was left out.
pub(super) fn a_write(arm: &ArmModel, worker: &str) -> bool {
    let mut plans = arm.plan().into_iter().flat_map(|plan| &plan.workers);
    let script = plans.find(|plan| plan.name == worker);
    let is_write =
        |step: &&Step| matches!(step.action, StepAction::Write | StepAction::WriteAs { .. });
    let steps = script.map_or(&[][..], |plan| &plan.script);
    let begun = arm.scene.writes.iter();
    let begun = begun.filter(|write| !write.seal && write.worker == worker);
    steps.iter().filter(is_write).count() > begun.count()
}

//! Whether a worker left out what it would have done, and what made it do so.

use crate::plan::{Gate, Step, StepAction, WorkerPlan};
use crate::report::model::ArmModel;
use crate::report::scene::marks::LossMark;
use crate::timeline::event::{Answer, Call};

fn script<'a>(arm: &'a ArmModel, worker: &str) -> Option<&'a WorkerPlan> {
    let mut plans = arm.plan().into_iter().flat_map(|plan| &plan.workers);
    plans.find(|plan| plan.name == worker)
}

const fn is_write(step: &Step) -> bool {
    matches!(step.action, StepAction::Write | StepAction::WriteAs { .. })
}

/// A worker's script has a write that it did not begin: something was left out.
pub(super) fn a_write(arm: &ArmModel, worker: &str) -> bool {
    let steps = script(arm, worker).map_or(&[][..], |plan| &plan.script);
    let begun = arm.scene.writes.iter();
    let begun = begun.filter(|write| !write.seal && write.worker == worker);
    steps.iter().filter(|step| is_write(step)).count() > begun.count()
}

/// The line that shows it ask whether it still holds, after its loss and with a write to come: a
/// `stop_if_lost` that it reached, or what its gate asked for the write itself.
pub(super) fn asked(arm: &ArmModel, loss: &LossMark) -> Option<u64> {
    let plan = script(arm, &loss.worker)?;
    let history = &arm.record.as_ref()?.history;
    let asks = plan.script.iter().enumerate().filter(|(index, step)| {
        let writes = plan.script[*index..].iter().any(is_write);
        matches!(step.action, StepAction::StopIfLost) && writes
    });
    let reached = asks.filter_map(|(_, step)| {
        let name = format!("{}.{}.before", loss.worker, step.name);
        let mut points = history.points.iter();
        points.find(|seen| seen.at >= loss.at && seen.point == name)
    });
    if let Some(first) = reached.min_by_key(|seen| seen.at) {
        return Some(first.seq);
    }
    let mut checks = history.operations.iter().filter(|operation| {
        matches!(operation.call, Call::Check { .. })
            && matches!(operation.answer(), Some(Answer::Locked { locked: false }))
            && operation.invoked >= loss.at
            && history.worker_name(operation.worker) == loss.worker
    });
    let of_a_write = checks.find(|check| {
        let mut writes = plan.script.iter().filter(|step| is_write(step));
        writes.any(|step| check.step.as_deref() == Some(step.name.as_str()))
    });
    let asked = of_a_write.filter(|_| plan.gate == Gate::IsLocked)?;
    Some(asked.seq)
}

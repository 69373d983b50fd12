//! Whether a worker left out what it would have done, and what made it do so.

use super::{ASKED, finding, let_in};
use crate::checks::Outcome;
use crate::plan::{Gate, Step, StepAction, WorkerPlan};
use crate::report::model::ArmModel;
use crate::report::scene::marks::LossMark;
use crate::report::sentence::Sentence;
use crate::report::words::at;
use crate::timeline::event::{Answer, Call};

fn script<'a>(arm: &'a ArmModel, worker: &str) -> Option<&'a WorkerPlan> {
    let mut plans = arm.plan().into_iter().flat_map(|plan| &plan.workers);
    plans.find(|plan| plan.name == worker)
}

const fn is_write(step: &Step) -> bool {
    matches!(step.action, StepAction::Write | StepAction::WriteAs { .. })
}

/// A worker's script has a write that it did not begin: something was left out.
fn a_write(arm: &ArmModel, worker: &str) -> bool {
    let steps = script(arm, worker).map_or(&[][..], |plan| &plan.script);
    let begun = arm.scene.writes.iter();
    let begun = begun.filter(|write| !write.seal && write.worker == worker);
    steps.iter().filter(|step| is_write(step)).count() > begun.count()
}

/// The line that shows it ask whether it still holds, after its loss and with a write to come: a
/// `stop_if_lost` that it reached, or what its gate asked for the write itself.
fn asked(arm: &ArmModel, loss: &LossMark) -> Option<u64> {
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

/// A worker was told of its loss, wrote nothing after, and the next one was let in. Where its script
/// asks before it writes, it is the asking that stopped it, however late it was told.
pub(super) fn stopped_itself(arm: &ArmModel) -> Option<(&'static str, Sentence)> {
    let scene = &arm.scene;
    let stopped = finding(arm, "stops_after_loss")?;
    if stopped.outcome != Outcome::Holds || stopped.vacuous {
        return None;
    }
    let (loss, next) = scene.losses.iter().find_map(|loss| {
        if !a_write(arm, &loss.worker) {
            return None;
        }
        let mut later = scene.tenures.iter().filter(|next| next.from >= loss.at);
        let next = later.find(|next| next.worker.as_ref() != Some(&loss.worker))?;
        Some((loss, next))
    })?;
    let (name, lost) = (&loss.worker, at(loss.at));
    let (word, by, so) = match asked(arm, loss) {
        Some(asked) => (
            ASKED,
            "asking before the write",
            Sentence::of(format!(" at {lost} that its lock is lost and "))
                .event("asked", asked)
                .text(" before its next write, so it stopped;"),
        ),
        None => (
            "told of its loss",
            "the worker itself",
            Sentence::of(format!(
                " at {lost} that its lock is lost and began no protected step after it;"
            )),
        ),
    };
    let told = Sentence::of(format!("{by}: {name} ")).event("was told", loss.event);
    Some((word, let_in(told.then(so), "", next)))
}

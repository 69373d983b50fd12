//! Begins and ends faults, and puts on the record what proves or refutes them.

use super::players::{Fault, FaultState};
use super::scene::Scene;
use super::{DirectorError, dispatch};
use crate::env::action::Action;
use crate::env::ledger::Entry;
use crate::env::look;
use crate::env::stop;
use crate::faults;
use crate::ids::GrantId;
use crate::plan::Target;
use crate::timeline::event::Event;

/// Injects the fault at `index`; its trigger is on the record.
pub fn begin(scene: &mut Scene, index: usize) -> Result<(), DirectorError> {
    let plan = scene.faults[index].plan.clone();
    // The record must not lag behind what is done to the workers.
    scene.flush()?;
    let (worker, grant, pgid) = match resolve(scene, &plan.target) {
        Ok(target) => target,
        Err(why) => return not_injected(scene, index, why),
    };
    let kind = faults::find(&plan.kind)
        .ok_or_else(|| DirectorError::Bug(format!("no fault `{}`", plan.kind)))?;
    scene.announce(&Entry::Fault {
        name: plan.name.clone(),
        kind: plan.kind.clone(),
        pid: Some(pgid),
    })?;
    for action in kind.onset {
        let stopped = match action {
            Action::StopGroup => stop::stop_group(pgid),
            Action::ContinueGroup => continue,
        };
        let stopped = match stopped {
            Ok(stopped) => stopped,
            Err(error) => return not_injected(scene, index, error.to_string()),
        };
        let effective = scene.lab(stopped.effective_ns);
        scene.faults[index].state = FaultState::Active {
            pgid,
            threads: stopped.threads.clone(),
            since: effective,
        };
        scene.record_lab(Event::FaultOnset {
            fault: plan.name.clone(),
            kind: plan.kind.clone(),
            worker: Some(worker.clone()),
            grant: grant.clone(),
            trigger: plan.when.clone(),
            began: scene.lab(stopped.began_ns),
            effective,
        })?;
        scene.record_lab(Event::Look {
            fault: plan.name.clone(),
            moment: "stopped".to_owned(),
            threads: stopped.threads,
        })?;
    }
    // The byte is written while the target stands still, so that only the heal can let it run.
    if dispatch::go_if_waiting_at(scene, &worker, &plan.when)? {
        let threads = look::group(pgid).unwrap_or_default();
        scene.record_lab(Event::Look {
            fault: plan.name,
            moment: "go".to_owned(),
            threads,
        })?;
    }
    scene.flush()
}

/// A fault that cannot begin is told; the arm will be inconclusive.
pub fn not_injected(scene: &mut Scene, index: usize, why: String) -> Result<(), DirectorError> {
    let fault = &mut scene.faults[index];
    fault.state = FaultState::Over;
    let fault = fault.plan.name.clone();
    scene.record_lab(Event::FaultNotInjected { fault, why })
}

/// Whom the fault hits, resolved once: worker, the grant that made it the target, its group.
fn resolve(scene: &Scene, target: &Target) -> Result<(String, Option<GrantId>, i32), String> {
    let (name, grant) = match target {
        Target::Holder => {
            let (worker, grant) = scene.truth.holder(scene.now())?;
            (worker, Some(grant))
        }
        Target::Worker(name) => (name.clone(), None),
    };
    match scene.workers.get(&name) {
        Some(worker) if !worker.exited => Ok((name, grant, worker.pid)),
        _ => Err(format!("worker {name} has ended")),
    }
}

/// Heals the fault at `index` and waits until the removal is seen by its effect.
pub fn end(scene: &mut Scene, index: usize, cause: &str) -> Result<(), DirectorError> {
    let Fault { plan, state } = &mut scene.faults[index];
    let plan = plan.clone();
    let FaultState::Active { pgid, threads, .. } = std::mem::replace(state, FaultState::Over)
    else {
        return Ok(());
    };
    let kind = faults::find(&plan.kind)
        .ok_or_else(|| DirectorError::Bug(format!("no fault `{}`", plan.kind)))?;
    let before = look::group(pgid).unwrap_or_default();
    scene.record_lab(Event::Look {
        fault: plan.name.clone(),
        moment: "heal".to_owned(),
        threads: before,
    })?;
    scene.flush()?;
    for action in kind.heal {
        let healed = match action {
            Action::ContinueGroup => stop::continue_group(pgid, &threads),
            Action::StopGroup => continue,
        };
        let (began, removed, threads) = match healed {
            Ok(healed) => (
                scene.lab(healed.began_ns),
                healed.removed_ns.map(|at| scene.lab(at)),
                healed.threads,
            ),
            // The group is gone: nothing is left that could be continued.
            Err(_) => (scene.now(), None, Vec::new()),
        };
        scene.record_lab(Event::FaultHeal {
            fault: plan.name.clone(),
            cause: cause.to_owned(),
            began,
            removed,
        })?;
        scene.record_lab(Event::Look {
            fault: plan.name.clone(),
            moment: "healed".to_owned(),
            threads,
        })?;
    }
    scene.announce(&Entry::Healed { name: plan.name })
}

/// Heals whatever is active; never fails, because it is the last thing that may.
pub fn heal_all(scene: &mut Scene, cause: &str) {
    for index in 0..scene.faults.len() {
        // A record that cannot be written must not keep a worker stopped.
        let _ = end(scene, index, cause);
    }
}

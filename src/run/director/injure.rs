//! Begins and ends faults, and puts on the record what proves or refutes them.

use super::players::{Fault, FaultState, Standing, Struck};
use super::scene::Scene;
use super::{DirectorError, act, dead, dispatch, edges, holder, telling};
use crate::env::action::Action;
use crate::env::ledger::Entry;
use crate::env::look;
use crate::faults::{self, FaultKind};
use crate::ids::GrantId;
use crate::plan::{FaultPlan, Service, Target};
use crate::timeline::event::{Event, ThreadLook};

/// Injects the fault at `index`; its trigger is on the record.
pub async fn begin(scene: &mut Scene, index: usize) -> Result<(), DirectorError> {
    let plan = scene.faults[index].plan.clone();
    // The record must not lag behind what is done to the workers.
    scene.flush()?;
    if plan.target == Target::Holder {
        holder::catch_up(scene).await?;
    }
    let struck = match resolve(scene, &plan) {
        Ok(struck) => struck,
        Err(why) => return not_injected(scene, index, why),
    };
    let kind = kind(&plan.kind)?;
    scene.announce(&Entry::Fault {
        name: plan.name.clone(),
        kind: plan.kind.clone(),
        pid: struck.pgid(),
    })?;
    // Not begun a second time while what follows waits for something.
    scene.faults[index].state = FaultState::Over;
    let done = match act::all(scene, kind.onset, (&plan, &struck)).await? {
        Ok(done) => done,
        Err(why) => return take_back(scene, index, (kind, &struck, why)).await,
    };
    let (worker, server, grant) = hit(scene, kind, &struck);
    if plan.heal.is_some() {
        scene.faults[index].state = FaultState::Active {
            struck: struck.clone(),
            threads: done.threads.clone(),
            since: done.effective,
        };
    } else {
        scene.announce(&Entry::Healed {
            name: plan.name.clone(),
        })?;
    }
    scene.record_lab(Event::FaultOnset {
        fault: plan.name.clone(),
        kind: plan.kind.clone(),
        worker: worker.clone(),
        server,
        grant,
        trigger: plan.when.clone(),
        began: done.began,
        effective: done.effective,
    })?;
    let stopped = !done.threads.is_empty();
    look_on_record(scene, &plan.name, "stopped", done.threads)?;
    // The byte is written while the target stands still, so that only the heal can let it run.
    if let (true, Some(worker)) = (stopped, worker)
        && dispatch::go_if_waiting_at(scene, &worker, &plan.when)?
    {
        look_on_record(scene, &plan.name, "go", group(&struck))?;
    }
    scene.flush()
}

/// The worker, the server and the grant that were hit.
fn hit(
    scene: &Scene,
    kind: &FaultKind,
    struck: &Struck,
) -> (Option<String>, Option<String>, Option<GrantId>) {
    match struck.clone() {
        Struck::Worker(name, _, grant) => {
            // What is done to a worker's sessions is done at the server.
            let server = kind
                .ends_sessions()
                .then(|| scene.service_name(Service::Lock));
            let server = server.map(str::to_owned);
            (Some(name), server, grant)
        }
        Struck::Server(name, _) => (None, Some(name), None),
        Struck::Edges(_, Some((worker, grant))) => (Some(worker), None, grant),
        Struck::Edges(_, None) => (None, None, None),
    }
}

/// An onset that was not seen to work may have told a server something all the same: undoes that.
async fn take_back(
    scene: &mut Scene,
    index: usize,
    (kind, struck, why): (&FaultKind, &Struck, String),
) -> Result<(), DirectorError> {
    let told = |action: &&Action| matches!(action, Action::Ask(_));
    let told: Vec<Action> = kind.heal.iter().filter(told).copied().collect();
    let fault = scene.faults[index].plan.name.clone();
    act::undo(scene, &told, (&fault, struck, &[])).await?;
    not_injected(scene, index, why)
}

fn group(struck: &Struck) -> Vec<ThreadLook> {
    let pgid = struck.pgid();
    pgid.and_then(|pgid| look::group(pgid).ok())
        .unwrap_or_default()
}

/// Only a fault that stops somebody is shown by looks.
fn look_on_record(
    scene: &mut Scene,
    fault: &str,
    moment: &str,
    threads: Vec<ThreadLook>,
) -> Result<(), DirectorError> {
    if threads.is_empty() {
        return Ok(());
    }
    scene.record_lab(Event::Look {
        fault: fault.to_owned(),
        moment: moment.to_owned(),
        threads,
    })
}

fn kind(name: &str) -> Result<&'static FaultKind, DirectorError> {
    faults::find(name).ok_or_else(|| DirectorError::Bug(format!("no fault `{name}`")))
}

/// A fault that cannot begin is told; the arm will be inconclusive.
pub fn not_injected(scene: &mut Scene, index: usize, why: String) -> Result<(), DirectorError> {
    let fault = &mut scene.faults[index];
    fault.state = FaultState::Over;
    let fault = fault.plan.name.clone();
    scene.record_lab(Event::FaultNotInjected { fault, why })
}

/// Whom the fault hits, resolved once.
fn resolve(scene: &Scene, plan: &FaultPlan) -> Result<Struck, String> {
    let (name, grant) = match &plan.target {
        Target::Holder => {
            let (name, grant) = scene.truth.holder(scene.now())?;
            (name, Some(grant))
        }
        Target::Worker(name) => (name.clone(), None),
        Target::Everyone => {
            let everyone: Vec<String> = scene.workers.keys().cloned().collect();
            let service = plan.edge.ok_or("everyone's edges to nothing")?;
            return Ok(Struck::Edges(edges::to(scene, &everyone, service)?, None));
        }
        Target::Server(service) => {
            let name = scene.server_name(*service);
            let name = name.ok_or_else(|| format!("the {} has no server", service.word()))?;
            return server(scene, name);
        }
        Target::Member(name) => return server(scene, name),
    };
    let worker = scene.workers.get(&name).filter(|worker| !worker.exited);
    let worker = worker.ok_or_else(|| format!("worker {name} has ended"))?;
    match plan.edge {
        None => Ok(Struck::Worker(name, worker.pid, grant)),
        Some(service) => {
            let hit = edges::to(scene, std::slice::from_ref(&name), service)?;
            Ok(Struck::Edges(hit, Some((name, grant))))
        }
    }
}

/// The process of a server that is there.
fn server(scene: &Scene, name: &str) -> Result<Struck, String> {
    let server = scene.servers.get(name);
    // The number of a process that is gone may be somebody else's by now.
    let server = server.filter(|server| server.standing != Standing::Gone);
    let server = server.ok_or("it is gone")?;
    let pid = server
        .pid
        .ok_or("the lab was given it and did not start it")?;
    Ok(Struck::Server(name.to_owned(), pid))
}

/// Heals the fault at `index` and waits until the removal is seen by its effect.
pub async fn end(scene: &mut Scene, index: usize, cause: &str) -> Result<(), DirectorError> {
    let Fault { plan, state } = &mut scene.faults[index];
    let plan = plan.clone();
    let FaultState::Active {
        struck, threads, ..
    } = std::mem::replace(state, FaultState::Over)
    else {
        return Ok(());
    };
    let kind = kind(&plan.kind)?;
    if !threads.is_empty() {
        let before = group(&struck);
        scene.record_lab(Event::Look {
            fault: plan.name.clone(),
            moment: "heal".to_owned(),
            threads: before,
        })?;
    }
    telling::read_all_back(scene, kind.onset, (&plan.name, &struck)).await?;
    let free = dead::place_is_free(scene, kind.onset, (&plan.name, &struck)).await?;
    scene.flush()?;
    let began = scene.now();
    let healed = match free {
        true => act::undo(scene, kind.heal, (&plan.name, &struck, &threads)).await?,
        false => None,
    };
    let (began, removed, after) = match healed {
        Some(healed) => (healed.began, healed.removed, healed.threads),
        // Nothing is left that could be healed.
        None => (began, None, Vec::new()),
    };
    scene.record_lab(Event::FaultHeal {
        fault: plan.name.clone(),
        cause: cause.to_owned(),
        began,
        removed,
    })?;
    if !threads.is_empty() {
        scene.record_lab(Event::Look {
            fault: plan.name.clone(),
            moment: "healed".to_owned(),
            threads: after,
        })?;
    }
    scene.announce(&Entry::Healed { name: plan.name })
}

/// Heals whatever is active; never fails, because it is the last thing that may.
pub async fn heal_all(scene: &mut Scene, cause: &str) {
    for index in 0..scene.faults.len() {
        // A record that cannot be written must not keep a worker stopped.
        let _ = end(scene, index, cause).await;
    }
}

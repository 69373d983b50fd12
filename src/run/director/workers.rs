//! The store, then the workers, each with pipes of its own; a worker that must wait for its turn
//! stands at its start.

use super::asking::Answered;
use super::incoming;
use super::players::Worker;
use super::scene::Scene;
use super::{DirectorError, clocks, edges, waits};
use crate::env::error::EnvError;
use crate::env::guard::{ChildRole, Spawn};
use crate::plan::{Service, WorkerPlan};
use crate::run::run_dir;
use crate::store::queue::{Queue, QueueSpec};
use crate::store::{StoreError, StoreSpec};
use crate::timeline::event::Event;
use crate::worker::{LockSpec, WorkerSpec};
use nix::fcntl::OFlag;
use nix::unistd::pipe2;
use std::fs::File;
use std::path::PathBuf;

/// Creates the store, then starts every worker; each waits at its own start until its turn.
pub async fn start(scene: &mut Scene) -> Result<(), DirectorError> {
    let store = store_spec(scene, None)?;
    let broken = |error: StoreError| {
        DirectorError::Env(EnvError::new(error.to_string(), "run `lockdrill doctor`"))
    };
    let created = (scene.store_kind()?.create)(&store).await;
    created.map_err(broken)?;
    if let Some(queue) = queue_spec(scene) {
        Queue::create(&queue).map_err(broken)?;
    }
    for worker in scene.plan.workers.clone() {
        let store = store_spec(scene, Some(&worker.name))?;
        start_worker(scene, &worker, &store).await?;
    }
    Ok(())
}

/// How this arm's store is opened: on its server, by a worker over its own edge; or as a file of
/// the arm.
pub fn store_spec(scene: &Scene, worker: Option<&str>) -> Result<StoreSpec, DirectorError> {
    let kind = scene.store_kind()?;
    let address = match worker {
        Some(worker) => edges::address(scene, worker, Service::Store),
        None => scene.address(Service::Store),
    };
    let location = match (kind.server, address) {
        (Some(server), Some(address)) => server.location(address),
        (Some(_), None) => return Err(DirectorError::Bug("store before its server".to_owned())),
        (None, _) => {
            let file = scene.spec.work_dir.join(format!("store.{}", kind.name));
            file.display().to_string()
        }
    };
    Ok(StoreSpec {
        kind: kind.name.to_owned(),
        fence: scene.plan.store.fence,
        once: scene.plan.store.once,
        idempotent: scene.plan.store.idempotent,
        condition: scene.plan.store.condition,
        reads: scene.plan.store.reads,
        outbox: scene.plan.store.outbox,
        location,
        lab_zero_ns: scene.zero_ns,
    })
}

/// How this arm's queue is opened; none if nothing is published.
pub fn queue_spec(scene: &Scene) -> Option<QueueSpec> {
    let file = scene.spec.work_dir.join("queue.sqlite");
    scene.plan.has_queue().then(|| QueueSpec {
        location: file.display().to_string(),
        idempotent: scene.plan.store.idempotent,
        lab_zero_ns: scene.zero_ns,
    })
}

async fn start_worker(
    scene: &mut Scene,
    worker: &WorkerPlan,
    store: &StoreSpec,
) -> Result<(), DirectorError> {
    let broken = |error: &dyn std::fmt::Display| {
        DirectorError::Env(EnvError::new(
            format!("cannot start worker {}: {error}", worker.name),
            "run `lockdrill doctor`",
        ))
    };
    let spec = write_spec(scene, worker, store)?;
    let (go_read, go_write) = pipe2(OFlag::O_CLOEXEC).map_err(|error| broken(&error))?;
    let (events_read, events_write) = pipe2(OFlag::O_CLOEXEC).map_err(|error| broken(&error))?;
    let logs = scene.folder(scene.spec.arm_dir.join(run_dir::LOGS))?;
    let spawn = Spawn {
        name: worker.name.clone(),
        role: ChildRole::Worker,
        program: scene.spec.program.clone(),
        arg0: None,
        args: vec!["worker".into(), "--spec".into(), spec.display().to_string()],
        env: clocks::variables(scene, &worker.name)?,
        cwd: scene.spec.work_dir.clone(),
        log: logs.join(format!("worker.{}.log", worker.name)),
    };
    let pipes = Some((go_read, events_write));
    let spawned = scene.guard.spawn(spawn, pipes).await;
    let spawned = spawned.map_err(|error| broken(&error))?;
    incoming::worker_lines(worker.name.clone(), events_read, scene.outbox.clone())
        .map_err(|error| broken(&error))?;
    scene.workers.insert(
        worker.name.clone(),
        Worker {
            pid: spawned.pid,
            go: File::from(go_write),
            wait: None,
            answered: Answered::default(),
            closed: false,
            exited: false,
        },
    );
    scene.record_lab(Event::WorkerStarted {
        worker: worker.name.clone(),
        pid: spawned.pid,
        start_ticks: spawned.start_ticks,
    })
}

/// Writes what the worker is told into a file of the arm.
fn write_spec(
    scene: &Scene,
    worker: &WorkerPlan,
    store: &StoreSpec,
) -> Result<PathBuf, DirectorError> {
    let edge = edges::address(scene, &worker.name, Service::Lock);
    let address = edges::voters(scene, &worker.name).or_else(|| edge.map(|edge| edge.to_string()));
    let address = address
        .or_else(|| scene.deployed.clone())
        .ok_or_else(|| DirectorError::Bug("workers before servers".to_owned()))?;
    let spec = WorkerSpec {
        worker: worker.name.clone(),
        plan: scene.plan.clone(),
        lab_zero_ns: scene.zero_ns,
        lock: LockSpec {
            address,
            prefix: scene.prefix().to_owned(),
        },
        store: store.clone(),
        queue: queue_spec(scene),
        park_at: waits::parks(&scene.plan).into_iter().collect(),
    };
    let path = scene
        .spec
        .work_dir
        .join(format!("worker.{}.json", worker.name));
    serde_json::to_vec(&spec)
        .map_err(std::io::Error::other)
        .and_then(|json| std::fs::write(&path, json))
        .map_err(|error| {
            DirectorError::Env(EnvError::new(
                format!("cannot write {}: {error}", path.display()),
                "free space in the state folder",
            ))
        })?;
    Ok(path)
}

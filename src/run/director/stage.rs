//! Sets the scene: servers first, the observer in sync, the store created, then the workers,
//! each with pipes of its own. And strikes it.

use super::incoming::{self, Incoming};
use super::scene::{PREFIX, SERVER, Scene, Worker};
use super::waits;
use super::{DirectorError, dispatch};
use crate::env::error::EnvError;
use crate::env::guard::{ChildRole, Spawn, Spawned};
use crate::env::isolation::Mode;
use crate::env::redis::find::RedisBinary;
use crate::env::redis::observe::{self, Control};
use crate::env::redis::server;
use crate::env::redis::tap::Tap;
use crate::env::sweep;
use crate::plan::WorkerPlan;
use crate::run::run_dir;
use crate::store::{self, StoreSpec};
use crate::timeline::event::{By, Event};
use crate::worker::{LockSpec, WorkerSpec};
use nix::fcntl::OFlag;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, pipe2};
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

/// A fresh server answers in 12 ms on an idle machine.
const READY_MAX: Duration = Duration::from_secs(20);

/// How often a port that somebody else took is tried again.
const PORT_TRIES: usize = 5;

/// Starts the lock server and brings the observer in sync with it.
pub async fn servers(scene: &mut Scene) -> Result<(), DirectorError> {
    let mut tries = 0;
    let (address, control) = loop {
        tries += 1;
        let address = address(scene)?;
        let spawned = start_redis(scene, address).await?;
        match ready(scene, address, spawned.pid).await {
            Ok(control) => break (address, control),
            Err(_) if tries < PORT_TRIES && scene.spec.isolation == Mode::Guard => {}
            Err(error) => return Err(error),
        }
    };
    scene.lock_address = Some(address);
    scene.control = Some(control);
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(observe::follow(address, Tap::new(SERVER, PREFIX), sender));
    let out = scene.outbox.clone();
    tokio::spawn(async move {
        while let Some(observed) = receiver.recv().await {
            if out
                .send(Incoming::Observed(SERVER.to_owned(), observed))
                .is_err()
            {
                return;
            }
        }
    });
    dispatch::until_synced(scene, READY_MAX).await?;
    dispatch::sample_clock(scene, 5).await
}

/// Fixed address in a network namespace of our own, a free port elsewhere.
fn address(scene: &Scene) -> Result<SocketAddr, DirectorError> {
    if scene.spec.isolation == Mode::Namespace {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, 6379)));
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map_err(|error| {
            DirectorError::Env(EnvError::new(
                format!("no free port on 127.0.0.1: {error}"),
                "close what holds the ports, or use --isolation namespace",
            ))
        })
}

async fn start_redis(scene: &mut Scene, address: SocketAddr) -> Result<Spawned, DirectorError> {
    let folder = scene.folder(scene.spec.work_dir.join(SERVER))?;
    let logs = scene.folder(scene.spec.arm_dir.join(run_dir::LOGS))?;
    let spawned = scene
        .guard
        .spawn(
            Spawn {
                name: SERVER.to_owned(),
                role: ChildRole::Server,
                program: scene.spec.redis.clone(),
                arg0: Some(RedisBinary::ARG0.to_owned()),
                args: server::standalone_args(address, &folder),
                env: Vec::new(),
                cwd: folder,
                log: logs.join("redis.log"),
            },
            None,
        )
        .await
        .map_err(|error| {
            DirectorError::Env(EnvError::new(
                format!("cannot start {}: {error}", scene.spec.redis.display()),
                "run `lockdrill doctor`",
            ))
        })?;
    scene.servers.insert(SERVER.to_owned(), spawned.pid);
    Ok(spawned)
}

/// Waits until the server that we started answers; a server that died is told with the reason
/// from its own log.
async fn ready(scene: &mut Scene, address: SocketAddr, pid: i32) -> Result<Control, DirectorError> {
    let connect = Control::connect(address, PREFIX, READY_MAX);
    tokio::pin!(connect);
    loop {
        tokio::select! {
            connected = &mut connect => return Ok(connected?),
            incoming = scene.inbox.recv() => match incoming {
                Some(Incoming::Child(event)) if event.pid == pid && dispatch::is_end(event.what) => {
                    scene.servers.remove(SERVER);
                    return Err(died(scene));
                }
                Some(other) => dispatch::take(scene, other)?,
                None => return Err(DirectorError::Bug("the inbox is closed".to_owned())),
            }
        }
    }
}

fn died(scene: &Scene) -> DirectorError {
    let log = scene.spec.arm_dir.join(run_dir::LOGS).join("redis.log");
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let reason = text.lines().rev().find(|line| !line.trim().is_empty());
    DirectorError::Env(EnvError::new(
        format!(
            "redis-server ended at once: {}",
            reason.unwrap_or("it wrote no log").trim()
        ),
        format!("see {}", log.display()),
    ))
}

/// Creates the store, then starts every worker; each waits at its own start until its turn.
pub async fn workers(scene: &mut Scene) -> Result<(), DirectorError> {
    let store = store_spec(scene);
    let kind = store::find(&scene.plan.store.kind).ok_or_else(|| {
        DirectorError::Bug(format!(
            "no store `{}` in the registry",
            scene.plan.store.kind
        ))
    })?;
    (kind.create)(&store).map_err(|error| {
        DirectorError::Env(EnvError::new(error.to_string(), "run `lockdrill doctor`"))
    })?;
    for worker in scene.plan.workers.clone() {
        start_worker(scene, &worker, &store).await?;
    }
    Ok(())
}

/// How this arm's store is opened.
pub fn store_spec(scene: &Scene) -> StoreSpec {
    StoreSpec {
        kind: scene.plan.store.kind.clone(),
        fence: scene.plan.store.fence,
        once: scene.plan.store.once,
        location: scene
            .spec
            .work_dir
            .join("store.sqlite")
            .display()
            .to_string(),
        lab_zero_ns: scene.zero_ns,
    }
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
    let address = scene
        .lock_address
        .ok_or_else(|| DirectorError::Bug("workers before servers".to_owned()))?;
    let spec = WorkerSpec {
        worker: worker.name.clone(),
        plan: scene.plan.clone(),
        lab_zero_ns: scene.zero_ns,
        lock: LockSpec {
            address: address.to_string(),
            prefix: PREFIX.to_owned(),
        },
        store: store.clone(),
        park_at: waits::parks(&scene.plan).into_iter().collect(),
    };
    let path = scene
        .spec
        .work_dir
        .join(format!("worker.{}.json", worker.name));
    let json = serde_json::to_vec(&spec).map_err(|error| broken(&error))?;
    std::fs::write(&path, json).map_err(|error| broken(&error))?;
    let (go_read, go_write) = pipe2(OFlag::O_CLOEXEC).map_err(|error| broken(&error))?;
    let (events_read, events_write) = pipe2(OFlag::O_CLOEXEC).map_err(|error| broken(&error))?;
    let logs = scene.folder(scene.spec.arm_dir.join(run_dir::LOGS))?;
    let spawned = scene
        .guard
        .spawn(
            Spawn {
                name: worker.name.clone(),
                role: ChildRole::Worker,
                program: scene.spec.program.clone(),
                arg0: None,
                args: vec!["worker".into(), "--spec".into(), path.display().to_string()],
                env: Vec::new(),
                cwd: scene.spec.work_dir.clone(),
                log: logs.join(format!("worker.{}.log", worker.name)),
            },
            Some((go_read, events_write)),
        )
        .await
        .map_err(|error| broken(&error))?;
    incoming::worker_lines(worker.name.clone(), events_read, scene.outbox.clone())
        .map_err(|error| broken(&error))?;
    scene.workers.insert(
        worker.name.clone(),
        Worker {
            pid: spawned.pid,
            go: File::from(go_write),
            wait: None,
            closed: false,
            exited: false,
        },
    );
    scene.record(
        scene.now(),
        By::Lab,
        Event::WorkerStarted {
            worker: worker.name.clone(),
            pid: spawned.pid,
            start_ticks: spawned.start_ticks,
        },
    )
}

/// Stops what is still there, servers last, and tells what would not go.
pub async fn stop(scene: &mut Scene) -> Result<(), DirectorError> {
    scene.flush()?;
    for worker in scene.workers.values().filter(|worker| !worker.exited) {
        // Gone already is as good as killed.
        let _ = killpg(Pid::from_raw(worker.pid), Signal::SIGKILL);
    }
    for pid in scene.servers.values() {
        let _ = killpg(Pid::from_raw(*pid), Signal::SIGTERM);
    }
    dispatch::until_gone(scene, Duration::from_secs(3)).await?;
    for pid in scene.servers.values() {
        let _ = killpg(Pid::from_raw(*pid), Signal::SIGKILL);
    }
    dispatch::until_gone(scene, Duration::from_secs(3)).await?;
    let ports: Vec<u16> = scene.lock_address.iter().map(SocketAddr::port).collect();
    let left = sweep::left(scene.spec.isolation, &ports).map_err(|error| {
        DirectorError::Env(EnvError::new(
            format!("cannot look for what is left: {error}"),
            "run `lockdrill doctor`",
        ))
    })?;
    scene.record_lab(Event::Sweep { left })
}

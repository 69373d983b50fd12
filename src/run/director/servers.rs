//! Servers first: each answers, and the observer is in sync with it, before any worker starts.

use super::incoming::Incoming;
use super::scene::{PREFIX, SERVER, STORE, Scene};
use super::{DirectorError, arrivals, until};
use crate::env::error::EnvError;
use crate::env::guard::{ChildRole, Spawn, Spawned};
use crate::env::isolation::Mode;
use crate::env::redis::find::RedisBinary;
use crate::env::redis::observe::{self, Control};
use crate::env::redis::server;
use crate::env::redis::tap::Tap;
use crate::run::run_dir;
use crate::store::StoreServer;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A fresh server answers in 12 ms on an idle machine.
const READY_MAX: Duration = Duration::from_secs(20);

/// How often a port that somebody else took is tried again.
const PORT_TRIES: usize = 5;

/// One `redis-server` of an arm.
#[derive(Debug, Clone, Copy)]
struct Role {
    name: &'static str,
    /// Its port in a network namespace of our own.
    port: u16,
}

const LOCK: Role = Role {
    name: SERVER,
    port: 6379,
};

const STORE_SERVER: Role = Role {
    name: STORE,
    port: 6380,
};

/// Starts the lock server, brings the observer in sync with it, and starts the store's server if
/// the store lives on one. Nobody observes that one: the store's log is read at the end.
pub async fn start(scene: &mut Scene) -> Result<(), DirectorError> {
    let (address, control) = up(scene, LOCK).await?;
    scene.lock_address = Some(address);
    scene.control = Some(control);
    observe(scene, address);
    until::synced(scene, READY_MAX).await?;
    match scene.store_kind()?.server {
        Some(StoreServer::Redis) => {
            let (address, _) = up(scene, STORE_SERVER).await?;
            scene.store_address = Some(address);
        }
        None => {}
    }
    until::sample_clock(scene, 5).await
}

fn observe(scene: &Scene, address: SocketAddr) {
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
}

/// A server that answers.
async fn up(scene: &mut Scene, role: Role) -> Result<(SocketAddr, Control), DirectorError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let address = address(scene, role)?;
        let spawned = start_redis(scene, role, address).await?;
        match ready(scene, role, (address, spawned.pid)).await {
            Ok(control) => return Ok((address, control)),
            Err(_) if tries < PORT_TRIES && scene.spec.isolation == Mode::Guard => {}
            Err(error) => return Err(error),
        }
    }
}

/// Fixed address in a network namespace of our own, a free port elsewhere.
fn address(scene: &Scene, role: Role) -> Result<SocketAddr, DirectorError> {
    if scene.spec.isolation == Mode::Namespace {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, role.port)));
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

async fn start_redis(
    scene: &mut Scene,
    role: Role,
    address: SocketAddr,
) -> Result<Spawned, DirectorError> {
    let folder = scene.folder(scene.spec.work_dir.join(role.name))?;
    let logs = scene.folder(scene.spec.arm_dir.join(run_dir::LOGS))?;
    let spawned = scene
        .guard
        .spawn(
            Spawn {
                name: role.name.to_owned(),
                role: ChildRole::Server,
                program: scene.spec.redis.clone(),
                arg0: Some(RedisBinary::ARG0.to_owned()),
                args: server::standalone_args(address, &folder),
                env: Vec::new(),
                cwd: folder,
                log: log_of(&logs, role.name),
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
    scene.servers.insert(role.name.to_owned(), spawned.pid);
    Ok(spawned)
}

/// Waits until the server that we started answers; a server that died is told with the reason
/// from its own log.
async fn ready(
    scene: &mut Scene,
    role: Role,
    (address, pid): (SocketAddr, i32),
) -> Result<Control, DirectorError> {
    let connect = Control::connect(address, PREFIX, READY_MAX);
    tokio::pin!(connect);
    loop {
        tokio::select! {
            connected = &mut connect => return Ok(connected?),
            incoming = scene.inbox.recv() => match incoming {
                Some(Incoming::Child(event)) if event.pid == pid && arrivals::is_end(event.what) => {
                    scene.servers.remove(role.name);
                    return Err(died(scene, role));
                }
                Some(other) => arrivals::take(scene, other)?,
                None => return Err(DirectorError::Bug("the inbox is closed".to_owned())),
            }
        }
    }
}

/// Where the server of this name logs.
pub fn log_of(logs: &Path, name: &str) -> PathBuf {
    logs.join(format!("{name}.log"))
}

fn died(scene: &Scene, role: Role) -> DirectorError {
    let log = log_of(&scene.spec.arm_dir.join(run_dir::LOGS), role.name);
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let reason = text.lines().rev().find(|line| !line.trim().is_empty());
    DirectorError::Env(EnvError::new(
        format!(
            "redis-server ({}) ended at once: {}",
            role.name,
            reason.unwrap_or("it wrote no log").trim()
        ),
        format!("see {}", log.display()),
    ))
}

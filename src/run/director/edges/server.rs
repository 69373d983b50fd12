//! The server that makes the edges, where the provider has one: started by the guard like every
//! other, and known by its own listener before anybody speaks to it.

use super::{CHOOSE, broken};
use crate::env::edge::EdgeServer;
use crate::env::error::EnvError;
use crate::env::guard::{ChildRole, Spawn, Spawned};
use crate::env::isolation::Mode;
use crate::env::procfs;
use crate::run::director::incoming::Incoming;
use crate::run::director::players::Standing;
use crate::run::director::scene::Scene;
use crate::run::director::{DirectorError, arrivals, ports};
use crate::run::run_dir;
use crate::timeline::event::Event;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// It listens within 50 ms on an idle machine.
const READY_MAX: Duration = Duration::from_secs(20);

/// Between two looks at its listener.
const STEP: Duration = Duration::from_millis(5);

/// That server's process.
#[derive(Debug)]
pub struct EdgeServing {
    /// Its name in the record.
    pub name: &'static str,
    /// Process id and process group.
    pub pid: i32,
    /// Where it is told what to do.
    pub address: SocketAddr,
    /// Whether it can answer.
    pub standing: Standing,
}

/// Starts it; where it answers.
pub async fn start(
    scene: &mut Scene,
    kind: &'static EdgeServer,
) -> Result<SocketAddr, DirectorError> {
    let program = (kind.find)().map_err(broken)?;
    let mut tries = 0;
    loop {
        tries += 1;
        let address = match scene.spec.isolation {
            Mode::Namespace => SocketAddr::new(ports::HOST, kind.own_port),
            Mode::Guard => ports::free_address()?,
        };
        let spawned = spawn(scene, kind, (program.clone(), address)).await?;
        if listens(scene, kind, (spawned.pid, address)).await? {
            scene.edge_server = Some(EdgeServing {
                name: kind.name,
                pid: spawned.pid,
                address,
                standing: Standing::Up,
            });
            scene.record_lab(Event::ServerStarted {
                server: kind.name.to_owned(),
                pid: spawned.pid,
                start_ticks: spawned.start_ticks,
            })?;
            return Ok(address);
        }
        // Somebody else may have taken the port in between.
        if tries == ports::TRIES || scene.spec.isolation == Mode::Namespace {
            let what = format!(
                "{} ended at once, see {}",
                kind.name,
                log(scene, kind).display()
            );
            return Err(DirectorError::Env(EnvError::new(what, CHOOSE)));
        }
    }
}

fn log(scene: &Scene, kind: &EdgeServer) -> PathBuf {
    let logs = scene.spec.arm_dir.join(run_dir::LOGS);
    logs.join(format!("{}.log", kind.name))
}

async fn spawn(
    scene: &mut Scene,
    kind: &EdgeServer,
    (program, address): (PathBuf, SocketAddr),
) -> Result<Spawned, DirectorError> {
    let shown = program.display().to_string();
    let spawn = Spawn {
        name: kind.name.to_owned(),
        role: ChildRole::Server,
        program,
        arg0: None,
        args: (kind.args)(address),
        env: Vec::new(),
        cwd: scene.spec.work_dir.clone(),
        log: log(scene, kind),
    };
    scene.guard.spawn(spawn, None).await.map_err(|error| {
        let what = format!("cannot start {shown}: {error}");
        DirectorError::Env(EnvError::new(what, CHOOSE))
    })
}

/// Waits until it listens itself; false when it ended before. A connection would not do: it could
/// lead to somebody else.
async fn listens(
    scene: &mut Scene,
    kind: &EdgeServer,
    (pid, address): (i32, SocketAddr),
) -> Result<bool, DirectorError> {
    let deadline = Instant::now() + READY_MAX;
    while Instant::now() < deadline {
        // One that is gone is told of by the guard.
        if procfs::listens(pid, address.port()).unwrap_or(false) {
            return Ok(true);
        }
        match timeout(STEP, scene.inbox.recv()).await {
            Ok(Some(Incoming::Child(event)))
                if event.pid == pid && arrivals::is_end(event.what) =>
            {
                return Ok(false);
            }
            Ok(Some(other)) => arrivals::take(scene, other)?,
            Ok(None) => return Err(DirectorError::Bug("the inbox is closed".to_owned())),
            Err(_) => {}
        }
    }
    let what = format!("{} does not listen on {address}", kind.name);
    Err(DirectorError::Env(EnvError::new(what, CHOOSE)))
}

//! The director of one arm: starts the servers and the workers, injects the faults on the events
//! that the plan names, and records everything. Judges nothing.

mod act;
mod arrivals;
mod asking;
mod clocks;
mod collect;
mod copying;
mod dead;
mod dispatch;
mod edges;
mod etcd;
mod following;
mod gateway;
mod given;
mod holder;
mod incoming;
mod injure;
mod members;
mod patience;
mod players;
mod ports;
mod postgres;
mod progress;
mod ready;
mod scene;
mod servers;
mod sessions;
mod standing;
mod strike;
mod telling;
mod truth;
mod until;
mod waits;
mod workers;
mod zookeeper;

pub use progress::Progress;

use crate::env::error::EnvError;
use crate::exit::Exit;
use crate::plan::Plan;
use crate::run::run_dir;
use crate::run::spec::ArmSpec;
use crate::timeline::event::Event;
use scene::Scene;
use std::path::Path;

/// What ends an arm early.
#[derive(Debug, thiserror::Error)]
pub enum DirectorError {
    /// This machine is not ready, or a server or the disk failed under us.
    #[error(transparent)]
    Env(#[from] EnvError),
    /// The record cannot be written.
    #[error("the record cannot be written: {0}")]
    Record(#[source] std::io::Error),
    /// Our own defect.
    #[error("{0}")]
    Bug(String),
}

impl DirectorError {
    fn exit(&self) -> Exit {
        match self {
            DirectorError::Env(_) | DirectorError::Record(_) => Exit::Environment,
            DirectorError::Bug(_) => Exit::Bug,
        }
    }

    /// What is wrong, without what to do about it.
    fn what(&self) -> String {
        match self {
            DirectorError::Env(error) => error.what.clone(),
            DirectorError::Record(_) | DirectorError::Bug(_) => self.to_string(),
        }
    }

    fn todo(&self) -> &str {
        match self {
            DirectorError::Env(error) => &error.todo,
            DirectorError::Record(_) => {
                "free space or choose another folder with --out; what was recorded so far is readable"
            }
            DirectorError::Bug(_) => "this is a defect of lockdrill: please report it",
        }
    }
}

/// How the drill itself came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every worker ended and every fault was healed or could not begin.
    Complete,
    /// Something that was awaited did not come in time.
    Patience,
    /// The user interrupted.
    Interrupted,
}

impl Ending {
    const fn reason(self) -> &'static str {
        match self {
            Ending::Complete => "complete",
            Ending::Patience => "patience",
            Ending::Interrupted => "interrupted",
        }
    }
}

/// Runs one arm from its spec file; progress goes to stdout.
pub fn main(spec: &Path) -> Exit {
    let outcome = read(spec).and_then(|(spec, plan)| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| DirectorError::Bug(format!("no runtime: {error}")))?
            .block_on(direct(spec, plan))
    });
    match outcome {
        Ok(Ending::Complete | Ending::Patience) => Exit::Ok,
        Ok(Ending::Interrupted) => Exit::Interrupted,
        Err(error) => {
            progress::tell(&Progress::Error {
                what: error.what(),
                todo: error.todo().to_owned(),
            });
            error.exit()
        }
    }
}

fn read(path: &Path) -> Result<(ArmSpec, Plan), DirectorError> {
    // Both were written a moment ago; what cannot be read now was taken away.
    let load = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| {
            DirectorError::Env(EnvError::new(
                format!("cannot read {}: {error}", path.display()),
                "leave the run directory alone while the drill runs",
            ))
        })
    };
    let broken = |error: serde_json::Error| DirectorError::Bug(error.to_string());
    let spec: ArmSpec = serde_json::from_str(&load(path)?).map_err(broken)?;
    let plan = load(&spec.arm_dir.join(run_dir::PLAN))?;
    Ok((spec, serde_json::from_str(&plan).map_err(broken)?))
}

/// The whole of one arm, top to bottom. Whatever happens, faults are healed and the record gets
/// its last line.
async fn direct(spec: ArmSpec, plan: Plan) -> Result<Ending, DirectorError> {
    let mut scene = Scene::open(spec, plan)?;
    let outcome = match play(&mut scene).await {
        Err(error) => Err(until::explained(&mut scene, error).await),
        ended => ended,
    };
    let reason = match &outcome {
        Ok(ending) => ending.reason().to_owned(),
        Err(error) => {
            injure::heal_all(&mut scene, "error").await;
            given::abandon(&mut scene).await;
            format!("error: {error}")
        }
    };
    let closed = scene
        .record_lab(Event::End { reason })
        .and_then(|()| scene.flush());
    let ending = outcome?;
    closed?;
    Ok(ending)
}

async fn play(scene: &mut Scene) -> Result<Ending, DirectorError> {
    scene.phase("servers")?;
    servers::start(scene).await?;
    edges::open(scene).await?;
    scene.phase("workers")?;
    workers::start(scene).await?;
    scene.phase("drill")?;
    let ending = dispatch::run(scene).await?;
    scene.phase("settle")?;
    until::workers_ended(scene).await?;
    scene.phase("collect")?;
    collect::everything(scene).await?;
    scene.phase("stop")?;
    strike::stop(scene).await?;
    Ok(ending)
}

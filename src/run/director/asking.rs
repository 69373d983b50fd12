//! What is asked of one process, whatever it does: what its wall clock shows, and to end. A worker
//! is asked by a signal and answers on its own pipe; a server over the observer's connection.

use super::clocks::Reading;
use super::players::{Standing, Struck, Worker};
use super::scene::Scene;
use super::{DirectorError, until};
use crate::timeline::event::{By, Event};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::time::Duration;

/// A worker answers at once, unless the host is busy.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// What a worker has answered so far.
#[derive(Debug, Default)]
pub struct Answered {
    /// It was asked to end.
    asked_to_end: bool,
    /// How often it has told its time.
    times: u64,
    /// The latest time that it told.
    time: Option<Reading>,
}

impl Answered {
    /// Takes note of what a worker says.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::AskedToEnd => self.asked_to_end = true,
            Event::WallClock {
                before,
                after,
                wall_us,
            } => {
                self.times += 1;
                self.time = Some(Reading {
                    before: *before,
                    after: *after,
                    wall_us: *wall_us,
                });
            }
            _other => {}
        }
    }
}

/// Asks the target for its wall clock; the answer is on the record. The inner error is why there
/// is none.
pub async fn time(
    scene: &mut Scene,
    struck: &Struck,
) -> Result<Result<Reading, String>, DirectorError> {
    match struck {
        Struck::Server(name, _) => time_of_server(scene, name).await,
        Struck::Worker(name, pid, _) => time_of_worker(scene, name, *pid).await,
        Struck::Edges(..) => Err(DirectorError::Bug("the time of an edge".to_owned())),
    }
}

async fn time_of_server(
    scene: &mut Scene,
    name: &str,
) -> Result<Result<Reading, String>, DirectorError> {
    let server = scene.servers.get(name);
    let Some(server) = server.filter(|server| server.standing == Standing::Up) else {
        return Ok(Err(format!("{name} cannot answer")));
    };
    let Some(control) = server.control.clone() else {
        return Ok(Err(format!("{name} is not asked for its time")));
    };
    let (before, after, wall_us) = control.clock().await?;
    let reading = Reading {
        before: scene.lab(before),
        after: scene.lab(after),
        wall_us,
    };
    let sample = Event::ClockSample {
        server: name.to_owned(),
        before: reading.before,
        after: reading.after,
        server_us: wall_us,
    };
    scene.record(reading.after, By::Server(name.to_owned()), sample)?;
    Ok(Ok(reading))
}

async fn time_of_worker(
    scene: &mut Scene,
    name: &str,
    pid: i32,
) -> Result<Result<Reading, String>, DirectorError> {
    // Before it is at its start the signal would kill it.
    if !scene.ready.contains(name) || gone(scene, name) {
        return Ok(Err(format!("{name} cannot answer")));
    }
    let told = answered(scene, name).map_or(0, |answered| answered.times);
    if let Err(error) = kill(Pid::from_raw(pid), Signal::SIGUSR1) {
        return Ok(Err(format!("{name} cannot be asked: {error}")));
    }
    let again = |scene: &Scene| answered(scene, name).is_some_and(|now| now.times > told);
    until::said(scene, ANSWER_MAX, |scene| again(scene) || gone(scene, name)).await?;
    let time = answered(scene, name).filter(|now| now.times > told);
    let time = time.and_then(|answered| answered.time);
    Ok(time.ok_or_else(|| format!("{name} did not tell its time")))
}

/// Asks the target to end; lab time before, and when it had said that it was asked.
pub async fn to_end(
    scene: &mut Scene,
    struck: &Struck,
) -> Result<Result<(u64, u64), String>, DirectorError> {
    let Struck::Worker(name, pid, _) = struck else {
        return Err(DirectorError::Bug("a server asked to end".to_owned()));
    };
    let began = scene.now();
    if let Err(error) = kill(Pid::from_raw(*pid), Signal::SIGTERM) {
        return Ok(Err(error.to_string()));
    }
    let told = |scene: &Scene| answered(scene, name).is_some_and(|now| now.asked_to_end);
    until::said(scene, ANSWER_MAX, |scene| told(scene) || gone(scene, name)).await?;
    Ok(if told(scene) {
        Ok((began, scene.now()))
    } else {
        Err(format!("{name} did not say that it was asked to end"))
    })
}

fn answered<'s>(scene: &'s Scene, name: &str) -> Option<&'s Answered> {
    scene.workers.get(name).map(|worker| &worker.answered)
}

/// Nothing more will be heard of it.
fn gone(scene: &Scene, name: &str) -> bool {
    let over = |worker: &Worker| worker.closed || worker.exited;
    scene.workers.get(name).is_none_or(over)
}

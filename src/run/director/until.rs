//! Waits of the director itself, before and after the drill; whatever arrives meanwhile goes on
//! the record.

use super::DirectorError;
use super::arrivals::take;
use super::players::{Server, Standing};
use super::scene::Scene;
use super::truth::Truth;
use crate::env::error::EnvError;
use crate::timeline::event::{By, Event};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::time::Duration;
use tokio::time::Instant;

/// Longest wait for a new connection to one of several servers.
const ANEW_MAX: Duration = Duration::from_millis(200);

/// After the drill: whoever still runs is ended.
pub async fn workers_ended(scene: &mut Scene) -> Result<(), DirectorError> {
    scene.flush()?;
    for worker in scene.workers.values().filter(|worker| !worker.exited) {
        // Gone already is as good as killed.
        let _ = killpg(Pid::from_raw(worker.pid), Signal::SIGKILL);
    }
    until(
        scene,
        Duration::from_secs(10),
        "the end of every worker",
        |scene| scene.workers_done(),
    )
    .await
}

/// Waits for the observer of a server.
pub async fn synced(scene: &mut Scene, server: &str, limit: Duration) -> Result<(), DirectorError> {
    until(scene, limit, "the observer to be in sync", |scene| {
        scene.synced.contains(server)
    })
    .await
}

/// Waits until the observer has read a killed server's stream to its end.
pub async fn unsynced(scene: &mut Scene, server: &str) -> Result<(), DirectorError> {
    let what = "the end of the server's stream";
    let over = |scene: &Scene| !scene.synced.contains(server);
    until(scene, Duration::from_secs(10), what, over).await
}

/// Waits until everything that a server did until now has been seen.
pub async fn caught_up(
    scene: &mut Scene,
    server: &str,
    limit: Duration,
) -> Result<(), DirectorError> {
    until(scene, limit, "the observer to catch up", |scene| {
        scene.caught_up.contains(server)
    })
    .await
}

/// Waits until a mark that was written into a server's stream has come by.
pub async fn marked(scene: &mut Scene, mark: &str, limit: Duration) -> Result<(), DirectorError> {
    until(scene, limit, "the observer to catch up", |scene| {
        scene.marks.contains(mark)
    })
    .await
}

/// Waits until the roles of the lock's servers are as they are asked to be; whether they became so.
pub async fn roles(
    scene: &mut Scene,
    limit: Duration,
    are: impl Fn(&Truth) -> bool,
) -> Result<bool, DirectorError> {
    match until(
        scene,
        limit,
        "the servers' roles",
        |scene| are(&scene.truth),
    )
    .await
    {
        Ok(()) => Ok(true),
        Err(DirectorError::Env(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Waits for something that a worker may say, but at most so long.
pub async fn said(
    scene: &mut Scene,
    limit: Duration,
    done: impl Fn(&Scene) -> bool,
) -> Result<(), DirectorError> {
    match until(scene, limit, "an answer of a worker", done).await {
        Err(DirectorError::Env(_)) => Ok(()),
        other => other,
    }
}

/// Waits until the kernel has said that a process is gone.
pub async fn ended(scene: &mut Scene, pid: i32, limit: Duration) -> Result<(), DirectorError> {
    until(scene, limit, "the end of a killed process", |scene| {
        let workers = scene.workers.values();
        let mut workers = workers.map(|worker| (worker.pid, worker.exited));
        let servers = scene.servers.values();
        let mut servers =
            servers.filter_map(|server| Some((server.pid?, server.standing == Standing::Gone)));
        let ended = |(of, gone): (i32, bool)| of == pid && gone;
        workers.any(ended) || servers.any(ended)
    })
    .await
}

/// Waits, at most `limit`, until no server and no worker is left; not an error if some are.
pub async fn gone(scene: &mut Scene, limit: Duration) -> Result<(), DirectorError> {
    let all_gone = |scene: &Scene| {
        let gone = |server: &Server| server.pid.is_none() || server.standing == Standing::Gone;
        let edges = scene.edge_server.as_ref();
        scene.servers.values().all(gone)
            && edges.is_none_or(|server| server.standing == Standing::Gone)
            && scene.workers.values().all(|worker| worker.exited)
    };
    match until(scene, limit, "everything to end", all_gone).await {
        Err(DirectorError::Env(_)) => Ok(()),
        other => other,
    }
}

async fn until(
    scene: &mut Scene,
    limit: Duration,
    what: &str,
    done: impl Fn(&Scene) -> bool,
) -> Result<(), DirectorError> {
    let deadline = Instant::now() + limit;
    while !done(scene) {
        match tokio::time::timeout_at(deadline, scene.inbox.recv()).await {
            Ok(Some(incoming)) => take(scene, incoming)?,
            Ok(None) => return Err(DirectorError::Bug("the inbox is closed".to_owned())),
            Err(_) => {
                return Err(DirectorError::Env(EnvError::new(
                    format!("waited {limit:?} for {what} in vain"),
                    "see the logs in the run directory",
                )));
            }
        }
    }
    Ok(())
}

/// The cause of an error, if it shows itself within half a second: a question that a server did not
/// answer is often followed by the kernel's word that the server is gone.
pub async fn explained(scene: &mut Scene, error: DirectorError) -> DirectorError {
    if !matches!(error, DirectorError::Env(_)) {
        return error;
    }
    let deadline = Instant::now() + Duration::from_millis(500);
    while let Ok(Some(incoming)) = tokio::time::timeout_at(deadline, scene.inbox.recv()).await {
        if let Err(cause) = take(scene, incoming) {
            return cause;
        }
    }
    error
}

/// Reads the clock of every server that is followed and can answer, `count` times.
pub async fn sample_clock(scene: &mut Scene, count: usize) -> Result<(), DirectorError> {
    for (server, control) in scene.answering() {
        for _ in 0..count {
            let (before, after, server_us) = match control.clock().await {
                Ok(read) => read,
                // Its connections are closed when it takes over. If it is gone the kernel tells.
                Err(_) if scene.deployed.is_some() => {
                    if let Ok(again) = control.anew(ANEW_MAX).await
                        && let Some(known) = scene.servers.get_mut(&server)
                    {
                        known.control = Some(again);
                    }
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            let (before, after) = (scene.lab(before), scene.lab(after));
            let by = By::Server(server.clone());
            let event = Event::ClockSample {
                server: server.clone(),
                before,
                after,
                server_us,
            };
            scene.record(after, by, event)?;
        }
    }
    Ok(())
}

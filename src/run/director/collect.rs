//! After the drill: what the server, the store and the key hold at the end, put on the record.

use super::arrivals::END_MARK;
use super::players::{Followed, Standing};
use super::scene::Scene;
use super::{DirectorError, telling, until, workers};
use crate::env::control::Control;
use crate::env::error::EnvError;
use crate::plan::Plan;
use crate::run::run_dir;
use crate::store::queue::{Published, Queue};
use crate::store::{self, Logged, StoreError};
use crate::timeline::event::{AttemptKind, By, Event};
use std::collections::BTreeSet;
use std::time::Duration;

/// Collects everything that the checks need and that is not an event of its own.
pub async fn everything(scene: &mut Scene) -> Result<(), DirectorError> {
    until::sample_clock(scene, 3).await?;
    telling::count_unknown_scripts_again(scene).await?;
    catch_up(scene).await?;
    let mut lock = String::new();
    for (server, control) in holders(scene) {
        for key in keys(&scene.plan) {
            let left = control.left(&key).await?;
            let event = Event::FinalKey {
                server: server.clone(),
                key,
                exists: left.is_some(),
                owner: left.as_ref().and_then(|left| left.owner.clone()),
                remaining_ms: left.and_then(|left| left.remaining_ms),
            };
            lock += &serde_json::to_string_pretty(&event).unwrap_or_default();
            scene.record(scene.now(), By::Server(server.clone()), event)?;
        }
    }
    let store = store_log(scene).await?;
    queue_log(scene)?;
    let folder = scene.folder(scene.spec.arm_dir.join(run_dir::FINAL))?;
    for (name, text) in [("lock.json", lock), ("store.json", store)] {
        std::fs::write(folder.join(name), text).map_err(DirectorError::Record)?;
    }
    Ok(())
}

/// Sees everything that each followed server did until now, those included that are gone: of one
/// of several, the file is still there.
async fn catch_up(scene: &mut Scene) -> Result<(), DirectorError> {
    let mut asked = Vec::new();
    for (name, server) in &scene.servers {
        match (&server.followed, &server.control) {
            (Followed::Appended(marks), _) => {
                // A follower that has ended has told why.
                if marks.send(END_MARK.to_owned()).is_ok() {
                    asked.push(name.clone());
                }
            }
            (
                Followed::Stream
                | Followed::Decoded(_)
                | Followed::Watched(_)
                | Followed::Logged(_),
                Some(control),
            ) if server.standing == Standing::Up => {
                control.clone().mark(END_MARK).await?;
                asked.push(name.clone());
            }
            (
                Followed::Stream
                | Followed::Decoded(_)
                | Followed::Watched(_)
                | Followed::Logged(_)
                | Followed::No
                | Followed::Over,
                _,
            ) => {}
        }
    }
    for name in asked {
        until::caught_up(scene, &name, Duration::from_secs(10)).await?;
    }
    scene.over = true;
    Ok(())
}

/// Servers that can be asked what they hold; of several, those that take writes.
fn holders(scene: &Scene) -> Vec<(String, Control)> {
    let mut all = scene.answering();
    all.retain(|(name, _)| scene.deployed.is_none() || scene.truth.is_primary(name));
    all
}

/// Every key that some worker locks.
fn keys(plan: &Plan) -> BTreeSet<String> {
    let own = plan.workers.iter().filter_map(|worker| worker.key.clone());
    own.chain([plan.lock.key.clone()]).collect()
}

/// The store's own log, in the store's own order; returns the final value as JSON.
async fn store_log(scene: &mut Scene) -> Result<String, DirectorError> {
    let broken = |error: StoreError| {
        DirectorError::Env(EnvError::new(
            error.to_string(),
            "see the logs in the run directory",
        ))
    };
    let opened = (scene.store_kind()?.open)(&workers::store_spec(scene, None)?).await;
    let mut store = opened.map_err(broken)?;
    for logged in store.log().await.map_err(broken)? {
        scene.record(scene.now(), By::Store, attempt(logged))?;
    }
    let resource = scene.plan.store.resource.clone();
    let standing = store.read(&resource).await.map_err(broken)?;
    let event = Event::FinalValue {
        resource,
        write: standing.write,
        highest: standing.highest,
        jobs: standing.jobs,
    };
    let json = serde_json::to_string_pretty(&event).unwrap_or_default();
    scene.record(scene.now(), By::Store, event)?;
    Ok(json)
}

/// The queue's own log, in its own order, if there is a queue.
fn queue_log(scene: &mut Scene) -> Result<(), DirectorError> {
    let Some(spec) = workers::queue_spec(scene) else {
        return Ok(());
    };
    let lines = Queue::open(&spec).and_then(|queue| queue.log());
    let lines = lines.map_err(|error| {
        let hint = "see the logs in the run directory";
        DirectorError::Env(EnvError::new(error.to_string(), hint))
    })?;
    let published = lines.len() as u64;
    for line in lines {
        scene.record(scene.now(), By::Store, publication(line))?;
    }
    let end = Event::FinalQueue { published };
    scene.record(scene.now(), By::Store, end)
}

fn publication(line: Published) -> Event {
    let Published {
        n,
        message,
        publish,
        known_before,
        applied_ns,
    } = line;
    Event::Published {
        n,
        message,
        publish,
        known_before,
        applied: applied_ns,
    }
}

fn attempt(logged: Logged) -> Event {
    let Logged {
        n,
        kind,
        attempt,
        accepted,
        done_before,
        highest,
        applied_ns,
    } = logged;
    Event::StoreAttempt {
        n,
        resource: attempt.resource,
        kind: match kind {
            store::AttemptKind::Write => AttemptKind::Write,
            store::AttemptKind::Seal => AttemptKind::Seal,
            store::AttemptKind::Read => AttemptKind::Read,
        },
        write: attempt.write,
        based_on: attempt.based_on,
        grant: attempt.grant,
        fencing: attempt.fencing,
        job: attempt.job,
        accepted,
        done_before,
        highest,
        applied: applied_ns,
    }
}

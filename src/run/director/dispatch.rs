//! One loop owns the order of events: it takes whatever arrives, puts it on the record, and then
//! does what has become due: faults begin, faults end, workers go on.

use super::arrivals::take;
use super::incoming::Incoming;
use super::patience::{arm_limit_ms, give_up_waiting, lose_patience, patience_ended};
use super::players::FaultState;
use super::scene::Scene;
use super::until::sample_clock;
use super::waits;
use super::{DirectorError, Ending, injure};
use crate::plan::Heal;
use crate::timeline::event::Event;
use std::io::Write;
use std::time::Duration;
use tokio::time::Instant;

/// The record reaches the operating system at least this often.
const FLUSH_EVERY: Duration = Duration::from_millis(10);

/// The server's clock is read this often.
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// Nanoseconds of a millisecond.
pub const MS: u64 = 1_000_000;

/// Runs the drill until every worker has ended, or patience or the user ends it.
pub async fn run(scene: &mut Scene) -> Result<Ending, DirectorError> {
    let limit_ns = arm_limit_ms(scene) * MS;
    let begun = scene.now();
    let mut tick = tokio::time::interval(FLUSH_EVERY);
    let mut next_sample = Instant::now();
    loop {
        advance(scene).await?;
        if scene.workers_done() {
            give_up_waiting(scene, "every worker has ended")?;
            injure::heal_all(scene, "every worker has ended").await;
            return Ok(scene.ending.unwrap_or(Ending::Complete));
        }
        tokio::select! {
            incoming = scene.inbox.recv() => match incoming {
                Some(Incoming::Interrupt) => {
                    injure::heal_all(scene, "interrupt").await;
                    return Ok(Ending::Interrupted);
                }
                Some(incoming) => take(scene, incoming)?,
                None => return Err(DirectorError::Bug("the inbox is closed".to_owned())),
            },
            _ = tick.tick() => {
                scene.flush()?;
                lose_patience(scene).await?;
                if Instant::now() >= next_sample {
                    next_sample = Instant::now() + SAMPLE_EVERY;
                    sample_clock(scene, 1).await?;
                }
                if scene.now() - begun > limit_ns {
                    patience_ended(scene, "the end of the drill", "drill")?;
                    injure::heal_all(scene, "patience").await;
                    return Ok(Ending::Patience);
                }
            }
        }
    }
}

/// Does everything that has become due.
async fn advance(scene: &mut Scene) -> Result<(), DirectorError> {
    for index in 0..scene.faults.len() {
        let fault = &scene.faults[index];
        match &fault.state {
            FaultState::Waiting if scene.seen.contains(&fault.plan.when) => {
                injure::begin(scene, index).await?;
            }
            FaultState::Active { since, .. } => {
                if let Some(cause) = healed_by(scene, fault.plan.heal.as_ref(), *since) {
                    injure::end(scene, index, &cause).await?;
                }
            }
            FaultState::Waiting | FaultState::Over => {}
        }
    }
    let names: Vec<String> = scene.workers.keys().cloned().collect();
    for name in names {
        let wait = scene
            .workers
            .get(&name)
            .and_then(|worker| worker.wait.clone());
        if let Some(wait) = wait.filter(|wait| satisfied(scene, wait)) {
            go_if_waiting_at(scene, &name, &wait.point)?;
        }
    }
    Ok(())
}

fn healed_by(scene: &Scene, heal: Option<&Heal>, since: u64) -> Option<String> {
    match heal? {
        Heal::After(event) => scene.seen.contains(event).then(|| event.clone()),
        Heal::For(ms) => (scene.now() >= since + ms * MS).then(|| format!("{ms} ms")),
    }
}

fn satisfied(scene: &Scene, wait: &waits::Wait) -> bool {
    // Patience has ended, and everybody may go on: whatever is awaited from now on, too.
    if scene.ending.is_some() {
        return true;
    }
    let begun = |name: &String| {
        scene
            .faults
            .iter()
            .any(|fault| fault.plan.name == *name && !matches!(fault.state, FaultState::Waiting))
    };
    // Nobody begins before everybody is connected: a fault would hit a worker that is not there.
    let starts = |name: &String| wait.point == waits::start_of(name);
    if scene.workers.keys().any(starts) && !scene.everybody_ready() {
        return false;
    }
    wait.event
        .as_ref()
        .is_none_or(|event| scene.seen.contains(event))
        && wait.faults.iter().all(begun)
}

/// Writes the byte that lets a worker go on, if it waits at this point and only for what has
/// come. Returns whether it was written.
pub fn go_if_waiting_at(
    scene: &mut Scene,
    worker: &str,
    point: &str,
) -> Result<bool, DirectorError> {
    let due = scene
        .workers
        .get(worker)
        .and_then(|worker| worker.wait.as_ref())
        .is_some_and(|wait| wait.point == point && satisfied(scene, wait));
    if !due {
        return Ok(false);
    }
    scene.record_lab(Event::Go {
        worker: worker.to_owned(),
        point: point.to_owned(),
    })?;
    scene.flush()?;
    if let Some(worker) = scene.workers.get_mut(worker) {
        worker.wait = None;
        // A worker that died while it waited is told by its exit.
        let _ = worker.go.write_all(b"g");
    }
    Ok(true)
}

//! The lock server's own stream of changes, from before anybody can reach it.

use super::scene::Scene;
use super::{DirectorError, incoming, until};
use crate::env::control::Control;
use crate::env::redis::door::Door;
use crate::env::redis::observe;
use crate::env::redis::tap::Tap;
use crate::timeline::event::{By, Change, Event};
use std::time::Duration;

/// A snapshot of an empty server comes within 20 ms on an idle machine.
const SYNC_MAX: Duration = Duration::from_secs(20);

/// Follows the lock server's stream from here on. One that was started again is asked how far the
/// counter has come, since its stream tells only how it goes on, and what it still holds.
pub async fn follow(
    scene: &mut Scene,
    (name, door): (&str, Door),
    again: Option<&Control>,
) -> Result<(), DirectorError> {
    let key = scene.plan.lock.key.clone();
    let mut tap = Tap::new(name, scene.prefix());
    if let Some(control) = again {
        let (held, counter) = control.held(&key).await?;
        tap = tap
            .counting_from(&key, counter.unwrap_or(0))
            .going_on(&key, &held);
    }
    scene.synced.remove(name);
    let out = incoming::observed(name, scene.outbox.clone());
    tokio::spawn(observe::follow(door, tap, out));
    until::synced(scene, name, SYNC_MAX).await?;
    match again {
        Some(control) => still_held(scene, name, control).await,
        None => Ok(()),
    }
}

/// What a server that was started again holds of the locks.
pub async fn still_held(
    scene: &mut Scene,
    role: &str,
    control: &Control,
) -> Result<(), DirectorError> {
    let key = scene.plan.lock.key.clone();
    let (held, value) = control.held(&key).await?;
    for change in [
        held,
        Change::Counter {
            value: Some(value.unwrap_or(0)),
        },
    ] {
        let event = Event::Effect {
            server: role.to_owned(),
            pos: scene.next_pos(role),
            key: key.clone(),
            change,
        };
        scene.record(scene.now(), By::Server(role.to_owned()), event)?;
    }
    Ok(())
}

//! Ends what is still there, servers last, and tells what would not go.

use super::scene::Scene;
use super::{DirectorError, until};
use crate::env::error::EnvError;
use crate::env::sweep;
use crate::timeline::event::Event;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::net::SocketAddr;
use std::time::Duration;

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
    until::gone(scene, Duration::from_secs(3)).await?;
    for pid in scene.servers.values() {
        let _ = killpg(Pid::from_raw(*pid), Signal::SIGKILL);
    }
    until::gone(scene, Duration::from_secs(3)).await?;
    let ports: Vec<u16> = scene.lock_address.iter().map(SocketAddr::port).collect();
    let left = sweep::left(scene.spec.isolation, &ports).map_err(|error| {
        DirectorError::Env(EnvError::new(
            format!("cannot look for what is left: {error}"),
            "run `lockdrill doctor`",
        ))
    })?;
    scene.record_lab(Event::Sweep { left })
}

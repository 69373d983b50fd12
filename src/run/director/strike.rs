//! Ends what is still there, servers last, and tells what would not go.

use super::players::{Followed, Server, Standing};
use super::scene::Scene;
use super::{DirectorError, given, until};
use crate::env::error::EnvError;
use crate::env::{stop, sweep};
use crate::timeline::event::Event;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::time::Duration;

/// Stops what is still there, servers last, and tells what would not go.
pub async fn stop(scene: &mut Scene) -> Result<(), DirectorError> {
    scene.flush()?;
    for worker in scene.workers.values().filter(|worker| !worker.exited) {
        // Gone already is as good as killed.
        let _ = killpg(Pid::from_raw(worker.pid), Signal::SIGKILL);
    }
    for server in scene.servers.values_mut() {
        if server.standing != Standing::Gone {
            server.standing = Standing::Ending;
        }
    }
    if let Some(edges) = &mut scene.edges {
        edges.close().await;
    }
    if let Some(server) = &mut scene.edge_server
        && server.standing != Standing::Gone
    {
        server.standing = Standing::Ending;
    }
    // A stopped server would not hear SIGTERM; faults are healed by now, or it was killed.
    for (pid, signal) in running(scene) {
        let _ = killpg(Pid::from_raw(pid), signal);
    }
    until::gone(scene, Duration::from_secs(3)).await?;
    for (pid, _) in running(scene) {
        let _ = stop::kill_group(pid);
    }
    until::gone(scene, Duration::from_secs(3)).await?;
    let given = given::leave(scene).await?;
    let left = sweep::left(scene.spec.isolation, &ports(scene)).map_err(|error| {
        DirectorError::Env(EnvError::new(
            format!("cannot look for what is left: {error}"),
            "run `lockdrill doctor`",
        ))
    })?;
    scene.record_lab(Event::Sweep {
        left: left.into_iter().chain(given).collect(),
    })
}

/// Where somebody of the arm listened.
fn ports(scene: &Scene) -> Vec<u16> {
    let servers = scene.servers.values().map(|server| server.address);
    let edges = scene.edges.iter().flat_map(|edges| edges.places());
    let makers = scene.edge_server.iter().map(|server| server.address);
    // A server that was given goes on, and a straight way leads to it.
    let given = scene.spec.given.as_ref().map(|given| given.address);
    let own = servers.chain(edges).chain(makers);
    // What listens where a stranger took a dead server's place is not ours.
    own.filter(|place| Some(*place) != given && !scene.taken.contains(&place.port()))
        .map(|place| place.port())
        .collect()
}

/// The servers whose processes are there, and what asks each to end. A number is signalled only
/// while it is our child's.
fn running(scene: &Scene) -> Vec<(i32, Signal)> {
    let servers = scene.servers.values();
    let there = servers.filter(|server| server.standing != Standing::Gone);
    let edges = scene.edge_server.iter();
    let edges = edges.filter(|server| server.standing != Standing::Gone);
    let there = there.filter_map(|server| Some((server.pid?, asks_to_end(server))));
    let edges = edges.map(|server| (server.pid, Signal::SIGTERM));
    there.chain(edges).collect()
}

/// Postgres takes SIGTERM as a wish to end when nobody is connected any more.
fn asks_to_end(server: &Server) -> Signal {
    match server.followed {
        Followed::Decoded(_) => Signal::SIGQUIT,
        Followed::No
        | Followed::Over
        | Followed::Stream
        | Followed::Watched(_)
        | Followed::Logged(_)
        | Followed::Appended(_) => Signal::SIGTERM,
    }
}

//! A lock server that somebody else has started: it is followed and asked like one of the lab's own,
//! but never started, stopped or told to do anything, and the arm's keys do not stay there.

use super::players::{Followed, Server, Standing};
use super::scene::{SERVER, Scene};
use super::{DirectorError, following, until};
use crate::env::edge::ServerProtocol;
use crate::env::redis::door::Door;
use crate::env::redis::given;
use crate::env::redis::observe::Control;
use crate::plan::Service;
use crate::run::spec::GivenSpec;
use crate::timeline::event::Event;
use std::time::Duration;

/// It answered a moment ago.
const READY_MAX: Duration = Duration::from_secs(20);

/// Asks the server what it is, and follows it before the first worker comes.
pub async fn join(scene: &mut Scene, given: &GivenSpec) -> Result<(), DirectorError> {
    let found = given::look(given.address).await?;
    let door = Door::Port(given.address);
    let control = Control::connect(&door, scene.prefix(), READY_MAX).await?;
    following::follow(scene, (SERVER, door), None).await?;
    let server = Server {
        pid: None,
        service: Service::Lock,
        address: given.address,
        protocol: ServerProtocol::Redis,
        control: Some(control.into()),
        followed: Followed::Stream,
        standing: Standing::Up,
    };
    scene.servers.insert(SERVER.to_owned(), server);
    scene.record_lab(Event::ServerGiven {
        server: SERVER.to_owned(),
        address: given.address.to_string(),
        version: found.version,
    })
}

/// Removes what the arm has left on a given server, now that nobody writes there any more; the keys
/// that would not go. What is removed is no part of the drill.
pub async fn leave(scene: &mut Scene) -> Result<Vec<String>, DirectorError> {
    let Some(given) = scene.spec.given.clone() else {
        return Ok(Vec::new());
    };
    if let Some(server) = scene.servers.get_mut(SERVER) {
        server.followed = Followed::Over;
    }
    let (removed, left) = given::sweep(given.address, &given.prefix).await?;
    let text = format!(
        "removed from the given {SERVER}: {}",
        if removed.is_empty() {
            "nothing".to_owned()
        } else {
            removed.join(", ")
        }
    );
    scene.record_lab(Event::Note { text })?;
    let left = left.into_iter();
    Ok(left.map(|key| format!("key {key} on {SERVER}")).collect())
}

/// The same after an error: as far as it goes, once nobody can write any more.
pub async fn abandon(scene: &mut Scene) {
    if scene.spec.given.is_some() && until::workers_ended(scene).await.is_ok() {
        // The error that brought us here is the one to be told.
        let _ = leave(scene).await;
    }
}

//! Where a dead server was, nobody may answer until it is started again: what workers are told by a
//! stranger there, no observer sees.

use super::DirectorError;
use super::edges;
use super::players::Struck;
use super::scene::Scene;
use crate::env::action::Action;
use crate::env::edge::probe::probe;
use crate::timeline::event::{By, Event, Seen};
use std::time::Duration;

/// Longest wait for whoever may be there: nobody refuses at once.
const TRY_MAX: Duration = Duration::from_millis(150);

/// Tries the address of a dead server; whether nobody is there.
pub async fn try_place(
    scene: &mut Scene,
    (fault, struck): (&str, &Struck),
    moment: &str,
) -> Result<bool, DirectorError> {
    let name = struck.server()?;
    let Some(address) = scene.servers.get(name).map(|server| server.address) else {
        return Ok(false);
    };
    let fresh = edges::seen(&probe(address, scene.protocol(name), TRY_MAX).await);
    scene.record_lab(Event::Probe {
        fault: fault.to_owned(),
        moment: moment.to_owned(),
        edge: format!("lab>{name}"),
        hit: true,
        fresh,
        old: None,
    })?;
    if fresh == Seen::Refused {
        return Ok(true);
    }
    scene.taken.insert(address.port());
    let gap = Event::ObserverGap {
        server: name.to_owned(),
        why: "somebody else was where it had been".to_owned(),
    };
    scene.record(scene.now(), By::Server(name.to_owned()), gap)?;
    Ok(false)
}

/// Just before a heal: whether nobody is where a server died that is to be started again.
pub async fn place_is_free(
    scene: &mut Scene,
    onset: &[Action],
    (fault, struck): (&str, &Struck),
) -> Result<bool, DirectorError> {
    if onset.contains(&Action::AwaitNobody) {
        return try_place(scene, (fault, struck), "heal").await;
    }
    Ok(true)
}

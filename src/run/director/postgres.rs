//! Servers that are a Postgres. Of the lock's, nobody but the lab gets in before the observer follows
//! it; the store's is not followed, its log is read at the end.

use super::players::{Followed, Server, Standing};
use super::ready::ready;
use super::scene::{STORE, Scene};
use super::servers::{self, Program};
use super::{DirectorError, clocks, following, incoming, ports, until};
use crate::env::control::Control;
use crate::env::edge::ServerProtocol;
use crate::env::error::EnvError;
use crate::env::guard::Spawned;
use crate::env::postgres::observe;
use crate::env::postgres::server::{CLOSED, HBA, Launch};
use crate::env::postgres::stream;
use crate::plan::Service;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// `initdb` and the start take a second on an idle machine.
const READY_MAX: Duration = Duration::from_secs(60);

/// Where it listens in a network of the arm's own.
const fn own_port(service: Service) -> u16 {
    match service {
        Service::Lock => 5432,
        Service::Store => 5433,
    }
}

/// Starts the lock server, for the first time or again.
pub async fn up(scene: &mut Scene) -> Result<(), DirectorError> {
    let name = scene.service_name(Service::Lock);
    let folder = scene.folder(scene.spec.work_dir.join(name))?;
    let had = scene.servers.get(name).map(|server| server.address);
    let (address, spawned, control) = started(scene, (name, Service::Lock), (&folder, had)).await?;
    let place = match scene.servers.get(name).map(|server| &server.followed) {
        Some(Followed::Decoded(place)) => place.clone(),
        _first => {
            control.furnish().await?;
            stream::beginning(name, scene.prefix())
        }
    };
    scene.synced.remove(name);
    let out = incoming::observed(name, scene.outbox.clone());
    let way = (folder, address.port());
    tokio::spawn(stream::follow(way, place.clone(), out));
    until::synced(scene, name, READY_MAX).await?;
    let watched = Control::Postgres(control.clone());
    if had.is_some() {
        following::still_held(scene, name, &watched).await?;
    }
    control.open(address, READY_MAX).await?;
    let server = Server {
        pid: Some(spawned.pid),
        service: Service::Lock,
        address,
        protocol: ServerProtocol::Postgres,
        control: Some(watched),
        followed: Followed::Decoded(place),
        standing: Standing::Up,
    };
    servers::stands(scene, (name, server), spawned)
}

/// Starts the store's server, for the first time or again.
pub async fn store_up(scene: &mut Scene) -> Result<(), DirectorError> {
    let folder = scene.folder(scene.spec.work_dir.join(STORE))?;
    let had = scene.servers.get(STORE).map(|server| server.address);
    let (address, spawned, control) =
        started(scene, (STORE, Service::Store), (&folder, had)).await?;
    control.open(address, READY_MAX).await?;
    let server = Server {
        pid: Some(spawned.pid),
        service: Service::Store,
        address,
        protocol: ServerProtocol::Postgres,
        control: Some(Control::Postgres(control)),
        followed: Followed::No,
        standing: Standing::Up,
    };
    servers::stands(scene, (STORE, server), spawned)
}

/// A server that answers us.
async fn started(
    scene: &mut Scene,
    (name, service): (&'static str, Service),
    (folder, had): (&Path, Option<SocketAddr>),
) -> Result<(SocketAddr, Spawned, observe::Control), DirectorError> {
    ports::retried(scene, "could not create any TCP", async |scene| {
        let address = ports::address(scene.spec.isolation, (own_port(service), had))?;
        let spawned = spawn(scene, name, (folder, address.port())).await?;
        let prefix = scene.prefix().to_owned();
        let connect = observe::Control::connect((folder, address.port()), &prefix, READY_MAX);
        let control = ready(scene, (name, spawned.pid), connect).await?;
        Ok((address, spawned, control))
    })
    .await
}

async fn spawn(
    scene: &mut Scene,
    name: &'static str,
    (folder, port): (&Path, u16),
) -> Result<Spawned, DirectorError> {
    let env = |what: String, todo: &str| DirectorError::Env(EnvError::new(what, todo));
    let Some(programs) = scene.spec.postgres.clone() else {
        return Err(DirectorError::Bug("no Postgres was looked for".to_owned()));
    };
    std::fs::write(folder.join(HBA), CLOSED).map_err(|error| {
        let what = format!("cannot write who may come in: {error}");
        env(what, "free space in the state folder")
    })?;
    let launch = Launch {
        programs: &programs,
        folder,
        host: ports::bind(scene.spec.isolation),
        port,
    };
    let (path, args) = launch
        .command()
        .map_err(|why| env(why, "use a shorter state folder"))?;
    let program = Program {
        path,
        arg0: None,
        args,
        env: clocks::variables(scene, name)?,
    };
    servers::spawn(scene, name, program, folder.to_owned()).await
}

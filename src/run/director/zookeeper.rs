//! A lock server that is a ZooKeeper. It writes down every change: whatever is done before the
//! observer follows it is told all the same, and in order.

use super::players::{Followed, Server, Standing};
use super::ready::ready;
use super::scene::Scene;
use super::servers::{self, Program};
use super::{DirectorError, clocks, incoming, ports, until};
use crate::env::control::Control;
use crate::env::edge::ServerProtocol;
use crate::env::guard::Spawned;
use crate::env::zookeeper::observe;
use crate::env::zookeeper::server::Launch;
use crate::env::zookeeper::stream;
use crate::plan::Service;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// A fresh server answers in a second on an idle machine.
const READY_MAX: Duration = Duration::from_secs(30);

/// Where it listens in a network of the arm's own.
const OWN_PORT: u16 = 2181;

/// Starts the lock server, for the first time or again.
pub async fn up(scene: &mut Scene) -> Result<(), DirectorError> {
    let name = scene.service_name(Service::Lock);
    let folder = scene.folder(scene.spec.work_dir.join(name))?;
    let had = scene.servers.get(name).map(|server| server.address);
    let (address, spawned, control) = started(scene, name, (&folder, had)).await?;
    let place = match scene.servers.get(name).map(|server| &server.followed) {
        Some(Followed::Logged(place)) => place.clone(),
        _first => stream::beginning(name, scene.prefix()),
    };
    scene.synced.remove(name);
    let out = incoming::observed(name, scene.outbox.clone());
    let log = Launch::log(&folder);
    tokio::spawn(stream::follow(control.clone(), log, place.clone(), out));
    until::synced(scene, name, READY_MAX).await?;
    let server = Server {
        pid: Some(spawned.pid),
        service: Service::Lock,
        address,
        protocol: ServerProtocol::Zookeeper,
        control: Some(Control::Zookeeper(control)),
        followed: Followed::Logged(place),
        standing: Standing::Up,
    };
    servers::stands(scene, (name, server), spawned)
}

/// A server that answers us.
async fn started(
    scene: &mut Scene,
    name: &'static str,
    (folder, had): (&Path, Option<SocketAddr>),
) -> Result<(SocketAddr, Spawned, observe::Control), DirectorError> {
    ports::retried(scene, "Address already in use", async |scene| {
        let address = ports::address(scene.spec.isolation, (OWN_PORT, had))?;
        let spawned = spawn(scene, name, (folder, address.port())).await?;
        let prefix = scene.prefix().to_owned();
        let connect = observe::Control::connect(address, &prefix, READY_MAX);
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
    let Some(zookeeper) = scene.spec.zookeeper.clone() else {
        return Err(DirectorError::Bug("no ZooKeeper was looked for".to_owned()));
    };
    let host = ports::bind(scene.spec.isolation);
    let launch = Launch { folder, host, port };
    launch.prepare().map_err(DirectorError::Record)?;
    let program = Program {
        args: launch.args(&zookeeper.jars),
        path: zookeeper.java,
        arg0: None,
        env: clocks::variables(scene, name)?,
    };
    servers::spawn(scene, name, program, folder.to_owned()).await
}

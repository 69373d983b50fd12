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
use crate::env::isolation::Mode;
use crate::env::zookeeper::observe;
use crate::env::zookeeper::server::Launch;
use crate::env::zookeeper::stream;
use crate::plan::Service;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
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

/// A server that answers us, at the address that it had before, at a fixed one in a network of our
/// own, at a free one elsewhere.
async fn started(
    scene: &mut Scene,
    name: &'static str,
    (folder, had): (&Path, Option<SocketAddr>),
) -> Result<(SocketAddr, Spawned, observe::Control), DirectorError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let address = match (scene.spec.isolation, had) {
            (Mode::Namespace, _) => SocketAddr::new(ports::HOST, OWN_PORT),
            (Mode::Guard, Some(had)) => had,
            (Mode::Guard, None) => ports::free_address()?,
        };
        let spawned = spawn(scene, name, (folder, address.port())).await?;
        let prefix = scene.prefix().to_owned();
        let connect = observe::Control::connect(address, &prefix, READY_MAX);
        match ready(scene, (name, spawned.pid), connect).await {
            Ok(control) => return Ok((address, spawned, control)),
            // Somebody else took the port in between.
            Err(DirectorError::Env(error))
                if tries < ports::TRIES && error.what.contains("Address already in use") => {}
            Err(error) => return Err(error),
        }
    }
}

async fn spawn(
    scene: &mut Scene,
    name: &'static str,
    (folder, port): (&Path, u16),
) -> Result<Spawned, DirectorError> {
    let Some(zookeeper) = scene.spec.zookeeper.clone() else {
        return Err(DirectorError::Bug("no ZooKeeper was looked for".to_owned()));
    };
    // Where the network is the arm's own, each edge may lead to an address of its own.
    let host = match scene.spec.isolation {
        Mode::Namespace => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        Mode::Guard => ports::HOST,
    };
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

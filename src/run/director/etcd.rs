//! A lock server that is an etcd. It keeps every revision: whatever is done before the observer
//! follows it is told all the same, and in order.

use super::players::{Followed, Server, Standing};
use super::ready::ready;
use super::scene::Scene;
use super::servers::{self, Program};
use super::{DirectorError, clocks, incoming, ports, until};
use crate::env::control::Control;
use crate::env::edge::ServerProtocol;
use crate::env::etcd::observe;
use crate::env::etcd::server::Launch;
use crate::env::etcd::stream;
use crate::env::guard::Spawned;
use crate::env::isolation::Mode;
use crate::plan::Service;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// A fresh server answers in 300 ms on an idle machine.
const READY_MAX: Duration = Duration::from_secs(20);

/// Where it listens in a network of the arm's own, for clients and for other members.
const OWN_PORTS: (u16, u16) = (2379, 2380);

/// Starts the lock server, for the first time or again.
pub async fn up(scene: &mut Scene) -> Result<(), DirectorError> {
    let name = scene.service_name(Service::Lock);
    let folder = scene.folder(scene.spec.work_dir.join(name))?;
    let had = scene.servers.get(name).map(|server| server.address);
    let (address, spawned, control) = started(scene, name, (&folder, had)).await?;
    let place = match scene.servers.get(name).map(|server| &server.followed) {
        Some(Followed::Watched(place)) => place.clone(),
        _first => stream::beginning(name, scene.prefix()),
    };
    scene.synced.remove(name);
    let out = incoming::observed(name, scene.outbox.clone());
    tokio::spawn(stream::follow(address, place.clone(), out));
    until::synced(scene, name, READY_MAX).await?;
    let server = Server {
        pid: Some(spawned.pid),
        service: Service::Lock,
        address,
        protocol: ServerProtocol::Etcd,
        control: Some(Control::Etcd(control)),
        followed: Followed::Watched(place),
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
    ports::retried(scene, "address already in use", async |scene| {
        let (address, peers) = match (scene.spec.isolation, had) {
            (Mode::Namespace, _) => (at(OWN_PORTS.0), at(OWN_PORTS.1)),
            (Mode::Guard, Some(had)) => (had, ports::free_address()?),
            (Mode::Guard, None) => match ports::quiet_ports(2)?[..] {
                [clients, peers] => (at(clients), at(peers)),
                _ => return Err(DirectorError::Bug("two ports are not two".to_owned())),
            },
        };
        let spawned = spawn(scene, name, (folder, address.port(), peers)).await?;
        let prefix = scene.prefix().to_owned();
        let connect = observe::Control::connect(address, &prefix, READY_MAX);
        let control = ready(scene, (name, spawned.pid), connect).await?;
        Ok((address, spawned, control))
    })
    .await
}

const fn at(port: u16) -> SocketAddr {
    SocketAddr::new(ports::HOST, port)
}

async fn spawn(
    scene: &mut Scene,
    name: &'static str,
    (folder, port, peers): (&Path, u16, SocketAddr),
) -> Result<Spawned, DirectorError> {
    let Some(path) = scene.spec.etcd.clone() else {
        return Err(DirectorError::Bug("no etcd was looked for".to_owned()));
    };
    let host = ports::bind(scene.spec.isolation);
    let launch = Launch {
        folder,
        host,
        port,
        peers,
    };
    let program = Program {
        path,
        arg0: None,
        args: launch.args(),
        env: clocks::variables(scene, name)?,
    };
    servers::spawn(scene, name, program, folder.to_owned()).await
}

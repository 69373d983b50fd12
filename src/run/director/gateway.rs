//! A store's server that is a gateway: a process of lockdrill's own, with its data in the arm's folder.
//! It is not followed; the log of the service behind it is read at the end.

use super::players::{Followed, Server, Standing};
use super::ready::ready;
use super::scene::{STORE, Scene};
use super::servers::{self, Program};
use super::{DirectorError, clocks, ports};
use crate::env::edge::ServerProtocol;
use crate::env::error::EnvError;
use crate::env::gateway;
use crate::plan::Service;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// It answers in a few ms on an idle machine.
const READY_MAX: Duration = Duration::from_secs(20);

/// Starts it, for the first time or again.
pub async fn store_up(scene: &mut Scene) -> Result<(), DirectorError> {
    let folder = scene.folder(scene.spec.work_dir.join(STORE))?;
    let had = scene.servers.get(STORE).map(|server| server.address);
    let own_port = ports::own_port(Service::Store);
    let (address, spawned) = ports::retried(scene, "Address already in use", async |scene| {
        let address = ports::address(scene.spec.isolation, (own_port, had))?;
        let listen = SocketAddr::new(ports::bind(scene.spec.isolation), address.port());
        let args = ["gateway", "--listen", &listen.to_string(), "--folder", "."];
        let program = Program {
            path: scene.spec.program.clone(),
            arg0: None,
            args: args.map(str::to_owned).to_vec(),
            env: clocks::variables(scene, STORE)?,
        };
        let spawned = servers::spawn(scene, STORE, program, folder.clone()).await?;
        ready(scene, (STORE, spawned.pid), answers(address)).await?;
        Ok((address, spawned))
    })
    .await?;
    let server = Server {
        pid: Some(spawned.pid),
        service: Service::Store,
        address,
        protocol: ServerProtocol::Gateway,
        control: None,
        followed: Followed::No,
        standing: Standing::Up,
    };
    servers::stands(scene, (STORE, server), spawned)
}

/// Waits until it answers.
async fn answers(address: SocketAddr) -> Result<(), EnvError> {
    let until = Instant::now() + READY_MAX;
    loop {
        match gateway::enter(address).await {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > until => {
                let what = format!("the gateway at {address} does not answer: {error}");
                return Err(EnvError::new(what, "see its log in the run directory"));
            }
            Err(_) => sleep(Duration::from_millis(5)).await,
        }
    }
}

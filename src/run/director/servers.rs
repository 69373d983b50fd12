//! Servers first: each answers, and the observer is in sync with the lock server, before anybody
//! else can reach it. A server that a fault has killed is started again the same way.

use super::players::{Followed, Server, Standing};
use super::ready::{log_of, ready};
use super::scene::{STORE, Scene};
use super::{
    DirectorError, clocks, etcd, following, gateway, given, members, ports, postgres, until,
    zookeeper,
};
use crate::env::deployment;
use crate::env::edge::ServerProtocol;
use crate::env::error::EnvError;
use crate::env::guard::{ChildRole, Spawn, Spawned};
use crate::env::isolation::Mode;
use crate::env::redis::door::Door;
use crate::env::redis::find::RedisBinary;
use crate::env::redis::observe;
use crate::env::redis::server;
use crate::plan::{Persist, Service};
use crate::run::run_dir;
use crate::store::StoreServer;
use crate::timeline::event::Event;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A fresh server answers in 12 ms on an idle machine.
const READY_MAX: Duration = Duration::from_secs(20);

/// Starts the lock server, and the store's server if the store lives on one. Nobody observes that
/// one: the store's log is read at the end.
pub async fn start(scene: &mut Scene) -> Result<(), DirectorError> {
    match (
        scene.spec.given.clone(),
        deployment::of(&scene.plan.lock.backend),
    ) {
        (Some(given), _) => given::join(scene, &given).await?,
        (None, Some(kind)) => members::start(scene, kind).await?,
        (None, None) => {
            for name in scene.lock_servers() {
                lock_up(scene, &name).await?;
            }
        }
    }
    if let Some(server) = scene.store_kind()?.server {
        store_up(scene, server).await?;
    }
    until::sample_clock(scene, 5).await
}

/// Starts a server again, at the address that it had, with what it left on disk. Puts on the
/// record what the lock server still holds, before anybody else can reach it.
pub async fn again(scene: &mut Scene, name: &str) -> Result<(), DirectorError> {
    let service = match scene.servers.get(name) {
        Some(server) => server.service,
        None => {
            return Err(DirectorError::Bug(format!(
                "no server {name} to start again"
            )));
        }
    };
    match service {
        Service::Lock => lock_up(scene, name).await,
        Service::Store => match scene.store_kind()?.server {
            Some(server) => store_up(scene, server).await,
            None => Err(DirectorError::Bug("the store has no server".to_owned())),
        },
    }
}

/// The server that the store lives on.
async fn store_up(scene: &mut Scene, server: StoreServer) -> Result<(), DirectorError> {
    match server {
        StoreServer::Redis => up(scene, Service::Store, STORE).await,
        StoreServer::Postgres => postgres::store_up(scene).await,
        StoreServer::Gateway => gateway::store_up(scene).await,
    }
}

/// The lock's server, or one of those that have a vote.
async fn lock_up(scene: &mut Scene, name: &str) -> Result<(), DirectorError> {
    if scene.locks_on_postgres() {
        postgres::up(scene).await
    } else if scene.locks_on_etcd() {
        etcd::up(scene).await
    } else if scene.locks_on_zookeeper() {
        zookeeper::up(scene).await
    } else {
        up(scene, Service::Lock, name).await
    }
}

/// A server that answers on its socket, is followed, and then on its port.
async fn up(scene: &mut Scene, service: Service, role: &str) -> Result<(), DirectorError> {
    let folder = scene.folder(scene.spec.work_dir.join(role))?;
    let socket = server::socket(&folder)
        .map_err(|why| DirectorError::Env(EnvError::new(why, "use a shorter state folder")))?;
    let persist = match service {
        Service::Lock => scene.plan.lock.persist,
        Service::Store => Persist::None,
    };
    let bind = ports::bind(scene.spec.isolation);
    let args = server::args(bind, &socket, &folder, persist);
    let (path, kept) = match service {
        Service::Lock => (&scene.spec.lock_redis, &scene.plan.server.kept[..]),
        Service::Store => (&scene.spec.redis, &[][..]),
    };
    let given = server::given(&folder, kept).map_err(DirectorError::Record)?;
    let program = Program {
        path: path.clone(),
        arg0: Some(RedisBinary::ARG0),
        args: given.into_iter().chain(args).collect(),
        env: clocks::variables(scene, role)?,
    };
    let spawned = spawn(scene, role, program, folder).await?;
    let had = scene.servers.get(role).map(|server| server.address);
    let door = Door::Socket(socket);
    let prefix = scene.prefix().to_owned();
    let connect = observe::Control::connect(&door, &prefix, READY_MAX);
    let control = ready(scene, (role, spawned.pid), connect).await?;
    let mut followed = Followed::No;
    if service == Service::Lock {
        followed = Followed::Stream;
        let again = had.map(|_| control.clone().into());
        following::follow(scene, (role, door), again.as_ref()).await?;
    }
    let address = open(scene, own_port(scene, service, role), (&control, had)).await?;
    let server = Server {
        pid: Some(spawned.pid),
        service,
        address,
        protocol: ServerProtocol::Redis,
        control: Some(control.into()),
        followed,
        standing: Standing::Up,
    };
    stands(scene, (role, server), spawned)
}

/// From here on it is one of the arm's servers.
pub fn stands(
    scene: &mut Scene,
    (name, server): (&str, Server),
    spawned: Spawned,
) -> Result<(), DirectorError> {
    scene.servers.insert(name.to_owned(), server);
    scene.record_lab(Event::ServerStarted {
        server: name.to_owned(),
        pid: spawned.pid,
        start_ticks: spawned.start_ticks,
    })
}

/// Where a server listens in a network namespace of the arm's own: those that have a vote one behind
/// the other, above the store's.
fn own_port(scene: &Scene, service: Service, role: &str) -> u16 {
    let voters = scene.lock_servers();
    let place = voters.iter().position(|name| name == role);
    match place.filter(|_| voters.len() > 1) {
        Some(place) => ports::own_port(Service::Store) + 1 + place as u16,
        None => ports::own_port(service),
    }
}

/// Lets everybody in: at the address that it had before, at a fixed one in a network namespace of
/// our own, at a free one elsewhere.
async fn open(
    scene: &Scene,
    own_port: u16,
    (control, had): (&observe::Control, Option<SocketAddr>),
) -> Result<SocketAddr, DirectorError> {
    let fixed = match scene.spec.isolation {
        Mode::Namespace => Some(SocketAddr::new(ports::HOST, own_port)),
        Mode::Guard => had,
    };
    let mut tries = 0;
    loop {
        tries += 1;
        let address = fixed.map_or_else(ports::free_address, Ok)?;
        match control.open_port(address.port()).await {
            Ok(()) => return Ok(address),
            Err(_) if tries < ports::TRIES && fixed.is_none() => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// What a server is started with.
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// Name to run it under, if not its own.
    pub arg0: Option<&'static str>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Further variables.
    pub env: Vec<(String, String)>,
}

/// Starts a server of this name in its folder.
pub async fn spawn(
    scene: &mut Scene,
    name: &str,
    program: Program,
    folder: PathBuf,
) -> Result<Spawned, DirectorError> {
    let logs = scene.folder(scene.spec.arm_dir.join(run_dir::LOGS))?;
    let what = format!("cannot start {}", program.path.display());
    let spawn = Spawn {
        name: name.to_owned(),
        role: ChildRole::Server,
        program: program.path,
        arg0: program.arg0.map(str::to_owned),
        args: program.args,
        env: program.env,
        cwd: folder,
        log: log_of(&logs, name),
    };
    scene.guard.spawn(spawn, None).await.map_err(|error| {
        let why = format!("{what}: {error}");
        DirectorError::Env(EnvError::new(why, "run `lockdrill doctor`"))
    })
}

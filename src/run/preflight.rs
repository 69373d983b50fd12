//! Before the first arm: is this machine ready? Nothing has been started yet.

use crate::env::edge;
use crate::env::error::EnvError;
use crate::env::etcd::find::{self as find_etcd, Program};
use crate::env::isolation::{self, Choice, Decision, Mode};
use crate::env::machine;
use crate::env::postgres::find::{self as find_postgres, Programs};
use crate::env::redis::find::{self, RedisBinary};
use crate::env::redis::given::{self, Given};
use crate::env::zookeeper::find::{self as find_zookeeper, Program as Zookeeper};
use crate::plan::Plan;
use crate::run::services::Service;
use crate::run::target::{self, Target};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// How and where a run is to be played.
#[derive(Debug, Clone)]
pub struct Wish<'a> {
    /// Folder of all run directories.
    pub out: &'a Path,
    /// One JUnit file over all executions.
    pub junit: Option<&'a Path>,
    /// How arms are to be kept apart.
    pub isolation: Choice,
    /// A lock server that is given.
    pub target: Option<Target>,
    /// Every arm: some name the program of their lock server.
    pub plans: Vec<&'a Plan>,
}

impl Wish<'_> {
    /// Some arm needs it.
    fn needs(&self, service: Service) -> bool {
        self.plans.iter().any(|plan| service.is_needed_by(plan))
    }
}

/// What an arm needs from this machine.
#[derive(Debug, Clone)]
pub struct Ready {
    /// The server program of the lab.
    pub redis: RedisBinary,
    /// The server programs that drills name for their locks.
    pub named: BTreeMap<String, RedisBinary>,
    /// The Postgres programs, if some lock or store lives on one.
    pub postgres: Option<Programs>,
    /// The etcd, if some lock lives on one.
    pub etcd: Option<Program>,
    /// Java and the jars of ZooKeeper, if some lock lives on one.
    pub zookeeper: Option<Zookeeper>,
    /// How arms are kept apart.
    pub isolation: Mode,
    /// Why it is not the stronger way, if `auto` had to fall back.
    pub fallback: Option<String>,
    /// lockdrill itself, to be started as guard, director and worker.
    pub program: PathBuf,
    /// Folder of all run directories, absolute.
    pub out: PathBuf,
    /// How late a short sleep was at most, ns: the noise of this host.
    pub late_ns: u64,
    /// The lock server that is given, and what it said of itself.
    pub target: Option<(Target, Given)>,
}

impl Ready {
    /// The server program of a plan's lock.
    pub fn redis_of(&self, plan: &Plan) -> &RedisBinary {
        let named = plan.server.binary.as_ref();
        named
            .and_then(|named| self.named.get(named))
            .unwrap_or(&self.redis)
    }
}

/// How long the host is listened to before a run, ns.
const LISTEN_NS: u64 = 200_000_000;

/// Looks at everything that can be known before an arm starts.
///
/// # Errors
/// The first thing that is missing, with what to do about it.
pub fn check(wish: &Wish<'_>) -> Result<Ready, EnvError> {
    let out = writable(wish.out)?;
    if let Some(file) = wish.junit {
        replaceable(file)?;
    }
    let mut named = BTreeMap::new();
    for binary in wish
        .plans
        .iter()
        .filter_map(|plan| plan.server.binary.as_ref())
    {
        if !named.contains_key(binary) {
            named.insert(binary.clone(), find::named(binary)?);
        }
    }
    let redis = find::find().or_else(|error| {
        // Where every drill brings its own there need be no other.
        let all = wish.plans.iter().all(|plan| plan.server.binary.is_some());
        named.values().next().filter(|_| all).cloned().ok_or(error)
    })?;
    let postgres = wish.needs(Service::Postgres).then(find_postgres::find);
    let etcd = wish.needs(Service::Etcd).then(find_etcd::find);
    let zookeeper = wish.needs(Service::Zookeeper).then(find_zookeeper::find);
    let program = std::env::current_exe().map_err(|error| {
        EnvError::new(
            format!("cannot find lockdrill's own program: {error}"),
            "start it by its full path",
        )
    })?;
    let Decision {
        mode: isolation,
        fallback,
    } = isolation::decide(choice(wish))
        .map_err(|error| EnvError::new(error.to_string(), "or let --isolation auto choose"))?;
    if isolation == Mode::Guard {
        without_own_network(wish, fallback.as_deref())?;
    }
    let target = match &wish.target {
        Some(target) => Some((target.clone(), look(target)?)),
        None => None,
    };
    Ok(Ready {
        redis,
        named,
        postgres: postgres.transpose()?,
        etcd: etcd.transpose()?,
        zookeeper: zookeeper.transpose()?,
        isolation,
        fallback,
        program,
        out,
        late_ns: machine::lateness_ns(LISTEN_NS),
        target,
    })
}

/// What to do where the network is everybody's.
pub const OTHER_PROXY: &str = "choose another proxy with --set network.proxy=builtin";

/// The first drill whose edges can be made only in a network of the arm's own, in words; none if
/// there is no such drill.
pub fn needs_own_network(plans: &[&Plan]) -> Option<String> {
    plans.iter().find_map(|plan| {
        let kind = edge::find(&plan.network.proxy).filter(|kind| kind.needs_namespace)?;
        let (drill, name) = (&plan.drill, kind.name);
        Some(format!(
            "{drill}: the edges of `{name}` need a network of the arm's own"
        ))
    })
}

/// Refuses what cannot be done where arms have no network of their own.
fn without_own_network(wish: &Wish<'_>, why: Option<&str>) -> Result<(), EnvError> {
    let Some(what) = needs_own_network(&wish.plans) else {
        return Ok(());
    };
    let why = why.unwrap_or("they were not asked for");
    let what = format!("{what}, and there are no namespaces: {why}");
    Err(EnvError::new(what, OTHER_PROXY))
}

/// Nobody in a network of their own could reach a server that is given.
fn choice(wish: &Wish<'_>) -> Choice {
    match (&wish.target, wish.isolation) {
        (Some(_), Choice::Auto) => Choice::Guard,
        (_, choice) => choice,
    }
}

/// Asks a server that is given what it is.
fn look(target: &Target) -> Result<Given, EnvError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| EnvError::new(format!("no runtime: {error}"), "try again"))?;
    runtime
        .block_on(given::look(target.address))
        .map_err(|error| {
            if target.name == target::COMPOSE {
                let todo = "`docker compose up -d --wait` starts it, `docker compose restart redis` empties it";
            return EnvError::new(error.what, todo);
            }
            error
        })
}

/// Creates the folder and proves that it can be written by writing.
fn writable(out: &Path) -> Result<PathBuf, EnvError> {
    let refused = |error: io::Error| {
        EnvError::new(
            format!("output folder {} is not writable: {error}", out.display()),
            "choose another one with --out",
        )
    };
    speakable(out).map_err(refused)?;
    std::fs::create_dir_all(out).map_err(refused)?;
    let out = out.canonicalize().map_err(refused)?;
    speakable(&out).map_err(refused)?;
    let trial = out.join(format!(".trial-{}", std::process::id()));
    std::fs::write(&trial, b"x").map_err(refused)?;
    std::fs::remove_file(&trial).map_err(refused)?;
    Ok(out)
}

/// Paths of a run stand in JSON, which holds nothing but Unicode.
fn speakable(path: &Path) -> io::Result<()> {
    match path.to_str() {
        Some(_) => Ok(()),
        None => Err(io::Error::new(
            io::ErrorKind::InvalidFilename,
            "its name is not valid UTF-8",
        )),
    }
}

/// Proves that a file can be put in place at the end, without touching one that is there.
fn replaceable(file: &Path) -> Result<(), EnvError> {
    let refused = |error: io::Error| {
        EnvError::new(
            format!("{} cannot be written: {error}", file.display()),
            "choose another file with --junit, in a folder that is there",
        )
    };
    let Some(name) = file.file_name().filter(|_| !file.is_dir()) else {
        return Err(refused(io::ErrorKind::IsADirectory.into()));
    };
    let name = name.to_string_lossy();
    let trial = file.with_file_name(format!(".{name}.{}.trial", std::process::id()));
    std::fs::write(&trial, b"x").map_err(refused)?;
    std::fs::remove_file(&trial).map_err(refused)
}

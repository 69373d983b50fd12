//! Everything one arm has: the record, the servers, the workers, the faults, and what has been
//! seen so far.

use super::clocks::Clock;
use super::edges::{EdgeServing, Edges};
use super::incoming::{self, Incoming};
use super::players::{Fault, Server, Worker};
use super::progress::{self, Progress};
use super::truth::Truth;
use super::{DirectorError, Ending};
use crate::clock::monotonic_ns;
use crate::env::deployment::Member;
use crate::env::error::EnvError;
use crate::env::guard::{ChildEvent, Client};
use crate::env::ledger::{Entry, Ledger};
use crate::env::redis::given;
use crate::plan::Plan;
use crate::run::recorder::Recorder;
use crate::run::run_dir;
use crate::run::spec::ArmSpec;
use crate::run::stall::StallWatch;
use crate::store::{self, StoreKind};
use crate::timeline::event::{By, Event, FORMAT, Line};
use crate::timeline::names::Namer;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Name of the lock server in the record, if it is a Redis.
pub const SERVER: &str = "redis";

/// Name of the lock server in the record, if it is a Postgres.
pub const POSTGRES: &str = "postgres";

/// Name of the lock server in the record, if it is an etcd.
pub const ETCD: &str = "etcd";
/// Name of the lock server in the record, if it is a ZooKeeper.
pub const ZOOKEEPER: &str = "zookeeper";

/// Name of the store's server, if it has one.
pub const STORE: &str = "store";

/// In front of every key of an arm, on a server of its own.
const PREFIX: &str = given::OWN;

/// The arm.
pub struct Scene {
    pub spec: ArmSpec,
    pub plan: Plan,
    pub zero_ns: u64,
    pub guard: Client,
    pub inbox: UnboundedReceiver<Incoming>,
    pub outbox: UnboundedSender<Incoming>,
    /// What a lock of several servers is connected with.
    pub deployed: Option<String>,
    /// The members of a lock of several servers, as they were started first.
    pub members: Vec<Member>,
    pub servers: BTreeMap<String, Server>,
    /// The ways from workers to servers, once they are open.
    pub edges: Option<Edges>,
    /// The server that makes them, if one does.
    pub edge_server: Option<EdgeServing>,
    /// The next place in each server's order.
    positions: BTreeMap<String, u64>,
    pub workers: BTreeMap<String, Worker>,
    /// Wall clocks that a fault moves, by the name of their process.
    pub clocks: BTreeMap<String, Clock>,
    pub faults: Vec<Fault>,
    pub truth: Truth,
    pub seen: HashSet<String>,
    /// Workers that have stood at their start.
    pub ready: HashSet<String>,
    /// Servers whose effects are seen as they happen.
    pub synced: HashSet<String>,
    /// Marks that have come by before the end.
    pub marks: HashSet<String>,
    /// Servers of which everything that counts has been seen.
    pub caught_up: HashSet<String>,
    /// Everything that counts is to be seen: what ends now was meant to end.
    pub over: bool,
    pub ending: Option<Ending>,
    /// Ports of dead servers at which somebody else was found: what listens there is not ours.
    pub taken: HashSet<u16>,
    ledger: Ledger,
    recorder: Recorder,
    namer: Namer,
    _stalls: StallWatch,
}

impl Scene {
    /// Opens the record first of all, then everything that reports to the director.
    pub fn open(spec: ArmSpec, plan: Plan) -> Result<Self, DirectorError> {
        let zero_ns = monotonic_ns();
        let recorder = Recorder::create(&spec.arm_dir.join(run_dir::TIMELINE))
            .map_err(DirectorError::Record)?;
        let state = spec.work_dir.parent().unwrap_or(&spec.work_dir);
        let ledger = Ledger::open(state)
            .map_err(|error| DirectorError::Bug(format!("no ledger: {error}")))?;
        let (outbox, inbox) = unbounded_channel();
        let (guard, children) = Client::from_env()
            .map_err(|error| DirectorError::Bug(format!("no guard to talk to: {error}")))?;
        forward_children(children, outbox.clone());
        incoming::interrupts(outbox.clone())
            .map_err(|error| DirectorError::Bug(format!("no signal handlers: {error}")))?;
        let tell = outbox.clone();
        let stalls = StallWatch::start(move |from, to| {
            let _ = tell.send(Incoming::Stall(from, to));
        })
        .map_err(|error| DirectorError::Bug(format!("no stall watch: {error}")))?;
        let mut scene = Scene {
            faults: plan.faults.iter().map(Fault::waiting).collect(),
            namer: Namer::default(),
            truth: Truth::by(plan.lock.quorum()),
            spec,
            plan,
            zero_ns,
            guard,
            inbox,
            outbox,
            deployed: None,
            members: Vec::new(),
            servers: BTreeMap::new(),
            edges: None,
            edge_server: None,
            positions: BTreeMap::new(),
            workers: BTreeMap::new(),
            clocks: BTreeMap::new(),
            seen: HashSet::new(),
            ready: HashSet::new(),
            synced: HashSet::new(),
            marks: HashSet::new(),
            caught_up: HashSet::new(),
            over: false,
            ending: None,
            taken: HashSet::new(),
            ledger,
            recorder,
            _stalls: stalls,
        };
        scene.record_lab(Event::Start {
            format: FORMAT,
            drill: scene.plan.drill.clone(),
            arm: scene.plan.arm.clone(),
            run: scene.spec.run.clone(),
            isolation: scene.spec.isolation.word().to_owned(),
        })?;
        Ok(scene)
    }

    /// Lab time now, ns.
    pub fn now(&self) -> u64 {
        self.lab(monotonic_ns())
    }

    /// Lab time of a reading of `CLOCK_MONOTONIC`, ns.
    pub fn lab(&self, monotonic_ns: u64) -> u64 {
        monotonic_ns.saturating_sub(self.zero_ns)
    }

    /// Puts one event on the record and takes note of it.
    pub fn record(&mut self, at: u64, by: By, event: Event) -> Result<(), DirectorError> {
        let line: Line = self
            .recorder
            .append(at, by, event)
            .map_err(DirectorError::Record)?;
        let said = progress::sentence(&line, &self.truth);
        self.truth.note(&line);
        self.seen.extend(self.namer.names_of(&line));
        if let Some(text) = said {
            progress::tell(&Progress::Said { at: line.at, text });
        }
        Ok(())
    }

    /// An event of the lab itself, now.
    pub fn record_lab(&mut self, event: Event) -> Result<(), DirectorError> {
        self.record(self.now(), By::Lab, event)
    }

    /// Writes into the ledger what is about to be broken, or was mended: whoever finds this arm
    /// dead must be able to undo it.
    pub fn announce(&self, entry: &Entry) -> Result<(), DirectorError> {
        self.ledger.note(entry).map_err(|error| {
            DirectorError::Env(EnvError::new(
                format!("the ledger cannot be written: {error}"),
                "free space in the state folder",
            ))
        })
    }

    /// The arm reached a phase.
    pub fn phase(&mut self, name: &str) -> Result<(), DirectorError> {
        self.record_lab(Event::Phase {
            name: name.to_owned(),
        })?;
        self.flush()
    }

    /// Hands the record to the operating system: before a fault, a go or a kill.
    pub fn flush(&mut self) -> Result<(), DirectorError> {
        self.recorder.flush().map_err(DirectorError::Record)
    }

    /// The next place in a server's order: goes on where a server is started again.
    pub fn next_pos(&mut self, server: &str) -> u64 {
        let next = self.positions.entry(server.to_owned()).or_default();
        *next += 1;
        *next - 1
    }

    /// In front of every key of this arm: on a server that others may use, its own.
    pub fn prefix(&self) -> &str {
        let given = self.spec.given.as_ref();
        given.map_or(PREFIX, |given| &given.prefix)
    }

    /// The registry's entry for this arm's store.
    pub fn store_kind(&self) -> Result<&'static StoreKind, DirectorError> {
        let name = &self.plan.store.kind;
        store::find(name)
            .ok_or_else(|| DirectorError::Bug(format!("no store `{name}` in the registry")))
    }

    /// Creates a folder of this arm.
    pub fn folder(&self, path: PathBuf) -> Result<PathBuf, DirectorError> {
        std::fs::create_dir_all(&path).map_err(|error| {
            DirectorError::Env(EnvError::new(
                format!("cannot create {}: {error}", path.display()),
                "choose a writable folder with --out",
            ))
        })?;
        Ok(path)
    }
}

fn forward_children(mut children: UnboundedReceiver<ChildEvent>, out: UnboundedSender<Incoming>) {
    tokio::spawn(async move {
        while let Some(event) = children.recv().await {
            if out.send(Incoming::Child(event)).is_err() {
                return;
            }
        }
    });
}

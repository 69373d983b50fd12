//! `lockdrill worker`: one process that contends for the lock and writes to the store.
//!
//! It does what its script says and nothing else, and it says each thing before it does it: one
//! line on stdout, by one `write(2)`, before the effect. Where it has to wait it reads one byte
//! from stdin. Both pipes end at the lab; when either is gone the process ends at once, because a
//! write to the store that nobody records would be damage without a witness.
//!
//! It ends with 0 after its script, 2 if its specification is wrong, 3 when the lab is gone, 4 if
//! lock service or store cannot be reached at the start (then its only line is a note), 70 if it
//! fails by its own defect. Asked to end by SIGTERM, it says so and does what its plan says: it ends
//! at once with 143, like one that is killed, or finishes its work first.
//!
//! The script runs on a thread of its own, so that standing at a point never keeps the runtime
//! from renewing the lease: a worker that is parked, but not stopped, stays a rightful holder.
//! Unless the plan says that renewals run on the script's thread: then all of it starves.

use crate::exit::Exit;
use crate::plan::{Plan, RunsOn, WorkerPlan};
use crate::store::queue::QueueSpec;
use crate::store::{self, StoreSpec};
use crate::timeline::event::Event;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

mod claim;
mod lab;
mod locking;
mod publishing;
mod record;
mod script;
mod signals;
mod source;
mod stage;
mod writing;

/// What the lab tells one worker. Written as a file by the director; holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerSpec {
    /// Which worker of the plan this process is.
    pub worker: String,
    /// The arm.
    pub plan: Plan,
    /// `CLOCK_MONOTONIC` of lab time 0, ns.
    pub lab_zero_ns: u64,
    /// How this worker reaches the lock service.
    pub lock: LockSpec,
    /// How this worker reaches the store.
    pub store: StoreSpec,
    /// How this worker reaches the queue; none if nothing is published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueSpec>,
    /// Points at which it waits for a byte, `<worker>.<step>.<n>.<before|armed|after>` or
    /// `<worker>.start`; at all others it only says that it was there.
    pub park_at: Vec<String>,
}

/// How a worker reaches the lock service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockSpec {
    /// Where it is, in the back end's own form; no credentials.
    pub address: String,
    /// In front of every key.
    pub prefix: String,
}

/// One line of a worker's stdout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerLine {
    /// Lab time, ns.
    pub at: u64,
    /// What happens next, or has just been learned.
    pub event: Event,
}

/// Longest name of a worker or a step: keeps every line below what a pipe writes atomically.
const NAME_MAX: usize = 64;

/// Runs the worker of this process to the end of its script.
pub fn run(spec: &WorkerSpec) -> Exit {
    let plan = match checked(spec) {
        Ok(plan) => plan,
        Err(message) => {
            tracing::error!(%message, "the worker's specification is wrong");
            return Exit::Usage;
        }
    };
    let record = Arc::new(record::Record::new(spec.lab_zero_ns));
    let asked = Arc::new(signals::Asked::default());
    let listening =
        signals::hold().and_then(|()| signals::listen(&record, plan.on_sigterm, &asked));
    lab::watch();
    let worked = listening.and_then(|()| perform((spec, plan), &record, &asked));
    match worked {
        Ok(exit) => exit,
        Err(message) => {
            tracing::error!(%message, "cannot work");
            let text = record::short(&message);
            record.tell(Event::Note { text });
            Exit::Environment
        }
    }
}

/// The worker's own plan, if the specification makes sense.
fn checked(spec: &WorkerSpec) -> Result<&WorkerPlan, String> {
    let workers = spec.plan.workers.iter();
    let names = workers.flat_map(|worker| {
        let steps = worker.script.iter().map(|step| &step.name);
        steps.chain([&worker.name])
    });
    if let Some(long) = names.into_iter().find(|name| name.len() > NAME_MAX) {
        return Err(format!("name `{long}` is longer than {NAME_MAX} bytes"));
    }
    let mut workers = spec.plan.workers.iter();
    workers
        .find(|worker| worker.name == spec.worker)
        .ok_or_else(|| format!("no worker `{}` in the plan", spec.worker))
}

/// Connects to lock and store, then runs the script on a thread of its own.
fn perform(
    (spec, plan): (&WorkerSpec, &WorkerPlan),
    record: &Arc<record::Record>,
    asked: &Arc<signals::Asked>,
) -> Result<Exit, String> {
    let stage = Arc::new(stage::Stage::new(&spec.park_at, record));
    let own = match spec.plan.lock.renewal {
        RunsOn::Own => Some(runtime(&mut Builder::new_multi_thread())?),
        RunsOn::Script => None,
    };
    let driver = match &own {
        Some(own) => script::Driver::Own(own.handle().clone()),
        None => script::Driver::Script(Arc::new(runtime(&mut Builder::new_current_thread())?)),
    };
    let lock = driver.block_on(locking::Lock::connect((spec, plan), (record, &stage)))?;
    let store = driver.block_on(open_store(&spec.store))?;
    let script = script::Script {
        plan,
        stage,
        lock,
        store: writing::Store::new(store, &spec.plan.store, plan, record),
        queue: publishing::Publisher::open(spec, record)?,
        record,
        runtime: driver,
        asked: Arc::clone(asked),
        at_work: false,
        gave_back: false,
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("script".to_owned());
        let script = thread
            .spawn_scoped(scope, || script.play())
            .map_err(|error| format!("no thread: {error}"))?;
        Ok(script.join().map_or(Exit::Bug, |()| Exit::Ok))
    })
}

fn runtime(builder: &mut Builder) -> Result<Runtime, String> {
    let built = builder.worker_threads(2).enable_all().build();
    built.map_err(|error| format!("no runtime: {error}"))
}

async fn open_store(spec: &StoreSpec) -> Result<Box<dyn store::ProtectedStore>, String> {
    let kind = store::find(&spec.kind).ok_or_else(|| format!("no store `{}`", spec.kind))?;
    let opened = (kind.open)(spec).await;
    opened.map_err(|error| error.to_string())
}

//! The record read back: operations, grants, fault windows, and everything else that the checks
//! and the report speak of. Each item keeps the `seq` of its lines, so that every sentence can
//! point at what it rests on.
//!
//! A history never refuses a record: whatever contradicts the format is kept as a [`Defect`], and
//! the check `records_agree` tells it. `seq` is arrival order and never evidence of order; order
//! comes from invoke and return, from the server's stream, and from the store's log.

use crate::ids::GrantId;
use crate::plan::{Class, Plan};
use crate::timeline::event::Line;
use foldhash::HashMap;
use std::collections::BTreeMap;

pub mod actors;
mod attribute;
pub mod clock_map;
mod collect;
mod deadlines;
mod derive;
mod effects;
pub mod forgotten;
pub mod grant;
pub mod operation;
pub mod roles;
pub mod seen;
mod sequence;
mod several;
pub mod time;

pub use actors::{
    Asked, ChildSignal, Copies, Exited, FaultWindow, FrameSeen, Healed, Life, Look, Onset, Tried,
    Worker,
};
pub use clock_map::ClockMap;
pub use collect::Collector;
pub use forgotten::{Forgotten, Memory};
pub use grant::{Author, Cause, Copy, Extension, Grant, KeyEnd};
pub use operation::{Operation, Returned, Told};
pub use roles::{Promotion, RoleSeen};
pub use seen::{
    FinalKey, FinalValue, Gap, Impatience, Loss, Observer, PointSeen, Publication, Stall,
    StoreAttempt,
};
pub use time::{Bounds, NEVER, Span, ms};

/// What a record says, by subject. Times are lab time in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The plan without what a check must not know: names of drill and arm, flaw, limit and
    /// control are blank.
    pub plan: Plan,
    /// Workers: those of the plan in its order, then any that only the record names.
    pub workers: Vec<Worker>,
    /// Processes of each server, by its name.
    pub servers: BTreeMap<String, Vec<Life>>,
    /// Operations, by `seq` of their `invoke`.
    pub operations: Vec<Operation>,
    /// Grants, by server and the server's order.
    pub grants: Vec<Grant>,
    /// Index into `grants` by the identity of the attempt; the first, if there are several.
    pub grant_by_id: HashMap<GrantId, usize>,
    /// What servers forgot of locks, by server and the server's order; read only where a fault hit
    /// a server.
    pub forgotten: Vec<Forgotten>,
    /// The store's log, in the store's order.
    pub store: Vec<StoreAttempt>,
    /// The queue's log, in the queue's order.
    pub published: Vec<Publication>,
    /// `seq` of the line that says that the queue's log was read to its end, and how long it is.
    pub queue_read: Option<(u64, u64)>,
    /// Faults, in the order of the plan.
    pub faults: Vec<FaultWindow>,
    /// Losses told, by `seq`.
    pub losses: Vec<Loss>,
    /// Points at which a worker stood, by `seq`.
    pub points: Vec<PointSeen>,
    /// Bytes that the lab wrote, by `seq`.
    pub gos: Vec<PointSeen>,
    /// Points from which a worker went on, by `seq`.
    pub resumed: Vec<PointSeen>,
    /// Host stalls, by `seq`.
    pub stalls: Vec<Stall>,
    /// Observers by server name.
    pub observers: BTreeMap<String, Observer>,
    /// What servers that are one lock service said of their roles, by server name, in order of time;
    /// a server that stands alone has none.
    pub roles: BTreeMap<String, Vec<RoleSeen>>,
    /// Server clocks by server name.
    pub clocks: BTreeMap<String, ClockMap>,
    /// What the store held at the end.
    pub final_values: Vec<FinalValue>,
    /// What the lock services held at the end.
    pub final_keys: Vec<FinalKey>,
    /// What was left after the end, with the `seq` that says so; none = nobody looked.
    pub sweep: Option<(u64, Vec<String>)>,
    /// What ran out of patience.
    pub impatience: Vec<Impatience>,
    /// `seq` of the first line; none = the record has none.
    pub started: Option<u64>,
    /// Phases with `seq` and lab time.
    pub phases: Vec<(u64, u64, String)>,
    /// `seq`, lab time and reason of the last line; none = the record breaks off.
    pub end: Option<(u64, u64, String)>,
    /// Latest lab time of any line, ns.
    pub last_at: u64,
    /// Times closer than this are concurrent and prove nothing, ns.
    pub epsilon_ns: u64,
    /// Where the record contradicts its format or itself.
    pub defects: Vec<Defect>,
}

/// The record contradicts its format or itself: our own fault, never the lock's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// Lines that show it.
    pub events: Vec<u64>,
    /// What is wrong, in one sentence.
    pub what: String,
}

impl History {
    /// Reads a record back. Lines may come in any order; what is wrong with them becomes a
    /// [`Defect`].
    pub fn from_lines(plan: &Plan, lines: impl IntoIterator<Item = Line>) -> History {
        let mut collector = History::collector(plan);
        for line in lines {
            collector.push(line);
        }
        collector.finish()
    }

    /// Takes a record line by line, for records that need not be in memory at once.
    pub fn collector(plan: &Plan) -> Collector<'_> {
        Collector::new(plan)
    }

    /// Name of a worker by its index.
    pub fn worker_name(&self, worker: usize) -> &str {
        self.workers
            .get(worker)
            .map_or("?", |worker| worker.name.as_str())
    }

    /// The key that a worker locks, by its plan.
    pub fn key_of(&self, worker: usize) -> &str {
        let name = self.worker_name(worker);
        let mut plans = self.plan.workers.iter();
        let plan = plans.find(|plan| plan.name == name);
        let key = plan.and_then(|plan| plan.key.as_ref());
        key.unwrap_or(&self.plan.lock.key)
    }

    /// Index of a worker by its name.
    pub fn worker_index(&self, name: &str) -> Option<usize> {
        self.workers.iter().position(|worker| worker.name == name)
    }

    /// The grant that an attempt became, by the server's truth.
    pub fn grant_of(&self, id: &GrantId) -> Option<&Grant> {
        self.grant_by_id
            .get(id)
            .and_then(|index| self.grants.get(*index))
    }

    /// How long the host kept the lab from running within a span, ns.
    pub fn stalled_in(&self, span: Span) -> u64 {
        seen::stalled_in(&self.stalls, span)
    }

    /// The fault of this name.
    pub fn fault(&self, name: &str) -> Option<&FaultWindow> {
        self.faults.iter().find(|window| window.fault == name)
    }
}

/// A history without a line: the plan's workers and faults, of whom nothing was seen.
fn blank(plan: &Plan) -> History {
    let workers = plan.workers.iter().map(|worker| Worker {
        name: worker.name.clone(),
        ..Worker::default()
    });
    let faults = plan.faults.iter().map(|fault| FaultWindow {
        fault: fault.name.clone(),
        kind: fault.kind.clone(),
        worker: None,
        grant: None,
        server: None,
        lasts: fault.heal.is_some(),
        asked: Vec::new(),
        probes: Vec::new(),
        frames: Vec::new(),
        onsets: Vec::new(),
        heals: Vec::new(),
        not_injected: None,
        looks: Vec::new(),
    });
    History {
        plan: blind(plan),
        workers: workers.collect(),
        servers: BTreeMap::new(),
        operations: Vec::new(),
        grants: Vec::new(),
        grant_by_id: HashMap::default(),
        forgotten: Vec::new(),
        store: Vec::new(),
        published: Vec::new(),
        queue_read: None,
        faults: faults.collect(),
        losses: Vec::new(),
        points: Vec::new(),
        gos: Vec::new(),
        resumed: Vec::new(),
        stalls: Vec::new(),
        observers: BTreeMap::new(),
        roles: BTreeMap::new(),
        clocks: BTreeMap::new(),
        final_values: Vec::new(),
        final_keys: Vec::new(),
        sweep: None,
        impatience: Vec::new(),
        started: None,
        phases: Vec::new(),
        end: None,
        last_at: 0,
        epsilon_ns: clock_map::QUANTUM_NS,
        defects: Vec::new(),
    }
}

/// The plan without what would tell a check what answer is wanted of it.
fn blind(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.drill = String::new();
    plan.arm = String::new();
    plan.summary = String::new();
    plan.class = Class::Correctness;
    plan.lock.flaw = None;
    plan.required_checks = Vec::new();
    plan.optional_checks = Vec::new();
    plan.controls = Vec::new();
    plan.limit = None;
    plan.control = None;
    plan
}

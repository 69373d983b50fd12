//! One line of a timeline.
//!
//! A timeline is JSON lines. Each has `seq` (arrival order, from 0, without gaps; never evidence
//! of order), `at` (lab time: nanoseconds of `CLOCK_MONOTONIC` since the arm began, taken by the
//! process that the event speaks of), `by` (who says so) and `event`. The first line is
//! [`Event::Start`]; a complete record ends in [`Event::End`].
//!
//! Raw owner tokens, passwords and credentials never appear here.

use crate::ids::{FencingToken, GrantId, OwnerDigest};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod looks;
mod said;

pub use looks::{FrameFate, Seen, ThreadLook};
pub use said::{Answer, AttemptKind, By, Call, Change, ChildChange, Outcome};

/// Version of the timeline's format. A reader refuses a newer one.
pub const FORMAT: u32 = 1;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Arrival order at the recorder, from 0, without gaps.
    pub seq: u64,
    /// Lab time in nanoseconds since the arm began.
    pub at: u64,
    /// Who says so.
    pub by: By,
    /// What happened.
    pub event: Event,
}

/// What happened. A closed set, matched exhaustively; a new fault never adds a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// First line: what this record is about.
    Start {
        /// Format version, [`FORMAT`].
        format: u32,
        /// Drill name.
        drill: String,
        /// Arm name.
        arm: String,
        /// Run id, the name of the run directory.
        run: String,
        /// `namespace` or `guard`.
        isolation: String,
    },
    /// The arm reached a named phase: `servers`, `workers`, `drill`, `settle`, `collect`, `stop`.
    Phase {
        /// Its name.
        name: String,
    },
    /// A worker process exists.
    WorkerStarted {
        /// Its name.
        worker: String,
        /// Its process id, also its process group.
        pid: i32,
        /// Start time in clock ticks since boot (field 22 of /proc/PID/stat): with the pid, an
        /// identity that is not reused.
        start_ticks: u64,
    },
    /// A worker process is gone.
    WorkerExited {
        /// Its name.
        worker: String,
        /// Exit code, if it exited by itself.
        code: Option<i32>,
        /// Signal that killed it, if one did.
        signal: Option<i32>,
    },
    /// A server process exists and answers.
    ServerStarted {
        /// Its name.
        server: String,
        /// Its process id, also its process group.
        pid: i32,
        /// Start time in clock ticks since boot.
        start_ticks: u64,
    },
    /// A server that the lab did not start was given to it, answers and is followed.
    ServerGiven {
        /// Its name.
        server: String,
        /// `host:port`.
        address: String,
        /// The version that it says it has.
        version: String,
    },
    /// A server process is gone.
    ServerExited {
        /// Its name.
        server: String,
        /// Its process id.
        pid: i32,
        /// Exit code, if it exited by itself.
        code: Option<i32>,
        /// Signal that killed it, if one did.
        signal: Option<i32>,
    },
    /// A fault gave a server a command, over the observer's own path, and was answered.
    ServerAsked {
        /// The fault.
        fault: String,
        /// Server name.
        server: String,
        /// The command.
        command: String,
        /// The server's answer, or its error.
        answer: String,
        /// It was not an error.
        ok: bool,
    },
    /// A worker's own way to a server is open.
    EdgeOpened {
        /// `<worker>><server>`.
        edge: String,
        /// Which provider made it.
        provider: String,
    },
    /// What a stranger saw who tried an edge while a fault was about.
    Probe {
        /// The fault.
        fault: String,
        /// `cut`, `heal` (just before it), `healed`; `past`: a way around, `never_arrived` = none.
        moment: String,
        /// `<worker>><server>`; `lab><server>` is where a killed server was.
        edge: String,
        /// The fault hit this edge; else it is one that it must have left alone.
        hit: bool,
        /// On a connection of its own, opened for this.
        fresh: Seen,
        /// On a connection that was opened before the onset, if there was one.
        old: Option<Seen>,
    },
    /// A chosen request or reply was held, delivered or dropped on an edge.
    Frame {
        /// The fault that chose it.
        fault: String,
        /// `<worker>><server>`.
        edge: String,
        /// What became of it.
        what: FrameFate,
        /// It was a reply; else a request.
        reply: bool,
    },
    /// The kernel told the worker's parent that the worker was stopped or continued.
    ChildSignal {
        /// The worker.
        worker: String,
        /// What the kernel said.
        change: ChildChange,
    },
    /// A worker is about to begin an operation; flushed before any request leaves.
    Invoke {
        /// Operation number, unique within the worker.
        op: u64,
        /// The script step it belongs to (`write.2`); none for the lock's own renewals.
        step: Option<String>,
        /// What is asked.
        call: Call,
    },
    /// The operation returned.
    Return {
        /// Operation number of the `invoke`.
        op: u64,
        /// `ok` took effect, `fail` definitely did not, `info` unknown.
        outcome: Outcome,
        /// What was answered.
        answer: Answer,
    },
    /// A worker was asked for its wall clock, and read it between two readings of the lab's.
    WallClock {
        /// Lab time before the reading, ns.
        before: u64,
        /// Lab time after it, ns.
        after: u64,
        /// The worker's wall clock, microseconds since the Unix epoch.
        wall_us: u64,
    },
    /// A worker was asked to end (SIGTERM).
    AskedToEnd,
    /// The worker's lock asked the replicas whether they have a grant, before it told anybody of it.
    Copies {
        /// The grant.
        grant: GrantId,
        /// How many had to have it.
        wanted: u64,
        /// How many said in time that they have it; none = nobody knows.
        have: Option<u64>,
    },
    /// The handle told its owner that the lock is lost.
    Lost {
        /// The grant.
        grant: GrantId,
        /// Why.
        reason: String,
        /// The handle's own deadline for this grant, lab time, ns.
        deadline: u64,
    },
    /// A worker stands at a point of its script.
    Point {
        /// `<worker>.<verb>.<n>.<before|armed|after>`, or `<worker>.start`.
        point: String,
        /// It waits for a byte from the lab before it goes on.
        waits: bool,
    },
    /// A waiting worker has read its byte and goes on.
    Resumed {
        /// The point.
        point: String,
    },
    /// The lab wrote the byte that lets a worker go on.
    Go {
        /// The worker.
        worker: String,
        /// The point.
        point: String,
    },
    /// A fault was injected.
    FaultOnset {
        /// Its name in the plan.
        fault: String,
        /// Kind in the registry.
        kind: String,
        /// The worker it hit, if it hit one.
        worker: Option<String>,
        /// The server it hit, if it hit one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// The grant that made this worker the target, if the target was `holder`.
        grant: Option<GrantId>,
        /// The trigger that was awaited.
        trigger: String,
        /// Lab time just before the injecting call, ns.
        began: u64,
        /// Lab time at which the effect was first seen in full, ns.
        effective: u64,
    },
    /// The lab began to undo a fault.
    FaultHeal {
        /// Its name.
        fault: String,
        /// What made the lab heal: the heal's own event or time, or `patience` or `interrupt`.
        cause: String,
        /// Lab time just before the healing call, ns.
        began: u64,
        /// Lab time at which the removal was seen by its effect, ns; none = it was not seen.
        removed: Option<u64>,
    },
    /// A fault of the plan could not be injected.
    FaultNotInjected {
        /// Its name.
        fault: String,
        /// Why not.
        why: String,
    },
    /// What the kernel said of every thread of a target at one moment.
    Look {
        /// The fault this look proves or refutes.
        fault: String,
        /// `stopped` (after onset), `go` (after the byte was written), `heal` (just before the
        /// heal), `healed` (after it).
        moment: String,
        /// Every thread of every process of the target's group.
        threads: Vec<ThreadLook>,
    },
    /// A trigger or await was not satisfied in time.
    PatienceEnded {
        /// What was awaited.
        awaited: String,
        /// By whom: a fault, a worker, or `drill`.
        by: String,
    },
    /// The observer follows this server without a gap from here on.
    ObserverSynced {
        /// Server name.
        server: String,
    },
    /// The observer lost its place: effects may be missing around here.
    ObserverGap {
        /// Server name.
        server: String,
        /// Why.
        why: String,
    },
    /// The server's own truth: one effect, in the server's order.
    Effect {
        /// Server name.
        server: String,
        /// Position in the server's order, from 0, without gaps.
        pos: u64,
        /// Key without the lab's prefix.
        key: String,
        /// What changed.
        change: Change,
    },
    /// One of several servers says whether it takes writes, and to whom it is linked; told at first
    /// and whenever it changes.
    ServerRole {
        /// Server name.
        server: String,
        /// It takes writes; else it copies another.
        primary: bool,
        /// Of one that takes writes: how many copy it. Of one that copies: 1 while its link to the
        /// other is up, else 0.
        links: u64,
        /// Latest lab time at which it was asked and still said something else, ns; none = it was
        /// asked for the first time.
        since: Option<u64>,
    },
    /// The server's clock read between two readings of the lab's.
    ClockSample {
        /// Server name.
        server: String,
        /// Lab time before the question, ns.
        before: u64,
        /// Lab time after the answer, ns.
        after: u64,
        /// The server's wall clock, microseconds since the Unix epoch.
        server_us: u64,
    },
    /// One attempt in the store's own log, rejected ones too, in the store's own order.
    StoreAttempt {
        /// Place in the store's order, from 1, without gaps.
        n: u64,
        /// Resource.
        resource: String,
        /// Write, seal or read.
        kind: AttemptKind,
        /// The write's id, `<worker>.write.<n>`; else `<worker>.seal.<n>`, `<worker>.read.<n>`.
        write: String,
        /// The write that the writer had read before, if any; of a read, the write it was shown.
        based_on: Option<String>,
        /// The grant it claims; none if the writer had none.
        grant: Option<GrantId>,
        /// The fencing token it presented.
        fencing: Option<FencingToken>,
        /// The job that it does, if it does one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<String>,
        /// Accepted or not; what was done before counts as accepted.
        accepted: bool,
        /// Its job had been done before: nothing changed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        done_before: bool,
        /// Highest fencing token that the store knew before this attempt.
        highest: Option<FencingToken>,
        /// Lab time at which the store applied it, ns, by the clock of the process that ran the
        /// statement.
        applied: u64,
    },
    /// One publication in the queue's own log, in the queue's own order.
    Published {
        /// Place in the queue's order, from 1, without gaps.
        n: u64,
        /// The job.
        message: String,
        /// The step that published it, `<worker>.publish.<n>` or `<worker>.relay.<n>`.
        publish: String,
        /// The queue had it already: nothing changed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        known_before: bool,
        /// Lab time at which the queue took it, ns, by the clock of the process that published.
        applied: u64,
    },
    /// The queue's log has been read to its end.
    FinalQueue {
        /// How many publications it has.
        published: u64,
    },
    /// What the store holds at the end.
    FinalValue {
        /// Resource.
        resource: String,
        /// Write id whose value stands, none if never written.
        write: Option<String>,
        /// Highest fencing token accepted.
        highest: Option<FencingToken>,
        /// How often each job has taken effect, by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        jobs: BTreeMap<String, u64>,
    },
    /// What the lock service holds at the end for one key.
    FinalKey {
        /// Server name.
        server: String,
        /// Key without the lab's prefix.
        key: String,
        /// Owner digest if the key exists.
        owner: Option<OwnerDigest>,
        /// Remaining lease, milliseconds; none = no key, or a key without a lease.
        remaining_ms: Option<u64>,
        /// The key exists.
        exists: bool,
    },
    /// The host kept the lab from running for this long: measured by a thread that only sleeps.
    Stall {
        /// Lab time at which it should have woken, ns.
        from: u64,
        /// Lab time at which it did, ns.
        to: u64,
    },
    /// What was left after the end: must be empty.
    Sweep {
        /// Processes, folders, rules.
        left: Vec<String>,
    },
    /// Something worth telling the reader that no check reads.
    Note {
        /// The text.
        text: String,
    },
    /// Last line.
    End {
        /// `complete`, `interrupted`, `patience`, or `error: …`.
        reason: String,
    },
}

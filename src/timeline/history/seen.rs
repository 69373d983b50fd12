//! What was seen of workers, faults, the store and the host: the record's lines by subject.

use super::time::{Bounds, Span};
use crate::ids::{FencingToken, GrantId, OwnerDigest};
use crate::timeline::event::{AttemptKind, ChildChange, ThreadLook};

/// One worker of the plan, or one that only the record names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// Its processes; more than one means that it was replaced.
    pub lives: Vec<Life>,
    /// What the kernel told its parent.
    pub signals: Vec<ChildSignal>,
    /// When it was not runnable because it was stopped, by looks and by the kernel's word; in
    /// order, joined, and rather too long than too short.
    pub stopped: Vec<Span>,
}

/// One process of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// `seq` of the start.
    pub seq: u64,
    /// Lab time at which it was known to exist, ns.
    pub started: u64,
    /// Process id and process group.
    pub pid: i32,
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
    /// How it ended.
    pub exit: Option<Exited>,
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exited {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time at which its parent knew, ns: it was gone no later.
    pub at: u64,
    /// Exit code.
    pub code: Option<i32>,
    /// Signal that killed it.
    pub signal: Option<i32>,
}

/// The kernel told the parent of a stop or a continuation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildSignal {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time at which the parent knew, ns.
    pub at: u64,
    /// What it was.
    pub change: ChildChange,
}

/// One fault of the plan, as the record shows it. Missing parts were not seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultWindow {
    /// Its name in the plan.
    pub fault: String,
    /// Kind in the registry of faults.
    pub kind: String,
    /// The worker it hit, index into [`super::History::workers`].
    pub worker: Option<usize>,
    /// The grant that made this worker the target.
    pub grant: Option<GrantId>,
    /// Onsets; more than one is a defect of the record.
    pub onsets: Vec<Onset>,
    /// Heals; more than one is a defect of the record.
    pub heals: Vec<Healed>,
    /// Why it was not injected, with the `seq` that says so.
    pub not_injected: Option<(u64, String)>,
    /// What the kernel said of the target's threads.
    pub looks: Vec<Look>,
}

/// A fault began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Onset {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time just before the injecting call, ns.
    pub began: u64,
    /// Lab time at which the effect was seen in full, ns.
    pub effective: u64,
    /// What was awaited.
    pub trigger: String,
}

/// A fault was undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Healed {
    /// `seq` of the line.
    pub seq: u64,
    /// What made the lab heal.
    pub cause: String,
    /// Lab time just before the healing call, ns.
    pub began: u64,
    /// Lab time at which the removal was seen, ns.
    pub removed: Option<u64>,
}

/// What the kernel said of every thread of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time, ns.
    pub at: u64,
    /// `stopped`, `go`, `heal`, `healed`.
    pub moment: String,
    /// Every thread of every process of the group.
    pub threads: Vec<ThreadLook>,
}

impl FaultWindow {
    /// The time in which the fault was certainly in effect: from its effect seen in full to just
    /// before the heal began. None unless both are on the record.
    pub fn certain(&self) -> Option<Span> {
        let (onset, heal) = (self.onsets.first()?, self.heals.first()?);
        Span::new(onset.effective, heal.began)
    }

    /// The look of this moment.
    pub fn look(&self, moment: &str) -> Option<&Look> {
        self.looks.iter().find(|look| look.moment == moment)
    }
}

/// One attempt in the store's own log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreAttempt {
    /// `seq` of the line.
    pub seq: u64,
    /// Place in the store's order, from 1.
    pub n: u64,
    /// Resource.
    pub resource: String,
    /// Write or seal.
    pub kind: AttemptKind,
    /// Its id.
    pub write: String,
    /// The worker in front of the id, index into [`super::History::workers`].
    pub worker: Option<usize>,
    /// The operation that made it, index into [`super::History::operations`].
    pub operation: Option<usize>,
    /// The write that the writer had read before.
    pub based_on: Option<String>,
    /// The grant it claims.
    pub grant: Option<GrantId>,
    /// The fencing token it presented.
    pub fencing: Option<FencingToken>,
    /// Accepted or not.
    pub accepted: bool,
    /// Highest fencing token known before.
    pub highest: Option<FencingToken>,
    /// Lab time at which the store applied it, ns.
    pub applied: u64,
}

/// A handle told its owner that the lock is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time, ns.
    pub at: u64,
    /// The worker, index into [`super::History::workers`].
    pub worker: usize,
    /// The grant.
    pub grant: GrantId,
    /// Why.
    pub reason: String,
    /// The handle's own deadline, lab time, ns.
    pub deadline: u64,
}

/// A worker stood at a point of its script, went on, or was told to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointSeen {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time, ns; of a `go`, when the lab wrote the byte.
    pub at: u64,
    /// The worker, index into [`super::History::workers`].
    pub worker: usize,
    /// The point.
    pub point: String,
    /// It waits for a byte (meaningful for `points` alone).
    pub waits: bool,
}

/// The host kept the lab from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// `seq` of the line.
    pub seq: u64,
    /// From when to when, lab time.
    pub span: Span,
}

/// The observer of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observer {
    /// `seq` and lab time of the line that says that it is in sync.
    pub synced: Vec<(u64, u64)>,
    /// Gaps.
    pub gaps: Vec<Gap>,
}

/// The observer may have missed effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// `seq` of the line.
    pub seq: u64,
    /// When effects may have been missed, lab time.
    pub within: Bounds,
    /// Why.
    pub why: String,
}

/// What the store holds at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalValue {
    /// `seq` of the line.
    pub seq: u64,
    /// Resource.
    pub resource: String,
    /// Write id whose value stands.
    pub write: Option<String>,
    /// Highest fencing token accepted.
    pub highest: Option<FencingToken>,
}

/// What a lock service holds at the end for one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalKey {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time, ns.
    pub at: u64,
    /// Server name.
    pub server: String,
    /// Key.
    pub key: String,
    /// Owner digest.
    pub owner: Option<OwnerDigest>,
    /// Remaining lease, milliseconds.
    pub remaining_ms: Option<u64>,
    /// The key exists.
    pub exists: bool,
}

/// A trigger, an await or the drill ran out of patience.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impatience {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time, ns.
    pub at: u64,
    /// What was awaited.
    pub awaited: String,
    /// By whom.
    pub by: String,
}

//! Workers and what was done to them: processes, signals, fault windows, looks.

use super::clock_map::Sample;
use super::time::{NEVER, Span};
use crate::ids::GrantId;
use crate::timeline::event::{ChildChange, FrameFate, Seen, ThreadLook};

/// One worker of the plan, or one that only the record names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// Its processes; more than one means that it was replaced.
    pub lives: Vec<Life>,
    /// What the kernel told its parent.
    pub signals: Vec<ChildSignal>,
    /// Readings of its own wall clock, as it told them.
    pub clock: Vec<Sample>,
    /// When it said that it was asked to end: `seq` and lab time, ns.
    pub asked_to_end: Vec<(u64, u64)>,
    /// How many replicas it was told to have its grants.
    pub copies: Vec<Copies>,
    /// When it was not runnable because it was stopped, by looks and by the kernel's word; in
    /// order, joined, and rather too long than too short.
    pub stopped: Vec<Span>,
}

impl Worker {
    /// When the process that it ran at a time was gone, ns.
    pub fn gone(&self, at: u64) -> Option<u64> {
        let life = self.lives.iter().rfind(|life| life.started <= at)?;
        life.exit.map(|exit| exit.at)
    }
}

/// Replicas were asked whether they have a grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copies {
    /// `seq` of the line.
    pub seq: u64,
    /// The grant.
    pub grant: GrantId,
    /// How many had to have it.
    pub wanted: u64,
    /// How many had it in time; none if that is not known.
    pub have: Option<u64>,
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

impl Life {
    /// A process that is there: pid and start time.
    pub(super) fn begun(seq: u64, started: u64, (pid, start_ticks): (i32, u64)) -> Life {
        Life {
            seq,
            started,
            pid,
            start_ticks,
            exit: None,
        }
    }
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
    /// The server it hit.
    pub server: Option<String>,
    /// It lasts until it is undone; else it is over as soon as it is done, and what it did stays.
    pub lasts: bool,
    /// Onsets; more than one is a defect of the record.
    pub onsets: Vec<Onset>,
    /// Heals; more than one is a defect of the record.
    pub heals: Vec<Healed>,
    /// Why it was not injected, with the `seq` that says so.
    pub not_injected: Option<(u64, String)>,
    /// What the kernel said of the target's threads.
    pub looks: Vec<Look>,
    /// What a server was told to do, and answered.
    pub asked: Vec<Asked>,
    /// What a stranger saw who tried edges.
    pub probes: Vec<Tried>,
    /// What became of the request or reply that it chose.
    pub frames: Vec<FrameSeen>,
}

/// A stranger tried an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time, ns.
    pub at: u64,
    /// `cut`, `heal` or `healed`.
    pub moment: String,
    /// The edge.
    pub edge: String,
    /// The fault hit it.
    pub hit: bool,
    /// On a connection of its own.
    pub fresh: Seen,
    /// On a connection from before the onset.
    pub old: Option<Seen>,
}

/// A chosen request or reply was held, delivered or dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameSeen {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time, ns.
    pub at: u64,
    /// The edge.
    pub edge: String,
    /// What became of it.
    pub what: FrameFate,
    /// A reply; else a request.
    pub reply: bool,
}

/// A command that a fault gave to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time of the answer, ns.
    pub at: u64,
    /// The server's name.
    pub server: String,
    /// The command.
    pub command: String,
    /// The answer, or the error.
    pub answer: String,
    /// It was not an error.
    pub ok: bool,
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
    /// before the heal began. None unless both are on the record; what cannot be undone has no end.
    pub fn certain(&self) -> Option<Span> {
        let onset = self.onsets.first()?;
        match self.heals.first() {
            Some(heal) => Span::new(onset.effective, heal.began),
            None if self.lasts => None,
            None => Span::new(onset.effective, NEVER),
        }
    }

    /// The look of this moment.
    pub fn look(&self, moment: &str) -> Option<&Look> {
        self.looks.iter().find(|look| look.moment == moment)
    }
}

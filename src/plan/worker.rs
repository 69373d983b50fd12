//! The workers of a plan: who takes part, and what each does.

use serde::{Deserialize, Serialize};

/// One contender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerPlan {
    /// Name, unique in the drill.
    pub name: String,
    /// The group that it is one of, if the file asks for several of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Event after which it begins; none = at once.
    pub start: Option<String>,
    /// Key that it locks; none = the key of the lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What it asks before each write.
    #[serde(default, skip_serializing_if = "Gate::is_none")]
    pub gate: Gate,
    /// Where the fencing tokens come from that it presents to the store.
    #[serde(default, skip_serializing_if = "Fencing::is_lock")]
    pub fencing: Fencing,
    /// What it does when it is asked to end.
    #[serde(default, skip_serializing_if = "OnSigterm::is_end")]
    pub on_sigterm: OnSigterm,
    /// What it does, in order.
    pub script: Vec<Step>,
}

impl WorkerPlan {
    /// It does what its script says and asks nothing.
    pub fn new(name: impl Into<String>, script: Vec<Step>) -> Self {
        WorkerPlan {
            name: name.into(),
            group: None,
            start: None,
            key: None,
            gate: Gate::None,
            fencing: Fencing::Lock,
            on_sigterm: OnSigterm::End,
            script,
        }
    }

    /// Whether this name means it: its own, or that of its group.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.group.as_deref() == Some(name)
    }
}

/// What a worker asks before each write; if the answer is no, the write is left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Nothing.
    #[default]
    None,
    /// The handle's `is_locked`, just before.
    IsLocked,
    /// Whether there is a handle at all: known to be wrong.
    Handle,
}

impl Gate {
    /// Nothing is asked.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks by reference
    pub fn is_none(&self) -> bool {
        *self == Gate::None
    }
}

/// Where a worker's fencing tokens come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fencing {
    /// The lock.
    #[default]
    Lock,
    /// A counter of the worker's own, from 1, one more with each grant: known to be wrong.
    OwnCounter,
}

impl Fencing {
    /// They come from the lock.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks by reference
    pub fn is_lock(&self) -> bool {
        *self == Fencing::Lock
    }
}

/// What a worker does when it is asked to end (SIGTERM).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnSigterm {
    /// It ends at once; its lease is all that frees the lock.
    #[default]
    End,
    /// It begins nothing new: it goes on to its next release, and ends. Without a lock it ends at
    /// the next step.
    Finish,
    /// The same, but it gives the lock back at once, in the middle of its work: known to be wrong.
    ReleaseFirst,
}

impl OnSigterm {
    /// It ends at once.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks by reference
    pub fn is_end(&self) -> bool {
        *self == OnSigterm::End
    }
}

/// One step of a worker's script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// `<verb>.<n>`, n counting this verb from 1 within the worker; with the worker's name in
    /// front and `.before`, `.armed` or `.after` behind it names a point.
    pub name: String,
    /// What is done.
    pub action: StepAction,
}

/// What a step does. Steps do not react to a lost lock unless the script says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum StepAction {
    /// One attempt to take the lock.
    Acquire,
    /// Wait for the lock at most this long.
    Enter {
        /// Longest wait, milliseconds.
        wait_ms: u64,
    },
    /// Ask the handle whether it holds (`is_locked`).
    Check,
    /// Write to the protected store, based on the last write that this worker read or made.
    Write,
    /// The same, for a job, only if that is still pending, or with a limit to the store's answer.
    WriteAs {
        /// The job that the write does; delivered twice it should take effect once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<String>,
        /// Nothing is changed unless the job is still pending.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        if_pending: bool,
        /// Longest wait for the store's answer, milliseconds; none = the store's own limit. What
        /// has no answer by then may have taken effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within_ms: Option<u64>,
    },
    /// Read the protected store, under the fencing token that the worker has.
    Read,
    /// Put a job into the queue, a second place that shares no transaction with the store; then
    /// take it out of the outbox, if there is one.
    Publish {
        /// The job.
        job: String,
    },
    /// Publish whatever is in the outbox, then take it out.
    Relay,
    /// Draw a new fencing token from the lock's counter without taking the lock: known to be wrong.
    Refence,
    /// Work for this long while holding.
    Hold {
        /// Duration of the work, milliseconds.
        for_ms: u64,
    },
    /// Work that gives the processor to nobody else of this process.
    Burn {
        /// Duration of the work, milliseconds.
        for_ms: u64,
    },
    /// Work until an event is on the record.
    HoldUntil {
        /// Name of the event.
        event: String,
    },
    /// Renew by hand.
    Renew,
    /// Wait until an event is on the record.
    Await {
        /// Name of the event.
        event: String,
    },
    /// Give the lock back.
    Release,
    /// Leave the script if the handle has said that the lock is lost.
    StopIfLost,
}

impl StepAction {
    /// Whether the step can end in a grant.
    pub const fn takes_lock(&self) -> bool {
        matches!(self, StepAction::Acquire | StepAction::Enter { .. })
    }

    /// Whether the step puts a write to the store.
    pub const fn writes(&self) -> bool {
        matches!(self, StepAction::Write | StepAction::WriteAs { .. })
    }

    /// Whether the step puts something to the protected store that the store logs under its name.
    pub const fn reaches_store(&self) -> bool {
        self.writes() || matches!(self, StepAction::Read)
    }

    /// Whether the step writes only if its job is still pending.
    pub const fn asks_for_pending(&self) -> bool {
        matches!(
            self,
            StepAction::WriteAs {
                if_pending: true,
                ..
            }
        )
    }

    /// Whether the step puts something into the queue.
    pub const fn publishes(&self) -> bool {
        matches!(self, StepAction::Publish { .. } | StepAction::Relay)
    }

    /// The word that starts the step in a script.
    pub const fn verb(&self) -> &'static str {
        match self {
            StepAction::Acquire => "acquire",
            StepAction::Enter { .. } => "enter",
            StepAction::Check => "check",
            StepAction::Write | StepAction::WriteAs { .. } => "write",
            StepAction::Read => "read",
            StepAction::Publish { .. } => "publish",
            StepAction::Relay => "relay",
            StepAction::Refence => "refence",
            StepAction::Hold { .. } | StepAction::HoldUntil { .. } => "hold",
            StepAction::Burn { .. } => "burn",
            StepAction::Renew => "renew",
            StepAction::Await { .. } => "await",
            StepAction::Release => "release",
            StepAction::StopIfLost => "stop_if_lost",
        }
    }
}

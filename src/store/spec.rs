//! What a store is opened with, and how strict it is.

use super::Attempt;
use super::AttemptKind;
use super::rule::{Decision, JobRule};
use serde::{Deserialize, Serialize};

/// How a store compares fencing tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fence {
    /// Compare and write in one atomic step: the sound way.
    Atomic,
    /// Read, compare in the client, then write: known to be bad.
    Racy,
    /// No comparison at all: known to be bad.
    Off,
}

/// How a write that is made only if its job is still pending looks at the job's state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// In the step that writes, as `UPDATE … WHERE state = 'pending'`: the sound way.
    #[default]
    Atomic,
    /// It asks, then writes: known to be bad.
    Racy,
    /// Not at all: known to be bad.
    Off,
}

impl Condition {
    /// It is looked at in the step that writes.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks by reference
    pub fn is_atomic(&self) -> bool {
        *self == Condition::Atomic
    }
}

/// Which reads a store answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reads {
    /// All of them, whoever asks: fencing tokens are for writes alone.
    #[default]
    Open,
    /// Those that could write: a reader's fencing token is compared like a writer's, and raises
    /// the mark like a writer's.
    Fenced,
}

impl Reads {
    /// Every read is answered.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks by reference
    pub fn is_open(&self) -> bool {
        *self == Reads::Open
    }
}

/// What a store is opened with. Goes from the lab to the worker; holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSpec {
    /// Name in [`ALL`].
    pub kind: String,
    /// How fencing tokens are compared.
    pub fence: Fence,
    /// Accept `fencing > highest` only, never `==`: for one-shot jobs.
    pub once: bool,
    /// Each job takes effect once: a later delivery is answered like the first.
    pub idempotent: bool,
    /// How a write that asks for a pending job looks at its state.
    pub condition: Condition,
    /// Which reads are answered.
    pub reads: Reads,
    /// A write that does a job puts it into the outbox in the same step.
    pub outbox: bool,
    /// Where it is: a file path or a URL without credentials.
    pub location: String,
    /// `CLOCK_MONOTONIC` of lab time 0, ns: the log's times count from here.
    pub lab_zero_ns: u64,
}

impl StoreSpec {
    /// Who decides on attempts of this kind; none if the client has to look first.
    pub(super) fn decision(&self, kind: AttemptKind) -> Option<Decision> {
        match (kind, self.reads, self.fence) {
            (AttemptKind::Read, Reads::Open, _) => Some(Decision::Before { admitted: true }),
            (AttemptKind::Read, Reads::Fenced, _) | (_, _, Fence::Atomic) => Some(Decision::Inside),
            (_, _, Fence::Off) => Some(Decision::Before { admitted: true }),
            (_, _, Fence::Racy) => None,
        }
    }

    /// What the state of this attempt's job decides; none if the client has to look first.
    pub(super) fn job_rule(&self, attempt: &Attempt) -> Option<JobRule> {
        match self.condition {
            _ if self.idempotent => Some(JobRule::Inside),
            Condition::Atomic if attempt.if_pending => Some(JobRule::Inside),
            Condition::Racy if attempt.if_pending => None,
            Condition::Atomic | Condition::Racy | Condition::Off => Some(JobRule::Blind),
        }
    }
}

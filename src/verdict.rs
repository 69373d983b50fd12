//! From findings to an answer: of an arm, of a drill, of the whole command.

use crate::checks::Finding;
use serde::{Deserialize, Serialize};

/// Did the experiment show what it set out to show?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No named check was violated.
    Pass,
    /// The limit that the file declares was reached.
    Limit,
    /// A check was violated that had to hold.
    Fail,
    /// The record cannot tell.
    Inconclusive,
}

/// What became of the protected work?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Protection {
    /// Nothing stale reached the store.
    #[serde(rename = "kept")]
    Kept,
    /// Something stale reached the store and was refused.
    #[serde(rename = "kept by fencing")]
    KeptByFencing,
    /// Something stale was accepted.
    #[serde(rename = "lost")]
    Lost,
    /// No write was put to the test.
    #[serde(rename = "not tested")]
    NotTested,
}

/// One arm's answer, as if it stood alone: a red control is `fail` with `expected: fail`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArmResult {
    /// `main` or the control's name.
    pub arm: String,
    /// Its verdict; none if it did not run.
    pub verdict: Option<Verdict>,
    /// What was expected of it: `pass`, `limit` or `fail`.
    pub expected: Verdict,
    /// `run`, `skipped` or `not applicable`.
    pub status: String,
    /// Why this verdict or status, in one sentence.
    pub why: String,
    /// What became of the protected work.
    pub protection: Protection,
    /// For a control: it went red for its own reason.
    pub red_as_required: Option<bool>,
    /// Our own defect, if the record contradicts itself.
    pub defect: Option<String>,
    /// Every execution of this arm before the one told here that ended inconclusive for noise,
    /// in one sentence each.
    pub earlier_attempts: Vec<String>,
    /// Every finding.
    pub checks: Vec<Finding>,
}

/// One drill's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrillResult {
    /// Drill name.
    pub drill: String,
    /// Verdict.
    pub verdict: Verdict,
    /// Protection of the work in the main arm.
    pub protection: Protection,
    /// Why, in one sentence.
    pub why: String,
    /// Run directory, absolute.
    pub dir: String,
    /// Main arm first, then the controls in the order of the file.
    pub arms: Vec<ArmResult>,
}

/// The whole command's answer: what `--json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// The worst verdict.
    pub verdict: Verdict,
    /// One entry an execution.
    pub drills: Vec<DrillResult>,
}

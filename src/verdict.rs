//! From findings to an answer: of an arm, of a drill, of the whole command.
//!
//! A violation decides whatever else is missing; a `holds` counts only with the evidence. A control
//! is answered as if it stood alone (red = `fail`), and whether it went red *for its reason* is told
//! beside it: a control that did not makes its drill prove nothing.
//!
//! `records_agree` is no property of a lock: its violation is our own defect and ends in no verdict
//! but `inconclusive`, with the defect named and exit code 70.

use crate::checks::Finding;
use crate::exit::Exit;
use serde::{Deserialize, Serialize};

mod arm;
mod dir;
mod drill;
mod protection;

pub use arm::{judge_arm, judge_history};
pub use dir::{NotRun, RunDirError, judge_arm_dir, judge_run_dir};
pub use drill::judge_drill;
pub use protection::protection;

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
    /// Nothing stale or late was accepted, and nothing of the kind had to be refused.
    #[serde(rename = "kept")]
    Kept,
    /// Something stale reached the store and was refused.
    #[serde(rename = "kept by fencing")]
    KeptByFencing,
    /// Something stale or late was accepted, an update was lost, a job was not done and published
    /// exactly once, or an older holder's write was accepted while the rightful newer holder's was
    /// refused.
    #[serde(rename = "lost")]
    Lost,
    /// No write was put to the test, or what should have done so is not shown to have happened.
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
    /// Drills of the suite that the command line does not fit, or whose service is not installed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_applicable: Vec<LeftOut>,
}

/// A drill of the suite that was not run, because what the command line asks of every drill does not
/// fit it, or the service that it needs is not installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Drill name.
    pub drill: String,
    /// Why, in one sentence.
    pub why: String,
}

impl Verdict {
    /// The worse of two: fail, then inconclusive, then limit, then pass.
    #[must_use]
    pub const fn worst(self, other: Verdict) -> Verdict {
        if other.badness() > self.badness() {
            other
        } else {
            self
        }
    }

    const fn badness(self) -> u8 {
        match self {
            Verdict::Pass => 0,
            Verdict::Limit => 1,
            Verdict::Inconclusive => 2,
            Verdict::Fail => 3,
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Verdict::Pass => "PASS",
            Verdict::Limit => "LIMIT",
            Verdict::Fail => "FAIL",
            Verdict::Inconclusive => "INCONCLUSIVE",
        })
    }
}

impl std::fmt::Display for Protection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Protection::Kept => "kept",
            Protection::KeptByFencing => "kept by fencing",
            Protection::Lost => "lost",
            Protection::NotTested => "not tested",
        })
    }
}

impl DrillResult {
    /// Our own defect, if one of the arms shows one.
    pub fn defect(&self) -> Option<&str> {
        self.arms.iter().find_map(|arm| arm.defect.as_deref())
    }
}

impl Summary {
    /// The summary of these drills; of none, inconclusive.
    pub fn of(drills: Vec<DrillResult>) -> Summary {
        let worst = drills.iter().map(|drill| drill.verdict);
        Summary {
            verdict: worst
                .reduce(Verdict::worst)
                .unwrap_or(Verdict::Inconclusive),
            drills,
            not_applicable: Vec::new(),
        }
    }
}

/// The exit code that a summary asks for: 70 for our own defect, else by the worst verdict.
pub fn exit_of(summary: &Summary) -> Exit {
    if summary.drills.iter().any(|drill| drill.defect().is_some()) {
        return Exit::Bug;
    }
    match summary.verdict {
        Verdict::Pass | Verdict::Limit => Exit::Ok,
        Verdict::Fail => Exit::Fail,
        Verdict::Inconclusive => Exit::Inconclusive,
    }
}

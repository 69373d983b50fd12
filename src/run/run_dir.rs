//! The only place that knows the names inside a run directory.

use crate::plan::MAIN_ARM;
use std::path::{Path, PathBuf};

/// The plan of an arm.
pub const PLAN: &str = "plan.json";
/// The record of an arm.
pub const TIMELINE: &str = "timeline.jsonl";
/// Findings and verdicts.
pub const RESULTS: &str = "results.json";
/// What ran, and where.
pub const ENV: &str = "env.json";
/// Logs of an arm.
pub const LOGS: &str = "logs";
/// Business data and coordination state at the end of an arm.
pub const FINAL: &str = "final";
/// Executions of an arm that ended inconclusive and were repeated.
pub const ATTEMPTS: &str = "attempts";

/// Folder of an arm inside a run directory: the run directory itself for the main arm.
pub fn arm(run: &Path, arm: &str) -> PathBuf {
    if arm == MAIN_ARM {
        run.to_owned()
    } else {
        run.join("arms").join(arm)
    }
}

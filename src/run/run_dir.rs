//! The only place that knows the names inside a run directory.

use crate::plan::MAIN_ARM;
use std::io;
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

/// Creates the directory of a new run of a drill; returns the run's name and the directory.
/// Names sort by time; two runs that begin in the same second differ in their last digits.
///
/// # Errors
/// When it cannot be created.
pub fn create(out: &Path, drill: &str) -> io::Result<(String, PathBuf)> {
    let stamp: String = humantime::format_rfc3339_seconds(super::environment::now())
        .to_string()
        .chars()
        .filter(|c| !matches!(c, '-' | ':'))
        .collect();
    let parent = out.join(drill);
    std::fs::create_dir_all(&parent)?;
    for number in 0..10_000_u32 {
        let run = format!("{stamp}-{number:04}");
        let dir = parent.join(&run);
        match std::fs::create_dir(&dir) {
            Ok(()) => return Ok((run, dir)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("ten thousand runs began in one second"))
}

/// Moves the record of an inconclusive execution out of the way of its repetition.
///
/// # Errors
/// When it cannot be moved.
pub fn set_aside(arm_dir: &Path, attempt: usize) -> io::Result<()> {
    let aside = arm_dir.join(ATTEMPTS).join(attempt.to_string());
    std::fs::create_dir_all(&aside)?;
    for name in [TIMELINE, LOGS, FINAL] {
        match std::fs::rename(arm_dir.join(name), aside.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    std::fs::copy(arm_dir.join(PLAN), aside.join(PLAN)).map(|_| ())
}

//! A run directory, judged: no server, no process, nothing written. `run` and `recheck` both come
//! here, so that a finding is the same, byte for byte, whenever it is made.
//!
//! Read are `plan.json` and `timeline.jsonl` of each arm and nothing else. An arm whose plan is
//! there without a record was not run; a file `not-run.json` beside the plan says why.

use super::drill::{RUN, judge_drill};
use super::{ArmResult, DrillResult, Protection, Verdict, judge_history};
use crate::plan::{self, Plan};
use crate::timeline::reader::{ReadError, read_history};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

const PLAN: &str = "plan.json";
const TIMELINE: &str = "timeline.jsonl";
const ARMS: &str = "arms";
const NOT_RUN: &str = "not-run.json";
const ATTEMPTS: &str = "attempts";

/// A run directory that cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    /// There is no plan: this is no run directory.
    #[error("{0} is not a run directory: it has no {PLAN}")]
    NotARun(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A plan is not one, or is of a newer lockdrill.
    #[error("{path} cannot be read as a plan: {why}")]
    Plan {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A timeline is refused.
    #[error("{path}: {source}")]
    Timeline {
        /// Which.
        path: PathBuf,
        /// Why.
        source: ReadError,
    },
}

/// Why an arm did not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotRun {
    /// `skipped` or `not applicable`.
    pub status: String,
    /// Why, in one sentence.
    pub why: String,
}

impl NotRun {
    /// Says it beside the arm's plan, or in place of one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, arm_dir: &Path) -> io::Result<()> {
        fs::create_dir_all(arm_dir)?;
        fs::write(arm_dir.join(NOT_RUN), serde_json::to_vec(self)?)
    }
}

/// Judges every arm of a run directory.
///
/// # Errors
/// See [`RunDirError`].
pub fn judge_run_dir(dir: &Path) -> Result<DrillResult, RunDirError> {
    let dir = fs::canonicalize(dir).map_err(|source| io_error(dir, source))?;
    let main = read_plan(&dir)?;
    let mut arms = vec![judge_arm_dir(&dir)?];
    for name in control_names(&dir, &main)? {
        let control = dir.join(ARMS).join(&name);
        arms.push(if control.join(PLAN).is_file() {
            judge_arm_dir(&control)?
        } else {
            not_run(&control, &name, Verdict::Fail)?
        });
    }
    Ok(judge_drill(&main.drill, dir.display().to_string(), arms))
}

/// The controls that the plan names, in its order, there or not; then any other that is there.
fn control_names(dir: &Path, main: &Plan) -> Result<Vec<String>, RunDirError> {
    let folder = dir.join(ARMS);
    let mut others = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(&folder).map_err(|source| io_error(&folder, source))? {
            let path = entry.map_err(|source| io_error(&folder, source))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !main.controls.iter().any(|known| *known == name)
                && (path.join(PLAN).is_file() || path.join(NOT_RUN).is_file())
            {
                others.push(name.into_owned());
            }
        }
    }
    others.sort();
    Ok(main.controls.iter().cloned().chain(others).collect())
}

/// Judges one arm from its folder.
///
/// # Errors
/// See [`RunDirError`].
pub fn judge_arm_dir(dir: &Path) -> Result<ArmResult, RunDirError> {
    let plan = read_plan(dir)?;
    let path = dir.join(TIMELINE);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return not_run(dir, &plan.arm, expected(&plan));
        }
        Err(source) => return Err(io_error(&path, source)),
    };
    let read = read_history(&plan, BufReader::with_capacity(1 << 16, file));
    let (history, _) = read.map_err(|source| RunDirError::Timeline { path, source })?;
    Ok(ArmResult {
        earlier_attempts: earlier_attempts(dir)?,
        ..judge_history(&plan, &history)
    })
}

/// Why each execution of this arm that was set aside and repeated had to be, in order.
fn earlier_attempts(dir: &Path) -> Result<Vec<String>, RunDirError> {
    let folders = (1..).map(|number: u32| dir.join(ATTEMPTS).join(number.to_string()));
    folders
        .take_while(|folder| folder.join(PLAN).is_file())
        .map(|folder| Ok(judge_arm_dir(&folder)?.why))
        .collect()
}

const fn expected(plan: &Plan) -> Verdict {
    match (&plan.control, &plan.limit) {
        (Some(_), _) => Verdict::Fail,
        (None, Some(_)) => Verdict::Limit,
        (None, None) => Verdict::Pass,
    }
}

/// An arm without a record. If nothing says that this was meant, it counts as one that ran and
/// told nothing.
fn not_run(dir: &Path, arm: &str, expected: Verdict) -> Result<ArmResult, RunDirError> {
    let path = dir.join(NOT_RUN);
    let told = match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| RunDirError::Plan {
            path,
            why: error.to_string(),
        })?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => NotRun {
            status: RUN.to_owned(),
            why: "there is no record of it".to_owned(),
        },
        Err(source) => return Err(io_error(&path, source)),
    };
    Ok(ArmResult {
        arm: arm.to_owned(),
        verdict: None,
        expected,
        status: told.status,
        why: told.why,
        protection: Protection::NotTested,
        red_as_required: None,
        defect: None,
        earlier_attempts: Vec::new(),
        checks: Vec::new(),
    })
}

fn read_plan(dir: &Path) -> Result<Plan, RunDirError> {
    let path = dir.join(PLAN);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(RunDirError::NotARun(dir.to_owned()));
        }
        Err(source) => return Err(io_error(&path, source)),
    };
    let wrong = |why: String| RunDirError::Plan {
        path: path.clone(),
        why,
    };
    let value: serde_json::Value =
        serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    let format = value.get("format").and_then(serde_json::Value::as_u64);
    if let Some(format) = format.filter(|format| *format > u64::from(plan::FORMAT)) {
        return Err(wrong(format!(
            "it has format {format}; this lockdrill reads up to {}",
            plan::FORMAT
        )));
    }
    serde_json::from_value(value).map_err(|error| wrong(error.to_string()))
}

fn io_error(path: &Path, source: io::Error) -> RunDirError {
    RunDirError::Io {
        path: path.to_owned(),
        source,
    }
}

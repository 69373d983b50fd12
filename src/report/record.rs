//! A run directory read back for drawing: the plan and the timeline of every arm, and the facts
//! about the machine. Tolerant where a reader of a broken run needs it: a torn timeline is read
//! up to the tear and the tear is told; an arm that did not run has no record at all.
//!
//! The trap: nothing here judges. What the checks found comes from the caller.

use super::error::ReportError;
use crate::plan::{MAIN_ARM, Plan};
use crate::timeline::event::Line;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

/// The plan and the timeline of one arm.
#[derive(Debug, Clone)]
pub struct ArmRecord {
    /// What the arm was to do.
    pub plan: Plan,
    /// What happened, in order of arrival.
    pub lines: Vec<Line>,
    /// Why reading stopped before the end of the file, if it did.
    pub torn: Option<String>,
}

/// A fact about the machine or the run, by dotted name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Dotted name, e.g. `redis.version`.
    pub name: String,
    /// Its value as text.
    pub value: String,
}

/// More facts than this are not shown: the file is an allow-list and short.
const FACTS_MAX: usize = 80;

/// The folder of one arm inside a run directory.
pub fn arm_dir(run_dir: &Path, arm: &str) -> PathBuf {
    if arm == MAIN_ARM {
        run_dir.to_owned()
    } else {
        run_dir.join("arms").join(arm)
    }
}

/// Reads one arm; `None` if it has no plan on disk (it was skipped or does not apply).
///
/// # Errors
/// When a file is there but cannot be read, or the plan is not a plan.
pub fn read_arm(run_dir: &Path, arm: &str) -> Result<Option<ArmRecord>, ReportError> {
    let dir = arm_dir(run_dir, arm);
    let path = dir.join("plan.json");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ReportError::read(&path)(error)),
    };
    let plan = serde_json::from_str(&text).map_err(|error| ReportError::malformed(&path, error))?;
    let (lines, torn) = read_lines(&dir.join("timeline.jsonl"))?;
    Ok(Some(ArmRecord { plan, lines, torn }))
}

/// Reads lines until the end or the first that is not one.
fn read_lines(path: &Path) -> Result<(Vec<Line>, Option<String>), ReportError> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok((Vec::new(), Some("there is no timeline".to_owned())));
        }
        Err(error) => return Err(ReportError::read(path)(error)),
    };
    let mut lines = Vec::new();
    for (index, text) in BufReader::new(file).lines().enumerate() {
        let parsed = text
            .map_err(|error| error.to_string())
            .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
        match parsed {
            Ok(line) => lines.push(line),
            Err(error) => {
                let torn = format!(
                    "the timeline is unreadable from line {}: {error}",
                    index + 1
                );
                return Ok((lines, Some(torn)));
            }
        }
    }
    Ok((lines, None))
}

/// The facts of `env.json`, flattened to dotted names; empty if there is none.
///
/// # Errors
/// When the file is there but cannot be read or is not JSON.
pub fn read_facts(run_dir: &Path) -> Result<Vec<Fact>, ReportError> {
    let path = run_dir.join("env.json");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ReportError::read(&path)(error)),
    };
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| ReportError::malformed(&path, error))?;
    let mut facts = Vec::new();
    flatten("", &value, &mut facts);
    facts.truncate(FACTS_MAX);
    Ok(facts)
}

fn flatten(name: &str, value: &serde_json::Value, into: &mut Vec<Fact>) {
    use serde_json::Value;
    let text = match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let dotted = if name.is_empty() {
                    key.clone()
                } else {
                    format!("{name}.{key}")
                };
                flatten(&dotted, inner, into);
            }
            return;
        }
        Value::Null => return,
        Value::String(text) => text.clone(),
        Value::Array(items) => items
            .iter()
            .map(|item| {
                item.as_str()
                    .map_or_else(|| item.to_string(), str::to_owned)
            })
            .collect::<Vec<_>>()
            .join(", "),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    };
    into.push(Fact {
        name: name.to_owned(),
        value: text,
    });
}

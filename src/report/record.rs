//! A run directory read back for drawing: plan, history and lines of every arm, and the facts
//! about the machine. Tolerant where a reader of a broken run needs it: a torn timeline is read
//! up to the tear and the tear is told; an arm that did not run has no record at all.
//!
//! The trap: nothing here judges. What the checks found comes from the caller.

use super::error::ReportError;
use crate::plan::Plan;
use crate::run::run_dir;
use crate::timeline::event::{Event, Line};
use crate::timeline::history::History;
use crate::timeline::reader;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufReader, ErrorKind};
use std::path::Path;

/// The plan and the record of one arm.
#[derive(Debug)]
pub struct ArmRecord {
    /// What the arm was to do.
    pub plan: Plan,
    /// What happened, by subject.
    pub history: History,
    /// The lines that are shown, in order of arrival: all of a short record, else those around
    /// the findings.
    pub lines: Vec<Line>,
    /// How many lines the record has.
    pub total: usize,
    /// What is wrong with the record, in one sentence.
    pub trouble: Option<String>,
}

/// A fact about the machine or the run, by dotted name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Dotted name, e.g. `redis.version`.
    pub name: String,
    /// Its value as text.
    pub value: String,
}

/// A record with more lines than this is shown around its findings only.
pub const LINES_MAX: usize = 20_000;

/// So many lines before and after each line that a finding rests on.
const WINDOW: u64 = 200;

/// More facts than this are not shown: the file is an allow-list and short.
const FACTS_MAX: usize = 80;

/// Reads one arm; `None` if it has no plan on disk (it was skipped or does not apply). `telling`
/// are the lines that the findings rest on.
///
/// # Errors
/// When a file is there but cannot be read, or the plan is not a plan.
pub fn read_arm(
    run: &Path,
    arm: &str,
    telling: &BTreeSet<u64>,
) -> Result<Option<ArmRecord>, ReportError> {
    let dir = run_dir::arm(run, arm);
    let path = dir.join(run_dir::PLAN);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ReportError::read(&path)(error)),
    };
    let plan: Plan =
        serde_json::from_str(&text).map_err(|error| ReportError::malformed(&path, error))?;
    read_lines(plan, &dir.join(run_dir::TIMELINE), telling).map(Some)
}

fn read_lines(plan: Plan, path: &Path, telling: &BTreeSet<u64>) -> Result<ArmRecord, ReportError> {
    let mut collector = History::collector(&plan);
    let mut lines = Vec::new();
    let mut total = 0;
    let told = match fs::File::open(path) {
        Ok(file) => reader::read(BufReader::new(file), |line| {
            total += 1;
            if total <= LINES_MAX || is_shown(&line, telling) {
                lines.push(line.clone());
            }
            collector.push(line);
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(ArmRecord {
                history: collector.finish(),
                trouble: Some("there is no timeline".to_owned()),
                plan,
                lines,
                total,
            });
        }
        Err(error) => return Err(ReportError::read(path)(error)),
    };
    let trouble = match told {
        Ok(read) => read
            .torn
            .then(|| "the last line of the timeline is torn".to_owned()),
        Err(error) => Some(error.to_string()),
    };
    if total > LINES_MAX {
        lines.retain(|line| is_shown(line, telling));
    }
    Ok(ArmRecord {
        history: collector.finish(),
        plan,
        lines,
        total,
        trouble,
    })
}

/// Near a line that a finding rests on, or one of the few that tell the story.
fn is_shown(line: &Line, telling: &BTreeSet<u64>) -> bool {
    let near = line.seq.saturating_sub(WINDOW)..=line.seq.saturating_add(WINDOW);
    if telling.range(near).next().is_some() {
        return true;
    }
    matches!(
        line.event,
        Event::Start { .. }
            | Event::Phase { .. }
            | Event::WorkerStarted { .. }
            | Event::WorkerExited { .. }
            | Event::ServerStarted { .. }
            | Event::ServerGiven { .. }
            | Event::ServerExited { .. }
            | Event::ServerAsked { .. }
            | Event::EdgeOpened { .. }
            | Event::Probe { .. }
            | Event::Frame { .. }
            | Event::FaultOnset { .. }
            | Event::FaultHeal { .. }
            | Event::FaultNotInjected { .. }
            | Event::PatienceEnded { .. }
            | Event::ObserverSynced { .. }
            | Event::ObserverGap { .. }
            | Event::ServerRole { .. }
            | Event::FinalValue { .. }
            | Event::FinalKey { .. }
            | Event::Sweep { .. }
            | Event::End { .. }
    )
}

/// The facts of `env.json`, flattened to dotted names; empty if there is none.
///
/// # Errors
/// When the file is there but cannot be read or is not JSON.
pub fn read_facts(run: &Path) -> Result<Vec<Fact>, ReportError> {
    let path = run.join(run_dir::ENV);
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

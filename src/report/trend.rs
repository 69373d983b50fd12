//! `history.jsonl`, one level above the drills' folders: one line a run, kept when the run's own
//! folder is deleted. Appended with one write, so that drills that run side by side do not mix
//! their lines; drawing a report again adds nothing.

use super::Writer;
use super::error::ReportError;
use super::model::Model;
use crate::verdict::{DrillResult, Protection, Verdict};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const FILE: &str = "history.jsonl";

/// One run, as the history tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// Drill.
    pub(super) drill: String,
    /// Run id: the name of the run directory.
    pub(super) run: String,
    /// Verdict.
    pub(super) verdict: Verdict,
    /// Protection of the work in the main arm.
    pub(super) protection: Protection,
}

/// The writer.
pub(super) struct Trend;

impl Writer for Trend {
    fn name(&self) -> &'static str {
        FILE
    }

    fn write(&self, model: &Model) -> Result<Option<PathBuf>, ReportError> {
        let Some(root) = reports_root(&model.dir, &model.result) else {
            return Ok(None);
        };
        let entry = Entry {
            drill: model.result.drill.clone(),
            run: run_id(&model.dir),
            verdict: model.result.verdict,
            protection: model.result.protection,
        };
        let path = root.join(FILE);
        if read(&root).contains(&entry) {
            return Ok(None);
        }
        let mut line =
            serde_json::to_string(&entry).map_err(|error| ReportError::draw(FILE, error))?;
        line.push('\n');
        fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(ReportError::write(&path))?;
        Ok(Some(path))
    }
}

/// Every entry of the history; a line that is none is passed over.
pub(super) fn read(root: &Path) -> Vec<Entry> {
    fs::read_to_string(root.join(FILE))
        .unwrap_or_default()
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// The folder that holds all drills' runs, if this run lies where runs lie:
/// `<root>/<drill>/<run id>`. A directory that was copied elsewhere has no index to keep.
pub(super) fn reports_root(run_dir: &Path, result: &DrillResult) -> Option<PathBuf> {
    let dir = run_dir.canonicalize().ok()?;
    let drill_dir = dir.parent()?;
    (drill_dir.file_name()?.to_str()? == result.drill)
        .then(|| drill_dir.parent().map(Path::to_owned))?
}

/// The name of the run directory.
pub(super) fn run_id(run_dir: &Path) -> String {
    let dir = run_dir
        .canonicalize()
        .unwrap_or_else(|_| run_dir.to_owned());
    dir.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

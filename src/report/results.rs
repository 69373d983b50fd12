//! `results.json`: the answer as a machine reads it, the same object as one entry of `--json`.

use super::error::ReportError;
use super::model::Model;
use super::{Writer, put};
use crate::run::run_dir;
use crate::verdict::DrillResult;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const FILE: &str = "results.json";

/// The writer.
pub(super) struct Results;

impl Writer for Results {
    fn name(&self) -> &'static str {
        FILE
    }

    fn write(&self, model: &Model) -> Result<Option<PathBuf>, ReportError> {
        keep(&model.dir, &model.result)?;
        Ok(Some(model.dir.join(FILE)))
    }
}

/// Writes the answer into a run directory.
///
/// # Errors
/// When it cannot be written.
pub fn keep(run_dir: &Path, result: &DrillResult) -> Result<(), ReportError> {
    let mut text =
        serde_json::to_string_pretty(result).map_err(|error| ReportError::draw(FILE, error))?;
    text.push('\n');
    put(&run_dir.join(FILE), text.as_bytes())
}

/// Reads the answer of a recorded run.
///
/// # Errors
/// When the file is missing or is not a result.
pub fn read(run: &Path) -> Result<DrillResult, ReportError> {
    let path = run.join(FILE);
    let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound if run.join(run_dir::PLAN).is_file() => {
            ReportError::NotJudged(run.to_owned())
        }
        _other => ReportError::read(&path)(error),
    })?;
    serde_json::from_str(&text).map_err(|error| ReportError::malformed(&path, error))
}

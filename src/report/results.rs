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
        let mut text = serde_json::to_string_pretty(&model.result)
            .map_err(|error| ReportError::draw(FILE, error))?;
        text.push('\n');
        let path = model.dir.join(FILE);
        put(&path, text.as_bytes())?;
        Ok(Some(path))
    }
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

//! A run directory to a page that a stranger understands, and to files that machines read.
//!
//! Data first, drawing second: [`model::Model`] holds all that is drawn; every writer is a
//! function of it. One writer that fails does not stop the others, and no writer changes what
//! was judged.
//!
//! How to add a writer: a file with a type that implements [`Writer`], and its line in
//! [`WRITERS`].

use crate::verdict::DrillResult;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

pub mod bound;
pub mod charts;
pub mod checklist;
pub mod counts;
pub mod describe;
pub mod error;
pub mod holds;
pub mod html;
mod index;
pub mod junit;
pub mod matrix;
pub mod measures;
pub mod merge;
pub mod metrics;
pub mod model;
pub mod nearness;
pub mod past;
mod picture_files;
pub mod record;
mod results;
pub mod retain;
mod runs;
pub mod scene;
pub mod sentence;
pub mod shape;
pub mod signals;
pub mod story;
pub mod tally;
pub mod times;
pub mod tried;
pub mod words;

pub use error::ReportError;
use model::Model;

/// One file of a report.
pub trait Writer: Sync {
    /// What it writes, for messages: a file name.
    fn name(&self) -> &'static str;

    /// Writes it and returns where; `None` if it does not apply to this run directory.
    ///
    /// # Errors
    /// When it cannot be drawn or written. The other writers go on.
    fn write(&self, model: &Model) -> Result<Option<PathBuf>, ReportError>;
}

/// Every writer of a run's own files, in the order in which they write.
pub const WRITERS: &[&dyn Writer] = &[
    &results::Results,
    &html::Html,
    &picture_files::Svg,
    &picture_files::Png,
    &picture_files::ChartPng(&charts::fencing::CHART),
    &picture_files::ChartPng(&charts::margin::CHART),
    &picture_files::ChartPng(&charts::latency::CHART),
    &junit::Junit,
    &metrics::Metrics,
];

/// The index of all runs comes last: it reads what the others wrote.
const INDEX: &dyn Writer = &index::Index;

/// What was written, and what was not.
#[derive(Debug)]
pub struct Written {
    /// The page to open.
    pub page: PathBuf,
    /// Every file that was written.
    pub files: Vec<PathBuf>,
    /// Every writer that failed, with its reason.
    pub failed: Vec<(&'static str, ReportError)>,
}

/// Writes what was judged, and no report yet. Of several executions of one schedule all are kept
/// before the first is drawn: so each page knows of the others.
///
/// # Errors
/// When `results.json` cannot be written.
pub fn keep(run_dir: &Path, result: &DrillResult) -> Result<(), ReportError> {
    results::keep(run_dir, result)
}

/// Writes every file of a report into its run directory, and the index of all runs above it.
///
/// # Errors
/// When the run directory cannot be read at all. A writer that fails is in [`Written::failed`].
pub fn write_all(run_dir: &Path, result: &DrillResult) -> Result<Written, ReportError> {
    write_with(WRITERS.iter().chain([&INDEX]), run_dir, result)
}

/// The same without the index, for many runs of which each is drawn and the index once.
///
/// # Errors
/// As [`write_all`].
pub fn write_run(run_dir: &Path, result: &DrillResult) -> Result<Written, ReportError> {
    write_with(WRITERS.iter(), run_dir, result)
}

/// Writes the index of all runs in a folder.
///
/// # Errors
/// When it cannot be written.
pub fn write_index(root: &Path) -> Result<PathBuf, ReportError> {
    index::write(root)
}

/// What was judged of a recorded run.
///
/// # Errors
/// When the directory holds no readable result.
pub fn kept(run_dir: &Path) -> Result<DrillResult, ReportError> {
    results::read(run_dir)
}

fn write_with<'a>(
    writers: impl Iterator<Item = &'a &'static dyn Writer>,
    run_dir: &Path,
    result: &DrillResult,
) -> Result<Written, ReportError> {
    let model = Model::read(run_dir, result)?;
    let mut written = Written {
        page: run_dir.join(html::FILE),
        files: Vec::new(),
        failed: Vec::new(),
    };
    for writer in writers {
        match guarded(*writer, &model) {
            Ok(Some(file)) => written.files.push(file),
            Ok(None) => {}
            Err(error) => written.failed.push((writer.name(), error)),
        }
    }
    Ok(written)
}

/// Draws the report of a recorded run again from its own `results.json`.
///
/// # Errors
/// When the directory holds no readable result.
pub fn redraw(run_dir: &Path) -> Result<Written, ReportError> {
    write_all(run_dir, &results::read(run_dir)?)
}

/// A drawing library may panic on data that nobody foresaw; a picture must not cost the verdict.
fn guarded(writer: &dyn Writer, model: &Model) -> Result<Option<PathBuf>, ReportError> {
    catch_unwind(AssertUnwindSafe(|| writer.write(model)))
        .unwrap_or_else(|_| Err(ReportError::draw(writer.name(), "the writer panicked")))
}

/// Puts a file in place in one step, so that a reader never sees half of it.
fn put(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let half = path.with_file_name(format!(".{name}.{}.half", std::process::id()));
    fs::write(&half, bytes).map_err(ReportError::write(&half))?;
    fs::rename(&half, path).map_err(ReportError::write(path))
}

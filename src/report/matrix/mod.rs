//! Drills against lock back ends: how each ended on each, what saved the work there, and where a
//! drill means nothing. Made of what the runs of a folder have left: its history, and of each cell
//! one run directory.
//!
//! The trap: a cell without a run is *not played*, and that is no pass; and a run of another plan,
//! with other settings than the drill's file has now, is no run of this cell.

use super::error::ReportError;
use super::past::file;
use super::put;
use crate::verdict::Verdict;
use serde::Serialize;
use std::path::{Path, PathBuf};

mod cells;
mod page;
mod picture;
mod runs;
mod suite;
mod text;

pub use cells::build;
pub use page::page;
pub use picture::picture;
pub use suite::{Fit, suite};
pub use text::text;

/// Name of the page in the folder of runs.
pub const PAGE: &str = "matrix.html";

/// Name of the picture beside it.
pub const PICTURE: &str = "matrix.png";

/// Output pixels per pixel of a style sheet.
const SCALE: f64 = 1.4;

/// Every drill on every back end.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Matrix {
    /// The columns.
    pub locks: Vec<Lock>,
    /// The rows, by name; the cells of each are in the order of the columns.
    pub drills: Vec<Drill>,
    /// Lines of the history that could not be read and count nothing.
    pub lost_lines: usize,
}

/// A lock back end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lock {
    /// Its name.
    pub name: String,
    /// Why no drill can be played on it; none if one can.
    pub none: Option<String>,
}

/// A drill.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drill {
    /// Its name.
    pub drill: String,
    /// One a column.
    pub cells: Vec<Cell>,
}

/// How a drill stands on a back end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum State {
    /// No named check was violated.
    #[serde(rename = "pass")]
    Pass,
    /// The limit that the drill's file declares was reached.
    #[serde(rename = "limit")]
    Limit,
    /// A check was violated that had to hold.
    #[serde(rename = "fail")]
    Fail,
    /// The record cannot tell.
    #[serde(rename = "inconclusive")]
    Inconclusive,
    /// It means nothing on this back end.
    #[serde(rename = "not applicable")]
    NotApplicable,
    /// It could be played, and was not.
    #[serde(rename = "not played")]
    NotPlayed,
}

/// One drill on one back end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// The back end.
    pub lock: String,
    /// How it stands: the worst of the last night.
    pub state: State,
    /// What saved the work, in a word or two; empty where nothing was played.
    pub saved: String,
    /// Why it stands so, and what saved the work, in one sentence without its full stop.
    pub why: String,
    /// Executions that ended so, of all nights.
    pub k: u32,
    /// Of so many: those that have an answer, or of an inconclusive cell all.
    pub n: u32,
    /// Executions among all nights that failed.
    pub failed: u32,
    /// Executions that have no answer.
    pub inconclusive: u32,
    /// Executions of this drill here that do not count: of another plan.
    pub other: u32,
    /// Controls of the run told here that were red as required.
    pub controls_red: usize,
    /// Controls that the drill has.
    pub controls: usize,
    /// Date of the last night.
    pub night: Option<String>,
    /// The run told here.
    pub run: Option<String>,
    /// Its report, from the folder of runs; none if it was removed.
    pub report: Option<String>,
}

impl State {
    /// All of them, best first.
    pub const ALL: [State; 6] = [
        State::Pass,
        State::Limit,
        State::Fail,
        State::Inconclusive,
        State::NotApplicable,
        State::NotPlayed,
    ];

    /// In words.
    pub const fn word(self) -> &'static str {
        match self {
            State::Pass => "pass",
            State::Limit => "limit",
            State::Fail => "fail",
            State::Inconclusive => "inconclusive",
            State::NotApplicable => "not applicable",
            State::NotPlayed => "not played",
        }
    }

    /// As one sign, never the only thing that tells two of them apart.
    pub const fn sign(self) -> &'static str {
        match self {
            State::Pass => "✓",
            State::Limit => "L",
            State::Fail => "✕",
            State::Inconclusive => "?",
            State::NotApplicable => "·",
            State::NotPlayed => "–",
        }
    }
}

impl From<Verdict> for State {
    fn from(verdict: Verdict) -> State {
        match verdict {
            Verdict::Pass => State::Pass,
            Verdict::Limit => State::Limit,
            Verdict::Fail => State::Fail,
            Verdict::Inconclusive => State::Inconclusive,
        }
    }
}

impl Cell {
    /// A cell in which nothing was played.
    pub fn unplayed(lock: impl Into<String>, state: State, why: impl Into<String>) -> Cell {
        Cell {
            lock: lock.into(),
            state,
            saved: String::new(),
            why: why.into(),
            k: 0,
            n: 0,
            failed: 0,
            inconclusive: 0,
            other: 0,
            controls_red: 0,
            controls: 0,
            night: None,
            run: None,
            report: None,
        }
    }

    /// Something was played here.
    pub fn is_played(&self) -> bool {
        self.run.is_some()
    }
}

impl Matrix {
    /// Columns on which a drill can be played; the others are told in a sentence.
    pub fn shown(&self) -> Vec<usize> {
        let places = 0..self.locks.len();
        places.filter(|at| self.locks[*at].none.is_none()).collect()
    }

    /// How many cells of a column stand so.
    pub fn count(&self, column: usize, state: State) -> usize {
        let cells = self.drills.iter().filter_map(|row| row.cells.get(column));
        cells.filter(|cell| cell.state == state).count()
    }
}

/// The matrix of the runs in a folder, for the drills and back ends of a suite.
///
/// # Errors
/// When the folder's history is there and cannot be read.
pub fn read(root: &Path, suite: &[Fit]) -> Result<Matrix, ReportError> {
    let past = file::read(root)?;
    let mut matrix = build(suite, &past.entries);
    matrix.lost_lines = past.lost_count;
    runs::tell(root, &mut matrix);
    Ok(matrix)
}

/// Writes the page and the picture; returns the page.
///
/// # Errors
/// When one of them cannot be drawn or written.
pub fn write(root: &Path, matrix: &Matrix) -> Result<PathBuf, ReportError> {
    let page = root.join(PAGE);
    put(&page, self::page(matrix).into_string().as_bytes())?;
    let drawn = super::charts::paint_png::paint(&picture(matrix), SCALE)?;
    put(&root.join(PICTURE), &drawn)?;
    Ok(page)
}

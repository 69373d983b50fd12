//! What can go wrong while a report is read or written. Always outside causes: a file, a disk,
//! a drawing library.

use std::io;
use std::path::{Path, PathBuf};

/// A report, or one of its files, could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file of the run directory cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The run broke off before it was judged.
    #[error(
        "{} was recorded but never judged: it has no results.json; \
         judge it with `lockdrill recheck {}`",
        .0.display(),
        .0.display()
    )]
    NotJudged(PathBuf),
    /// A file of the run directory is not what it should be.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// An output cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A picture or document cannot be drawn.
    #[error("cannot draw {what}: {message}")]
    Draw {
        /// Which.
        what: String,
        /// Why.
        message: String,
    },
}

impl ReportError {
    /// For `map_err` on a read of this file.
    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| ReportError::Read {
            path: path.to_owned(),
            source,
        }
    }

    /// For `map_err` on a write of this file.
    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| ReportError::Write {
            path: path.to_owned(),
            source,
        }
    }

    /// A file that does not hold what it should.
    pub(super) fn malformed(path: &Path, message: impl ToString) -> Self {
        ReportError::Malformed {
            path: path.to_owned(),
            message: message.to_string(),
        }
    }

    /// A drawing that failed.
    pub(super) fn draw(what: &str, message: impl ToString) -> Self {
        ReportError::Draw {
            what: what.to_owned(),
            message: message.to_string(),
        }
    }
}

//! What can go wrong with an edge.

use super::EdgeId;
use std::io;

/// An edge could not be made, injured or healed.
#[derive(Debug, thiserror::Error)]
pub enum EdgeError {
    /// No such edge.
    #[error("edge {0} has not been opened")]
    Unknown(EdgeId),
    /// Opened twice.
    #[error("edge {0} is open already")]
    Twice(EdgeId),
    /// A second injury.
    #[error("edge {0} has an injury already; heal it first")]
    Injured(EdgeId),
    /// Not something this provider can do.
    #[error("{provider} cannot do {injury}: {why}")]
    Cannot {
        /// The provider's name.
        provider: &'static str,
        /// The injury's word.
        injury: &'static str,
        /// Why not.
        why: String,
    },
    /// A program is not on this machine.
    #[error("{program} is not on PATH; {todo}")]
    Missing {
        /// The program.
        program: &'static str,
        /// What brings it.
        todo: &'static str,
    },
    /// The surroundings are wrong, or what was asked for did not come to be.
    #[error("{0}")]
    Refused(String),
    /// The machine refused.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
}

impl EdgeError {
    /// For `map_err`: names what was tried.
    pub fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> EdgeError {
        let what = what.into();
        move |source| EdgeError::Io { what, source }
    }
}

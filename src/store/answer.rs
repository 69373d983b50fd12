//! What a store answers, and why it does not.

use crate::ids::FencingToken;
use serde::{Deserialize, Serialize};

/// What the store answered. Unknown is never told as accepted or rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreAnswer {
    /// Written (or, for a seal, the mark is raised).
    Accepted,
    /// Its job had been done before by an accepted write; nothing changed now.
    DoneBefore,
    /// Refused, nothing changed but the log.
    Rejected {
        /// The highest fencing token that the store knows.
        highest: Option<FencingToken>,
    },
    /// Definitely not done: the store said so before anything changed (busy, unreachable).
    Failed(String),
    /// May or may not have been done.
    Unknown(String),
}

impl StoreAnswer {
    /// A reply that the store never gives is no answer: something was done, but what?
    pub(super) fn nonsense() -> StoreAnswer {
        StoreAnswer::Unknown("the store's reply makes no sense".to_owned())
    }
}

/// What the store answered to a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadAnswer {
    /// The write whose value stands; none if never written.
    Shown(Option<String>),
    /// Refused: the reader's fencing token is too old.
    Rejected {
        /// The highest fencing token that the store knows.
        highest: Option<FencingToken>,
    },
    /// Definitely not shown.
    Failed(String),
    /// No answer; the store may have taken it for shown.
    Unknown(String),
}

impl ReadAnswer {
    /// What an attempt to read was answered, with the write that was shown.
    pub(super) fn of(answer: StoreAnswer, shown: Option<String>) -> ReadAnswer {
        match answer {
            StoreAnswer::Accepted | StoreAnswer::DoneBefore => ReadAnswer::Shown(shown),
            StoreAnswer::Rejected { highest } => ReadAnswer::Rejected { highest },
            StoreAnswer::Failed(why) => ReadAnswer::Failed(why),
            StoreAnswer::Unknown(why) => ReadAnswer::Unknown(why),
        }
    }
}

/// A store could not be opened or read.
#[derive(Debug, thiserror::Error)]
#[error("store `{location}`: {message}")]
pub struct StoreError {
    /// Where it is.
    pub location: String,
    /// What went wrong.
    pub message: String,
}

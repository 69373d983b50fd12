//! What is judged: one property a file, each a pure function of the history.

use serde::{Deserialize, Serialize};

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The property held on this record.
    Holds,
    /// It did not, and the record shows where.
    Violated,
    /// The record cannot tell.
    Unknown,
}

/// One finding: a statement about the record that a hostile reader can verify by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Name of the check.
    pub check: String,
    /// Outcome.
    pub outcome: Outcome,
    /// One sentence with names, numbers and times.
    pub why: String,
    /// `seq` of the lines that it rests on, ascending.
    pub events: Vec<u64>,
    /// Workers and faults that are the witnesses of a violation, most telling first.
    pub by: Vec<String>,
    /// Nothing on the record could have violated it.
    pub vacuous: bool,
}

/// One property. Pure: it sees the history and nothing else, and never the name of a flaw.
pub trait Check: Sync {
    /// Name in experiment files and reports; states the good property.
    fn name(&self) -> &'static str;

    /// The property in one sentence, for `list checks` and reports.
    fn claim(&self) -> &'static str;
}

/// Every check, in the order of reports.
pub const ALL: &[&dyn Check] = &[];

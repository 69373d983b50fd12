//! What is said to a gateway and what it says: JSON over HTTP, one question a request.

use super::super::rule::{Mark, Ruling};
use super::super::{Attempt, AttemptKind, Logged, Standing, StoreAnswer, StoreSpec};
use serde::{Deserialize, Serialize};

/// Where every question is put.
pub const PATH: &str = "/store";
/// Longest question that is taken, bytes.
pub const LONGEST: usize = 1 << 20;

/// One question.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Make a store with these rules.
    Create(StoreSpec),
    /// Is there one?
    Open,
    /// The mark of a resource.
    Mark(String),
    /// How often a resource's job has taken effect.
    TimesDone(String, String),
    /// One attempt.
    Put(Attempt, AttemptKind, Ruling),
    /// What a resource's outbox holds.
    Outbox(String),
    /// A resource's jobs are published.
    Published(String, Vec<String>),
    /// What a resource holds.
    Read(String),
    /// Every attempt so far.
    Log,
    /// Remember that somebody of this name was here.
    Remember(String),
    /// Was somebody of this name here?
    Remembers(String),
}

/// Its answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is done, or it is so.
    Yes,
    /// It is not so.
    No,
    /// A mark.
    Mark(Mark),
    /// So often.
    Times(u64),
    /// What became of an attempt, and the write that a read was shown.
    Put(StoreAnswer, Option<String>),
    /// Jobs.
    Jobs(Vec<String>),
    /// What a resource holds.
    Standing(Standing),
    /// The log.
    Log(Vec<Logged>),
    /// It was not done: why.
    Refused(String),
}

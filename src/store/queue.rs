//! The queue: a second place that the work must reach, and that shares no transaction with the
//! store. A SQLite file of its own, whatever the store is, which logs every publication in order.
//!
//! A queue that knows its messages by name takes each once: a later delivery is answered like the
//! first and changes nothing.

use super::sqlite::connection;
use super::{Armed, StoreAnswer, StoreError};
use crate::clock;
use rusqlite::{Connection, OpenFlags, Result, TransactionBehavior};
use serde::{Deserialize, Serialize};

/// What a queue is opened with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSpec {
    /// Its file.
    pub location: String,
    /// Each message is taken once, however often it is published.
    pub idempotent: bool,
    /// `CLOCK_MONOTONIC` of lab time 0, ns: the log's times count from here.
    pub lab_zero_ns: u64,
}

/// One line of the queue's own log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Place in the queue's order, from 1, without gaps.
    pub n: u64,
    /// The message: the job that it is about.
    pub message: String,
    /// The step that published it, `<worker>.publish.<n>` or `<worker>.relay.<n>`.
    pub publish: String,
    /// The queue had this message already: nothing changed but the log.
    pub known_before: bool,
    /// Lab time at which it was taken, ns.
    pub applied_ns: u64,
}

const TABLE: &str = "
    CREATE TABLE message (
        n       INTEGER PRIMARY KEY,
        name    TEXT NOT NULL,
        publish TEXT NOT NULL,
        known   INTEGER NOT NULL, -- it was there already
        applied INTEGER NOT NULL  -- lab time, ns
    ) STRICT;
";

/// One process's connection to the queue.
#[derive(Debug)]
pub struct Queue {
    connection: Connection,
    spec: QueueSpec,
}

impl Queue {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// When the file cannot be written, or holds a queue already.
    pub fn create(spec: &QueueSpec) -> std::result::Result<Queue, StoreError> {
        let queue = Queue::connect(spec, OpenFlags::SQLITE_OPEN_CREATE)?;
        let made = queue.connection.pragma_update(None, "journal_mode", "WAL");
        made.and_then(|()| queue.connection.execute_batch(TABLE))
            .map_err(|error| failed(spec, &error))?;
        Ok(queue)
    }

    /// Opens one that exists.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(spec: &QueueSpec) -> std::result::Result<Queue, StoreError> {
        Queue::connect(spec, OpenFlags::empty())
    }

    fn connect(spec: &QueueSpec, access: OpenFlags) -> std::result::Result<Queue, StoreError> {
        let connection =
            connection::connect(&spec.location, access).map_err(|error| failed(spec, &error))?;
        Ok(Queue {
            connection,
            spec: spec.clone(),
        })
    }

    /// Puts a message into the queue; `armed` is called at the last moment before.
    pub fn publish(&mut self, publish: &str, message: &str, armed: Armed<'_>) -> StoreAnswer {
        armed();
        match self.put(publish, message) {
            Ok(true) => StoreAnswer::DoneBefore,
            Ok(false) => StoreAnswer::Accepted,
            Err((error, false)) => StoreAnswer::Failed(error.to_string()),
            Err((error, true)) => StoreAnswer::Unknown(error.to_string()),
        }
    }

    /// Whether it was there already; an error says whether it may be there now.
    fn put(&mut self, publish: &str, message: &str) -> Result<bool, (rusqlite::Error, bool)> {
        let before = |error| (error, false);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(before)?;
        let found: bool = transaction
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM message WHERE name = ?1)")
            .and_then(|mut query| query.query_row([message], |row| row.get(0)))
            .map_err(before)?;
        let known = self.spec.idempotent && found;
        let applied = clock::monotonic_ns().saturating_sub(self.spec.lab_zero_ns);
        let applied = i64::try_from(applied).unwrap_or(i64::MAX);
        transaction
            .prepare_cached(
                "INSERT INTO message (name, publish, known, applied) VALUES (?1, ?2, ?3, ?4)",
            )
            .and_then(|mut insert| insert.execute((message, publish, known, applied)))
            .map_err(before)?;
        transaction.commit().map_err(|error| (error, true))?;
        Ok(known)
    }

    /// Every publication so far, in the queue's order.
    ///
    /// # Errors
    /// When the queue cannot be read.
    pub fn log(&self) -> std::result::Result<Vec<Published>, StoreError> {
        self.lines().map_err(|error| failed(&self.spec, &error))
    }

    fn lines(&self) -> Result<Vec<Published>> {
        let number = |stored: i64| u64::try_from(stored).unwrap_or_default();
        self.connection
            .prepare_cached("SELECT n, name, publish, known, applied FROM message ORDER BY n")?
            .query_map([], |row| {
                Ok(Published {
                    n: number(row.get(0)?),
                    message: row.get(1)?,
                    publish: row.get(2)?,
                    known_before: row.get(3)?,
                    applied_ns: number(row.get(4)?),
                })
            })?
            .collect()
    }
}

fn failed(spec: &QueueSpec, error: &rusqlite::Error) -> StoreError {
    StoreError {
        location: spec.location.clone(),
        message: error.to_string(),
    }
}

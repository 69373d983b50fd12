//! The embedded store: one SQLite file, opened by every worker process at once.
//!
//! Each attempt is one short write transaction that holds the decision, the value and the log
//! line. The caller's `armed` hook runs just before that transaction begins and never inside it:
//! a writer stopped between BEGIN and COMMIT would block every other one, and the lab would
//! measure SQLite instead of the lock. For the same reason `racy` is two transactions, a read and
//! an unconditional write; as one it would fail as soon as another process wrote in between.
//!
//! `synchronous = NORMAL`: what a killed process has committed stays; a power failure may take
//! the last commits, and no drill here cuts the power.

use super::rule::{Decision, JobRule, Mark, Ruling};
use super::{
    Armed, Attempt, AttemptKind, Logged, Opening, ProtectedStore, Reads, Standing, StoreAnswer,
    StoreError, StoreKind, StoreSpec,
};
use crate::clock;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

pub(super) mod connection;
mod outbox;
mod tables;

/// The registry entry.
pub const KIND: StoreKind = StoreKind {
    name: "sqlite",
    summary: "an embedded SQLite file shared by every worker process; nothing to install",
    server: None,
    create: |spec| opened(Sqlite::create(spec)),
    open: |spec| opened(Sqlite::open(spec)),
};

/// One process's connection to the store.
struct Sqlite {
    connection: Connection,
    spec: StoreSpec,
}

/// A file is opened at once; nothing is waited for.
fn opened(store: Result<Sqlite, StoreError>) -> Opening {
    Box::pin(std::future::ready(
        store.map(|store| Box::new(store) as Box<dyn ProtectedStore>),
    ))
}

/// Why an attempt has no answer from the store.
enum Trouble {
    /// Before COMMIT: rolled back, nothing changed.
    Before(rusqlite::Error),
    /// At COMMIT: nobody knows.
    AtCommit(rusqlite::Error),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Trouble::Before(error)
    }
}

impl Sqlite {
    fn create(spec: &StoreSpec) -> Result<Self, StoreError> {
        let mut store = Sqlite::connect(spec, OpenFlags::SQLITE_OPEN_CREATE)?;
        tables::create(&mut store.connection).map_err(|error| failed(spec, &error))?;
        Ok(store)
    }

    fn open(spec: &StoreSpec) -> Result<Self, StoreError> {
        let store = Sqlite::connect(spec, OpenFlags::empty())?;
        match tables::version(&store.connection) {
            Ok(tables::VERSION) => Ok(store),
            Ok(found) => Err(StoreError {
                location: spec.location.clone(),
                message: format!("tables of version {found}, expected {}", tables::VERSION),
            }),
            Err(error) => Err(failed(spec, &error)),
        }
    }

    fn connect(spec: &StoreSpec, access: OpenFlags) -> Result<Self, StoreError> {
        let connection =
            connection::connect(&spec.location, access).map_err(|error| failed(spec, &error))?;
        Ok(Sqlite {
            connection,
            spec: spec.clone(),
        })
    }

    /// The one write transaction: decide, log, and if admitted, write.
    fn apply(
        &mut self,
        attempt: &Attempt,
        kind: AttemptKind,
        (decision, job): Ruling,
    ) -> Result<(StoreAnswer, Option<String>), Trouble> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mark = tables::mark(&transaction, &attempt.resource)?;
        let times_done =
            || tables::times_done(&transaction, &attempt.resource, attempt.job.as_deref());
        // Whatever its token: it changes nothing, and its writer is to know that the work is done.
        let done_before = kind == AttemptKind::Write
            && match job {
                JobRule::Blind => false,
                JobRule::Inside => times_done()? > 0,
                JobRule::Done => true,
            };
        let accepted = match decision {
            _ if done_before => true,
            Decision::Inside => mark.admits(attempt, self.spec.once),
            Decision::Before { admitted } => admitted,
        };
        let shown = match kind {
            AttemptKind::Read if accepted => tables::standing_write(&transaction, attempt)?,
            AttemptKind::Read | AttemptKind::Write | AttemptKind::Seal => None,
        };
        let mut logged = attempt.clone();
        if kind == AttemptKind::Read {
            logged.based_on.clone_from(&shown);
        }
        let line = Logged {
            n: 0, // the store gives it
            kind,
            attempt: logged,
            accepted,
            done_before,
            highest: mark.highest,
            applied_ns: clock::monotonic_ns().saturating_sub(self.spec.lab_zero_ns),
        };
        tables::append(&transaction, &line)?;
        let highest = mark.highest;
        // An open read changes nothing; a fenced one raises the mark like a write.
        let marks = kind != AttemptKind::Read || self.spec.reads == Reads::Fenced;
        if accepted && !done_before && marks {
            tables::do_job(&transaction, attempt, self.spec.outbox)?;
            let write = (kind == AttemptKind::Write).then_some(attempt.write.as_str());
            let raised = mark.raised_by(attempt);
            tables::stand(&transaction, &attempt.resource, &raised, write)?;
        }
        transaction.commit().map_err(Trouble::AtCommit)?;
        let answer = match accepted {
            true if done_before => StoreAnswer::DoneBefore,
            true => StoreAnswer::Accepted,
            false => StoreAnswer::Rejected { highest },
        };
        Ok((answer, shown))
    }
}

#[async_trait::async_trait]
impl ProtectedStore for Sqlite {
    fn spec(&self) -> &StoreSpec {
        &self.spec
    }

    async fn mark(&mut self, resource: &str) -> Result<Mark, StoreError> {
        tables::mark(&self.connection, resource).map_err(|error| failed(&self.spec, &error))
    }

    async fn times_done(&mut self, resource: &str, job: &str) -> Result<u64, StoreError> {
        let times = tables::times_done(&self.connection, resource, Some(job));
        times.map_err(|error| failed(&self.spec, &error))
    }

    async fn put(
        &mut self,
        attempt: &Attempt,
        (kind, ruling): (AttemptKind, Ruling),
        armed: Armed<'_>,
    ) -> (StoreAnswer, Option<String>) {
        armed();
        match self.apply(attempt, kind, ruling) {
            Ok(answered) => answered,
            Err(Trouble::Before(error)) => (StoreAnswer::Failed(error.to_string()), None),
            Err(Trouble::AtCommit(error)) => (StoreAnswer::Unknown(error.to_string()), None),
        }
    }

    async fn outbox(&mut self, resource: &str) -> Result<Vec<String>, StoreError> {
        outbox::jobs(&self.connection, resource).map_err(|error| failed(&self.spec, &error))
    }

    async fn published(&mut self, resource: &str, jobs: &[String]) -> Result<(), StoreError> {
        let done = outbox::take_out(&mut self.connection, resource, jobs);
        done.map_err(|error| failed(&self.spec, &error))
    }

    async fn read(&mut self, resource: &str) -> Result<Standing, StoreError> {
        tables::standing(&self.connection, resource).map_err(|error| failed(&self.spec, &error))
    }

    async fn log(&mut self) -> Result<Vec<Logged>, StoreError> {
        tables::log(&self.connection).map_err(|error| failed(&self.spec, &error))
    }
}

fn failed(spec: &StoreSpec, error: &rusqlite::Error) -> StoreError {
    StoreError {
        location: spec.location.clone(),
        message: error.to_string(),
    }
}

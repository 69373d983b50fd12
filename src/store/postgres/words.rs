//! What is said to the Postgres store and what it answers: statements, parameters, rows; no
//! decisions. Postgres has no unsigned numbers, so a fencing token above 2^63 - 1 is refused.

use super::super::rule::{Mark, Ruling};
use super::super::{Attempt, AttemptKind, Logged, StoreAnswer, StoreSpec, kinds};
use crate::ids::{FencingToken, GrantId};
use crate::postgres_link::Param;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSqlOwned, Type};

/// In front of `host:port` in a location.
pub(super) const SCHEME: &str = "postgres://";

/// Version of the tables.
pub(super) const VERSION: i64 = 2;

/// What every connection is told first: how long to wait for the attempt in front of it, and that a
/// statement sees what was committed before it.
pub(super) const GREETING: &str = "
SELECT set_config(name, value, false) FROM (VALUES
  ('application_name', 'lockdrill store'),
  ('lock_timeout', '2s'),
  ('statement_timeout', '4s'),
  ('default_transaction_isolation', 'read committed')
) AS wanted (name, value)";

pub(super) const TABLES: &str = include_str!("tables.sql");
pub(super) const BORN: &str = "INSERT INTO store_birth VALUES ($1, $2)";
pub(super) const IS_THERE: &str = "SELECT to_regclass('store_birth') IS NOT NULL";
pub(super) const BIRTH: &str = "SELECT version, wall_ahead_ns FROM store_birth";
pub(super) const MARK: &str = "SELECT highest, holder FROM store_resource WHERE name = $1";
pub(super) const STANDING: &str = "SELECT write, highest FROM store_resource WHERE name = $1";
pub(super) const JOBS: &str = "SELECT name, times FROM store_job WHERE resource = $1";
pub(super) const TIMES_DONE: &str = "
SELECT coalesce(max(times), 0) FROM store_job WHERE resource = $1 AND name = $2";
pub(super) const OUTBOX: &str = "SELECT job FROM store_outbox WHERE resource = $1 ORDER BY n";
pub(super) const TAKE_OUT: &str = "DELETE FROM store_outbox WHERE resource = $1 AND job = ANY ($2)";
pub(super) const LOG: &str = "
SELECT n, kind, resource, write, based_on, holder, fencing, job, if_pending, accepted, done_before,
  highest, applied
FROM store_attempt ORDER BY n";
pub(super) const ATTEMPT: &str = "
SELECT answer, was, shown FROM store_attempt($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

/// Reads a row; none if it makes no sense.
pub(super) type Reading<T> = fn(&Row) -> Option<T>;

/// One attempt as parameters.
pub(super) struct Put<'a> {
    attempt: &'a Attempt,
    spec: &'a StoreSpec,
    decision: &'static str,
    job: &'static str,
    kind: &'static str,
    grant: Option<&'a str>,
    fencing: Option<i64>,
}

impl<'a> Put<'a> {
    /// An error if it cannot be told to this server.
    pub(super) fn new(
        attempt: &'a Attempt,
        (kind, (decision, job)): (AttemptKind, Ruling),
        spec: &'a StoreSpec,
    ) -> Result<Put<'a>, &'static str> {
        let fencing = attempt.fencing.map(|token| i64::try_from(token.0));
        let fencing = fencing.transpose();
        Ok(Put {
            attempt,
            spec,
            decision: decision.word(),
            job: job.word(),
            kind: kinds::word(kind),
            grant: attempt.grant.as_ref().map(|grant| grant.0.as_str()),
            fencing: fencing.map_err(|_| "the fencing token is too large for a bigint")?,
        })
    }

    pub(super) fn params(&self) -> [Param<'_>; 12] {
        let Put { attempt, spec, .. } = self;
        [
            (&self.decision, Type::TEXT),
            (&spec.once, Type::BOOL),
            (&self.job, Type::TEXT),
            (&spec.outbox, Type::BOOL),
            (&self.kind, Type::TEXT),
            (&attempt.resource, Type::TEXT),
            (&attempt.write, Type::TEXT),
            (&attempt.based_on, Type::TEXT),
            (&self.grant, Type::TEXT),
            (&self.fencing, Type::INT8),
            (&attempt.job, Type::TEXT),
            (&attempt.if_pending, Type::BOOL),
        ]
    }
}

/// The answer to an attempt, with the write that a read was shown. An answer that is never given is
/// no answer: something ran, but what?
pub(super) fn answer(rows: &[Row]) -> (StoreAnswer, Option<String>) {
    let read = |row: &Row| Some((column::<String>(row, 0)?, token(row, 1)?, column(row, 2)?));
    let [row] = rows else {
        return (StoreAnswer::nonsense(), None);
    };
    let Some((word, highest, shown)) = read(row) else {
        return (StoreAnswer::nonsense(), None);
    };
    let answer = match word.as_str() {
        "accepted" => StoreAnswer::Accepted,
        "done before" => StoreAnswer::DoneBefore,
        "rejected" => StoreAnswer::Rejected { highest },
        _ => StoreAnswer::nonsense(),
    };
    (answer, shown)
}

pub(super) fn flag(row: &Row) -> Option<bool> {
    column(row, 0)
}

pub(super) fn text(row: &Row) -> Option<String> {
    column(row, 0)
}

/// Version of the tables, and how far the wall clock was ahead, ns.
pub(super) fn birth(row: &Row) -> Option<(i64, u64)> {
    Some((column(row, 0)?, unsigned(row, 1)??))
}

pub(super) fn mark(row: &Row) -> Option<Mark> {
    Some(Mark {
        highest: token(row, 0)?,
        grant: grant(row, 1)?,
    })
}

/// The write whose value stands, and the highest fencing token.
pub(super) fn standing(row: &Row) -> Option<(Option<String>, Option<FencingToken>)> {
    Some((column(row, 0)?, token(row, 1)?))
}

/// A job, and how often it took effect.
pub(super) fn job(row: &Row) -> Option<(String, u64)> {
    Some((column(row, 0)?, unsigned(row, 1)??))
}

/// How often a job took effect.
pub(super) fn times(row: &Row) -> Option<u64> {
    unsigned(row, 0)?
}

/// One line of the log; its time is still the server's wall clock.
pub(super) fn logged(row: &Row) -> Option<Logged> {
    Some(Logged {
        n: unsigned(row, 0)??,
        kind: kinds::kind(&column::<String>(row, 1)?)?,
        attempt: Attempt {
            resource: column(row, 2)?,
            write: column(row, 3)?,
            based_on: column(row, 4)?,
            grant: grant(row, 5)?,
            fencing: token(row, 6)?,
            job: column(row, 7)?,
            if_pending: column(row, 8)?,
        },
        accepted: column(row, 9)?,
        done_before: column(row, 10)?,
        highest: token(row, 11)?,
        applied_ns: unsigned(row, 12)??.checked_mul(1_000)?,
    })
}

fn column<T: FromSqlOwned>(row: &Row, index: usize) -> Option<T> {
    row.try_get(index).ok()
}

fn grant(row: &Row, index: usize) -> Option<Option<GrantId>> {
    Some(column::<Option<String>>(row, index)?.map(GrantId))
}

fn token(row: &Row, index: usize) -> Option<Option<FencingToken>> {
    Some(unsigned(row, index)?.map(FencingToken))
}

/// A negative number is not ours.
fn unsigned(row: &Row, index: usize) -> Option<Option<u64>> {
    match column::<Option<i64>>(row, index)? {
        Some(number) => u64::try_from(number).ok().map(Some),
        None => Some(None),
    }
}

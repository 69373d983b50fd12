//! The tables of the SQLite store and the statements on them; no decisions.
//!
//! `attempt.n` is SQLite's own row number. Rows are never deleted and a rolled back insert gives
//! its number back, so the numbers have no gaps and are the order of commits.

use super::super::kinds::{kind, word};
use super::super::rule::Mark;
use super::super::{Attempt, Logged, Standing};
use crate::ids::{FencingToken, GrantId};
use rusqlite::{Connection, OptionalExtension, Result, Row, named_params};
use std::collections::BTreeMap;

/// Version of the tables, kept in `user_version`.
pub(super) const VERSION: i64 = 4;

const TABLES: &str = "
    CREATE TABLE resource (
        name    TEXT PRIMARY KEY,
        highest INTEGER,          -- highest fencing token accepted
        holder  TEXT,             -- the grant that raised the mark to it
        write   TEXT              -- the write whose value stands
    ) STRICT;
    CREATE TABLE job (
        resource TEXT NOT NULL,
        name     TEXT NOT NULL,
        times    INTEGER NOT NULL, -- how often it took effect
        PRIMARY KEY (resource, name)
    ) STRICT;
    CREATE TABLE attempt (
        n        INTEGER PRIMARY KEY,
        kind     TEXT NOT NULL,   -- write, seal or read
        resource TEXT NOT NULL,
        write    TEXT NOT NULL,
        based_on TEXT,
        holder   TEXT,            -- the grant that the writer claims
        fencing  INTEGER,
        job      TEXT,
        if_pending INTEGER NOT NULL,
        accepted INTEGER NOT NULL,
        done_before INTEGER NOT NULL,
        highest  INTEGER,         -- before this attempt
        applied  INTEGER NOT NULL -- lab time, ns
    ) STRICT;
    CREATE TRIGGER attempt_stays  BEFORE UPDATE ON attempt BEGIN SELECT RAISE(ABORT, 'append only'); END;
    CREATE TRIGGER attempt_stands BEFORE DELETE ON attempt BEGIN SELECT RAISE(ABORT, 'append only'); END;
";

/// Creates the tables; an error if they exist, because a store belongs to one arm of one run.
pub(super) fn create(connection: &mut Connection) -> Result<()> {
    // Readers then do not block the writer, nor it them. Kept in the file; set once.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    transaction.execute_batch(super::outbox::TABLE)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

/// Version of the tables in the file; 0 if there are none.
pub(super) fn version(connection: &Connection) -> Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// The mark of a resource; an unknown resource has the default mark.
pub(super) fn mark(connection: &Connection, resource: &str) -> Result<Mark> {
    connection
        .prepare_cached("SELECT highest, holder FROM resource WHERE name = ?1")?
        .query_row([resource], |row| {
            Ok(Mark {
                highest: token(row, "highest")?,
                grant: row.get::<_, Option<String>>("holder")?.map(GrantId),
            })
        })
        .optional()
        .map(Option::unwrap_or_default)
}

/// Sets the mark of a resource and, for a write, the value that stands.
pub(super) fn stand(
    connection: &Connection,
    resource: &str,
    mark: &Mark,
    write: Option<&str>,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO resource (name, highest, holder, write)
             VALUES (:name, :highest, :holder, :write)
             ON CONFLICT (name) DO UPDATE SET
                 highest = excluded.highest,
                 holder = excluded.holder,
                 write = coalesce(excluded.write, write)",
        )?
        .execute(named_params! {
            ":name": resource,
            ":highest": number(mark.highest)?,
            ":holder": mark.grant.as_ref().map(|grant| &grant.0),
            ":write": write,
        })
        .map(drop)
}

/// Appends one line to the log; its `n` is ignored and given by the store.
pub(super) fn append(connection: &Connection, line: &Logged) -> Result<()> {
    let attempt = &line.attempt;
    connection
        .prepare_cached(
            "INSERT INTO attempt
                 (kind, resource, write, based_on, holder, fencing, job, if_pending, accepted,
                 done_before, highest, applied)
             VALUES (:kind, :resource, :write, :based_on, :holder, :fencing, :job, :if_pending,
                 :accepted, :done_before, :highest, :applied)",
        )?
        .execute(named_params! {
            ":kind": word(line.kind),
            ":resource": attempt.resource,
            ":write": attempt.write,
            ":based_on": attempt.based_on,
            ":holder": attempt.grant.as_ref().map(|grant| &grant.0),
            ":fencing": number(attempt.fencing)?,
            ":job": attempt.job,
            ":if_pending": attempt.if_pending,
            ":accepted": line.accepted,
            ":done_before": line.done_before,
            ":highest": number(line.highest)?,
            ":applied": signed(line.applied_ns)?,
        })
        .map(drop)
}

/// What a resource holds.
pub(super) fn standing(connection: &Connection, resource: &str) -> Result<Standing> {
    let found = connection
        .prepare_cached("SELECT write, highest FROM resource WHERE name = ?1")?
        .query_row([resource], |row| {
            Ok((row.get("write")?, token(row, "highest")?))
        })
        .optional()?;
    let (write, highest) = found.unwrap_or_default();
    Ok(Standing {
        write,
        highest,
        jobs: jobs(connection, resource)?,
    })
}

/// How often each job has taken effect.
fn jobs(connection: &Connection, resource: &str) -> Result<BTreeMap<String, u64>> {
    connection
        .prepare_cached("SELECT name, times FROM job WHERE resource = ?1")?
        .query_map([resource], |row| {
            Ok((
                row.get("name")?,
                unsigned(row, "times")?.unwrap_or_default(),
            ))
        })?
        .collect()
}

/// How often the attempt's job has taken effect; 0 if it does none.
pub(super) fn times_done(
    connection: &Connection,
    resource: &str,
    job: Option<&str>,
) -> Result<u64> {
    let found = connection
        .prepare_cached("SELECT times FROM job WHERE resource = ?1 AND name = ?2")?
        .query_row((resource, job), |row| unsigned(row, "times"))
        .optional()?;
    Ok(found.flatten().unwrap_or_default())
}

/// Counts the effect of the attempt's job, if it does one, and puts it into the outbox.
pub(super) fn do_job(connection: &Connection, attempt: &Attempt, outbox: bool) -> Result<()> {
    let Some(job) = &attempt.job else {
        return Ok(());
    };
    connection
        .prepare_cached(
            "INSERT INTO job (resource, name, times) VALUES (?1, ?2, 1)
             ON CONFLICT (resource, name) DO UPDATE SET times = times + 1",
        )?
        .execute((&attempt.resource, job))?;
    if outbox {
        super::outbox::put(connection, &attempt.resource, job)?;
    }
    Ok(())
}

/// The write whose value stands on the attempt's resource.
pub(super) fn standing_write(connection: &Connection, attempt: &Attempt) -> Result<Option<String>> {
    connection
        .prepare_cached("SELECT write FROM resource WHERE name = ?1")?
        .query_row([&attempt.resource], |row| row.get(0))
        .optional()
        .map(Option::flatten)
}

/// The whole log, in the store's order.
pub(super) fn log(connection: &Connection) -> Result<Vec<Logged>> {
    connection
        .prepare_cached("SELECT * FROM attempt ORDER BY n")?
        .query_map([], logged)?
        .collect()
}

fn logged(row: &Row<'_>) -> Result<Logged> {
    Ok(Logged {
        n: unsigned(row, "n")?.unwrap_or_default(),
        kind: kind(&row.get::<_, String>("kind")?).ok_or(rusqlite::Error::InvalidQuery)?,
        attempt: Attempt {
            resource: row.get("resource")?,
            write: row.get("write")?,
            based_on: row.get("based_on")?,
            grant: row.get::<_, Option<String>>("holder")?.map(GrantId),
            fencing: token(row, "fencing")?,
            job: row.get("job")?,
            if_pending: row.get("if_pending")?,
        },
        accepted: row.get("accepted")?,
        done_before: row.get("done_before")?,
        highest: token(row, "highest")?,
        applied_ns: unsigned(row, "applied")?.unwrap_or_default(),
    })
}

fn token(row: &Row<'_>, column: &str) -> Result<Option<FencingToken>> {
    Ok(unsigned(row, column)?.map(FencingToken))
}

/// SQLite's integers are signed; a negative one is not ours.
fn unsigned(row: &Row<'_>, column: &str) -> Result<Option<u64>> {
    let stored: Option<i64> = row.get(column)?;
    stored
        .map(|number| {
            u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, number))
        })
        .transpose()
}

fn number(token: Option<FencingToken>) -> Result<Option<i64>> {
    token.map(|FencingToken(number)| signed(number)).transpose()
}

fn signed(number: u64) -> Result<i64> {
    i64::try_from(number).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

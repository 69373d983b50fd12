//! The outbox of the SQLite store: jobs that are done and not known to be published.

use rusqlite::{Connection, Result};

pub(super) const TABLE: &str = "
    CREATE TABLE outbox (
        n        INTEGER PRIMARY KEY,
        resource TEXT NOT NULL,
        job      TEXT NOT NULL
    ) STRICT;
";

/// Puts a job into the outbox, in the caller's transaction.
pub(super) fn put(connection: &Connection, resource: &str, job: &str) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO outbox (resource, job) VALUES (?1, ?2)")?
        .execute((resource, job))
        .map(drop)
}

/// The jobs in the outbox, oldest first.
pub(super) fn jobs(connection: &Connection, resource: &str) -> Result<Vec<String>> {
    connection
        .prepare_cached("SELECT job FROM outbox WHERE resource = ?1 ORDER BY n")?
        .query_map([resource], |row| row.get(0))?
        .collect()
}

/// Takes jobs out of the outbox, all or none.
pub(super) fn take_out(connection: &mut Connection, resource: &str, jobs: &[String]) -> Result<()> {
    let transaction = connection.transaction()?;
    for job in jobs {
        transaction
            .prepare_cached("DELETE FROM outbox WHERE resource = ?1 AND job = ?2")?
            .execute((resource, job))?;
    }
    transaction.commit()
}

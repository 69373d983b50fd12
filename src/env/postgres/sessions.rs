//! Ends the sessions of one client of a Postgres server, and sees that they are gone: from the list of
//! sessions, and with every advisory lock that they held.

use super::observe::{Control, column};
use crate::env::error::EnvError;
use crate::env::observer::failed;
use crate::lock::backends::postgres::shown;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Between two looks.
const STEP: Duration = Duration::from_millis(2);

/// What was found, and what is left of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Sessions that the client had, and that the server said it ends.
    pub ended: usize,
    /// Of these, and of their advisory locks, how many were still there at the last look.
    pub left: u64,
}

impl Control {
    /// Has every session of this client ended, and waits until they are gone; not for longer than the
    /// limit.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn end_sessions(&self, client: &str, limit: Duration) -> Result<Ended, EnvError> {
        let sql = "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE datname = current_database() AND application_name = $1";
        let rows = self.rows(sql, &[&shown(client)]).await?;
        let mut pids: Vec<i32> = Vec::new();
        for row in &rows {
            if column(row, 1)? {
                pids.push(column(row, 0)?);
            }
        }
        let begun = Instant::now();
        loop {
            let left = self.left_of(&pids).await?;
            if left == 0 || begun.elapsed() > limit {
                return Ok(Ended {
                    ended: pids.len(),
                    left,
                });
            }
            sleep(STEP).await;
        }
    }

    /// How many of these sessions, and of their advisory locks, are there.
    async fn left_of(&self, pids: &[i32]) -> Result<u64, EnvError> {
        let sql = "SELECT (SELECT count(*) FROM pg_stat_activity WHERE pid = ANY ($1))
                   + (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = ANY ($1))";
        let rows = self.rows(sql, &[&pids]).await?;
        let row = rows.first().ok_or_else(|| failed(&"no count"))?;
        u64::try_from(column::<i64>(row, 0)?).map_err(|error| failed(&error))
    }
}

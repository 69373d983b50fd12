//! The observer's second connection to a Postgres server, beside the stream of its changes: reads
//! the clock, writes marks, reads what is left. Over the socket file, never through a path that a
//! fault may touch.

use super::server::{self, OPEN, ROLE};
use super::{stranger, stream};
use crate::clock::monotonic_ns;
use crate::env::error::EnvError;
use crate::env::observer::{LOG, failed};
use crate::env::redis::observe::KeyLeft;
use crate::ids::{FencingToken, OwnerDigest};
use crate::lock::backends::{postgres, postgres_advisory, postgres_row};
use crate::timeline::event::Change;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use tokio_postgres::types::{FromSqlOwned, ToSql};
use tokio_postgres::{Client, Config, NoTls, Row};

/// Longest wait for one answer of a server that nothing is done to.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// Between two tries: each costs the server a process.
const STEP: Duration = Duration::from_millis(20);
/// Every lock, whatever keeps it: in an arm there is one kind.
const LOCKS: &str = "(
  SELECT prefix, key, owner, fencing, ends_at FROM lockdrill_lock UNION ALL
  SELECT prefix, key, owner, fencing, ends_at FROM lockdrill_session
) AS lock";

/// The connection.
#[derive(Debug, Clone)]
pub struct Control {
    client: Arc<Client>,
    folder: PathBuf,
    port: u16,
    prefix: String,
}

impl Control {
    /// Connects, waiting until the server answers.
    ///
    /// # Errors
    /// When it does not within the limit.
    pub async fn connect(
        (folder, port): (&Path, u16),
        prefix: &str,
        limit: Duration,
    ) -> Result<Self, EnvError> {
        let begun = Instant::now();
        let mut config = Config::new();
        config.host_path(folder).port(port).user(ROLE).dbname(ROLE);
        loop {
            let why = match config.connect(NoTls).await {
                Ok((client, connection)) => {
                    // Its end shows with the next question.
                    tokio::spawn(connection);
                    return Ok(Control {
                        client: Arc::new(client),
                        folder: folder.to_owned(),
                        port,
                        prefix: prefix.to_owned(),
                    });
                }
                Err(error) => error.to_string(),
            };
            if begun.elapsed() > limit {
                let at = folder.display();
                let what = format!("Postgres in {at} does not answer: {why}");
                return Err(EnvError::new(what, LOG));
            }
            sleep(STEP).await;
        }
    }

    /// A new connection to the same server.
    ///
    /// # Errors
    /// When the server does not answer within the limit.
    pub async fn anew(&self, limit: Duration) -> Result<Self, EnvError> {
        Control::connect((&self.folder, self.port), &self.prefix, limit).await
    }

    /// On a server that was never used: the tables of the locks, and the slot of the observer.
    ///
    /// # Errors
    /// When the server does not do it.
    pub async fn furnish(&self) -> Result<(), EnvError> {
        for table in [
            postgres::TABLE,
            postgres_advisory::TABLE,
            postgres_row::TABLE,
        ] {
            let made = self.client.batch_execute(table).await;
            made.map_err(|error| failed(&error))?;
        }
        let slot = "SELECT pg_create_logical_replication_slot($1, 'test_decoding')::text";
        self.rows(slot, &[&stream::NAME]).await.map(drop)
    }

    /// Lets everybody in, and waits until the server does.
    ///
    /// # Errors
    /// When it does not within the limit.
    pub async fn open(&self, address: SocketAddr, limit: Duration) -> Result<(), EnvError> {
        let written = std::fs::write(self.folder.join(server::HBA), OPEN);
        written.map_err(|error| {
            let what = format!("cannot write who may come in: {error}");
            EnvError::new(what, "free space in the state folder")
        })?;
        self.rows("SELECT pg_reload_conf()", &[]).await?;
        let begun = Instant::now();
        loop {
            let entered = timeout(ANSWER_MAX, stranger::enter(address)).await;
            let why = match entered {
                Ok(Ok(_)) => return Ok(()),
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("no answer within {ANSWER_MAX:?}"),
            };
            if begun.elapsed() > limit {
                let what = format!("Postgres at {address} lets nobody in: {why}");
                return Err(EnvError::new(what, LOG));
            }
            sleep(STEP).await;
        }
    }

    pub(super) async fn rows(
        &self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, EnvError> {
        match timeout(ANSWER_MAX, self.client.query(sql, params)).await {
            Ok(Ok(rows)) => Ok(rows),
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err(failed(&format!("no answer within {ANSWER_MAX:?}"))),
        }
    }

    /// The server's clock between two readings of ours: (before ns, after ns, server µs).
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn clock(&self) -> Result<(u64, u64, u64), EnvError> {
        let sql = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
        let before = monotonic_ns();
        let rows = self.rows(sql, &[]).await?;
        let after = monotonic_ns();
        let row = rows.first().ok_or_else(|| failed(&"no time"))?;
        let micros: i64 = column(row, 0)?;
        let micros = u64::try_from(micros).map_err(|error| failed(&error))?;
        Ok((before, after, micros))
    }

    /// What the server holds of one lock: the row as a grant's effect would tell it, and the
    /// counter.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn held(&self, key: &str) -> Result<(Change, Option<u64>), EnvError> {
        let sql = format!(
            "SELECT owner, fencing, floor(extract(epoch FROM ends_at) * 1000)::bigint
             FROM {LOCKS} WHERE prefix = $1 AND key = $2"
        );
        let rows = self.rows(&sql, &[&self.prefix, &key]).await?;
        let Some(row) = rows.first() else {
            let nothing = Change::Restarted {
                owner: None,
                fencing: None,
                until_ms: None,
            };
            return Ok((nothing, None));
        };
        let owner: Option<String> = column(row, 0)?;
        let counter = u64::try_from(column::<i64>(row, 1)?).ok();
        let until: Option<i64> = column(row, 2)?;
        let change = Change::Restarted {
            fencing: owner.as_ref().and(counter).map(FencingToken),
            owner: owner.map(|owner| OwnerDigest::of(owner.as_bytes())),
            until_ms: until.and_then(|until| u64::try_from(until).ok()),
        };
        Ok((change, counter))
    }

    /// The name of a lock, as the lab says it.
    pub fn lock_key(&self, key: &str) -> String {
        format!("{}{{{key}}}", self.prefix)
    }

    /// Writes a mark into the stream.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn mark(&self, name: &str) -> Result<(), EnvError> {
        self.rows(&format!("{}::text", stream::emit(name)), &[])
            .await
            .map(drop)
    }

    /// What is left of one lock; none if it is free. A lease that has ended is as good as none.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn left(&self, key: &str) -> Result<Option<KeyLeft>, EnvError> {
        let sql = format!(
            "SELECT owner, floor(extract(epoch FROM ends_at - clock_timestamp()) * 1000)::bigint
             FROM {LOCKS} WHERE prefix = $1 AND key = $2 AND ends_at > clock_timestamp()"
        );
        let rows = self.rows(&sql, &[&self.prefix, &key]).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let owner: String = column(row, 0)?;
        Ok(Some(KeyLeft {
            owner: Some(OwnerDigest::of(owner.as_bytes())),
            remaining_ms: u64::try_from(column::<i64>(row, 1)?).ok(),
        }))
    }
}

pub(super) fn column<T: FromSqlOwned>(row: &Row, index: usize) -> Result<T, EnvError> {
    row.try_get(index).map_err(|error| failed(&error))
}

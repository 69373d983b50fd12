//! The sessions of locks that sessions hold, and what is said to them: one statement an operation.

use crate::ids::OwnerToken;
use crate::lock::backends::postgres::{column, lease_ms};
use crate::lock::backends::postgres_words::Digested;
use crate::lock::backends::{Armed, nonsense};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::service::{Ask, LockName};
use crate::postgres_link::{Link, Live, Param};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// Between two looks whether a session that was ended is gone.
pub(super) const STEP: Duration = Duration::from_millis(5);

/// The table, if there is none yet; and a refusal where no session can have a lease.
pub const TABLE: &str = "
SELECT set_config('idle_session_timeout', '0', false);
DO $$ BEGIN
  IF to_regclass('lockdrill_session') IS NULL THEN
    PERFORM pg_advisory_xact_lock(7308332046317941602);
    CREATE TABLE IF NOT EXISTS lockdrill_session (
      prefix text NOT NULL,
      key text NOT NULL,
      owner text,
      backend integer,
      fencing bigint NOT NULL,
      ends_at timestamptz,
      PRIMARY KEY (prefix, key)
    ) WITH (fillfactor = 50);
  END IF;
END $$";

/// Prefix, key, owner, lease in ms, advisory lock. One row: the token, if it was granted; else the
/// owner that the row names, and for how many ms yet.
const ACQUIRE: &str = "
WITH got AS MATERIALIZED (SELECT pg_try_advisory_lock($5) AS ok),
leased AS MATERIALIZED (
  SELECT set_config('idle_session_timeout', CASE WHEN ok THEN $4 ELSE 0 END || 'ms', false) FROM got
),
minted AS (
  INSERT INTO lockdrill_session AS held (prefix, key, owner, backend, fencing, ends_at)
  SELECT $1, $2, $3, pg_backend_pid(), 1, clock_timestamp() + $4 * interval '1 millisecond'
  FROM got, leased WHERE ok
  ON CONFLICT (prefix, key) DO UPDATE SET (owner, backend, fencing, ends_at) = (
    excluded.owner, excluded.backend,
    CASE WHEN held.owner = excluded.owner THEN held.fencing ELSE held.fencing + 1 END,
    CASE WHEN held.owner = excluded.owner THEN held.ends_at
      ELSE clock_timestamp() + $4 * interval '1 millisecond' END
  )
  RETURNING held.fencing
)
SELECT (SELECT fencing FROM minted), held.owner,
  floor(extract(epoch FROM held.ends_at - clock_timestamp()) * 1000)::bigint
FROM got, leased LEFT JOIN lockdrill_session AS held ON held.prefix = $1 AND held.key = $2";

/// Prefix, key, owner, lease in ms. A row: renewed.
pub(super) const RENEW: &str = "
WITH leased AS MATERIALIZED (SELECT set_config('idle_session_timeout', $4 || 'ms', false))
UPDATE lockdrill_session AS held
SET ends_at = clock_timestamp() + $4 * interval '1 millisecond' FROM leased
WHERE held.prefix = $1 AND held.key = $2 AND held.owner = $3 AND held.backend = pg_backend_pid()
RETURNING held.fencing";

/// Prefix, key, owner, channel of those who wait. One row: how many were ours. The row is free
/// before the lock is.
pub(super) const RELEASE: &str = "
WITH freed AS (
  UPDATE lockdrill_session AS held SET owner = NULL, backend = NULL, ends_at = NULL
  WHERE held.prefix = $1 AND held.key = $2 AND held.owner = $3 AND held.backend = pg_backend_pid()
  RETURNING pg_notify($4, '')
),
done AS MATERIALIZED (SELECT count(*) AS ours FROM freed)
SELECT ours, pg_advisory_unlock_all(), set_config('idle_session_timeout', '0', false) FROM done";

/// Where a session holds the lock $3 of the row of $1, $2.
const HOLDS: &str = "
held.prefix = $1 AND held.key = $2 AND EXISTS (
  SELECT FROM pg_locks AS known
  WHERE known.locktype = 'advisory' AND known.granted AND known.objsubid = 1
    AND known.pid = held.backend
    AND ((known.classid::bigint << 32) | known.objid::bigint) = $3
    AND known.database = (SELECT oid FROM pg_database WHERE datname = current_database())
)";

/// The service: a session for each grant, and one for everything else.
pub(super) struct Advisory {
    /// For everything that no session of a grant is asked.
    pub(super) link: Link,
    /// Never connected itself: each waiter makes a connection of its own.
    pub(super) ears: Arc<Link>,
    pub(super) sessions: Mutex<Sessions>,
    pub(super) flaw: Option<Flaw>,
    pub(super) armed: Option<Armed>,
}

pub(super) struct Sessions {
    /// By owner; from before the first statement leaves until the lock is given back.
    of: HashMap<OwnerToken, Arc<Live>>,
    /// One that holds nothing, for the next grant.
    spare: Option<Arc<Live>>,
}

pub(super) fn named(name: &LockName) -> [Param<'_>; 2] {
    [(&name.prefix, Type::TEXT), (&name.key, Type::TEXT)]
}

impl Sessions {
    /// None holds anything; the first grant finds one that is connected.
    pub(super) fn with(spare: Live) -> Sessions {
        Sessions {
            of: HashMap::new(),
            spare: Some(Arc::new(spare)),
        }
    }
}

impl Advisory {
    fn lock_sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of this owner, if it lives.
    pub(super) fn session(&self, owner: &OwnerToken) -> Option<Arc<Live>> {
        let mut sessions = self.lock_sessions();
        let session = sessions.of.get(owner).filter(|session| session.is_open());
        let session = session.cloned();
        if session.is_none() {
            sessions.of.remove(owner);
        }
        session
    }

    /// The session of this owner, or one that holds nothing.
    pub(super) async fn session_for(&self, ask: &Ask<'_>) -> Result<Arc<Live>, CommandError> {
        if let Some(session) = self.session(ask.owner) {
            return Ok(session);
        }
        let spare = self.lock_sessions().spare.take();
        let session = match spare.filter(|spare| spare.is_open()) {
            Some(spare) => spare,
            None => Arc::new(self.link.connect(None, ask.until).await?),
        };
        let known = Arc::clone(&session);
        self.lock_sessions().of.insert(ask.owner.clone(), known);
        Ok(session)
    }

    /// This owner's session holds nothing any more.
    pub(super) fn rests(&self, owner: &OwnerToken) {
        let mut sessions = self.lock_sessions();
        if let Some(session) = sessions.of.remove(owner) {
            sessions.spare = Some(session);
        }
    }

    /// Whether anybody holds the lock, by the server's word.
    pub(super) async fn is_held(
        &self,
        name: &LockName,
        until: Instant,
    ) -> Result<bool, CommandError> {
        Ok(self.left(name, until).await?.is_some())
    }

    pub(super) async fn left(
        &self,
        name: &LockName,
        until: Instant,
    ) -> Result<Option<i64>, CommandError> {
        let sql = format!(
            "SELECT floor(extract(epoch FROM held.ends_at - clock_timestamp()) * 1000)::bigint
             FROM lockdrill_session AS held WHERE {HOLDS}"
        );
        let lock = Digested::of(name).lock();
        let [prefix, key] = named(name);
        let params = [prefix, key, (&lock, Type::INT8)];
        let rows = self.link.call(&sql, &params, until).await?;
        let left = rows.first().map(|row| column::<Option<i64>>(row, 0));
        Ok(left.transpose()?.map(Option::unwrap_or_default))
    }

    /// Has the session ended that holds the lock for this owner; whether there was one.
    async fn end_session(&self, ask: &Ask<'_>) -> Result<bool, CommandError> {
        let sql = format!(
            "SELECT pg_terminate_backend(held.backend) FROM lockdrill_session AS held
             WHERE {HOLDS} AND held.owner = $4"
        );
        let (lock, owner) = (Digested::of(ask.name).lock(), ask.owner.expose());
        let [prefix, key] = named(ask.name);
        let params = [prefix, key, (&lock, Type::INT8), (&owner, Type::TEXT)];
        let rows = self.link.call(&sql, &params, ask.until).await?;
        rows.first().map_or(Ok(false), |row| column(row, 0))
    }

    /// Ends it and waits until the lock is free; whether there was one.
    pub(super) async fn taken_back(&self, ask: &Ask<'_>) -> Result<bool, CommandError> {
        if !self.end_session(ask).await? {
            return Ok(false);
        }
        while self.is_held(ask.name, ask.until).await? {
            if Instant::now() >= ask.until {
                return Err(CommandError::Unknown("a session does not end".into()));
            }
            sleep(STEP).await;
        }
        Ok(true)
    }

    pub(super) async fn try_lock(
        &self,
        session: &Live,
        ask: &Ask<'_>,
    ) -> Result<Row, CommandError> {
        let (owner, lease_ms) = (ask.owner.expose(), lease_ms(ask));
        let lock = Digested::of(ask.name).lock();
        let [prefix, key] = named(ask.name);
        let params = [
            prefix,
            key,
            (&owner, Type::TEXT),
            (&lease_ms, Type::INT8),
            (&lock, Type::INT8),
        ];
        let rows = session.call(ACQUIRE, &params, ask.until).await?;
        rows.into_iter().next().ok_or_else(nonsense)
    }

    /// This owner's session is closed, as far as that is heard: whatever it holds goes with it.
    pub(super) fn forget(&self, owner: &OwnerToken) {
        self.lock_sessions().of.remove(owner);
    }
}

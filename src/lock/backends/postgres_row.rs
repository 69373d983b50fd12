//! Locks held by open transactions on one Postgres server (14 or later): `SELECT … FOR UPDATE` of a
//! row in a session of its own for each grant, and a lease that the server keeps by ending a
//! session whose transaction was idle for as long (`idle_in_transaction_session_timeout`).
//!
//! Whatever the holder's transaction writes goes with it when it is ended, a fencing token too. So
//! the token is minted by another session, in a row beside the lock's, and only if it is still the
//! number that the holder read under its lock: whoever was late finds another there.

use crate::lock::backends::postgres::{STAYS, column, lease_ms};
use crate::lock::backends::postgres_by_session;
use crate::lock::backends::postgres_sessions::{BySession, Hold, TABLE as SESSIONS, Tried, named};
use crate::lock::backends::{ConnectSpec, Connecting, IN_TURN, LockKind, Servers, nonsense};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::service::{Ask, Capabilities, Promise};
use crate::postgres_link::{Live, Param};
use async_trait::async_trait;
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

/// Its entry in the registry.
pub const KIND: LockKind = LockKind {
    name: "postgres-row",
    summary: "one Postgres server, SELECT … FOR UPDATE in a transaction that stays open; the server ends one that is idle for a lease",
    capabilities: Capabilities {
        fencing: STAYS,
        exclusion: Promise::BestEffort(
            "for as long as the server runs: a restart or a failover ends every transaction, and with it every lock before its lease has ended",
        ),
        fair: IN_TURN,
        wakes: true,
    },
    servers: Servers::PostgresSessions,
    within_one_process: false,
    flaws: &[Flaw::NoIdleTimeout],
    on_the_wire: |_, _| Vec::new(),
    connect,
};

fn connect(spec: ConnectSpec) -> Connecting {
    postgres_by_session::connect::<OpenTransaction>(&KIND, &[SESSIONS, TABLE], spec)
}

/// The table of the rows that are locked, if there is none yet. Nothing in it ever changes.
pub const TABLE: &str = "
SELECT set_config('idle_in_transaction_session_timeout', '0', false);
DO $$ BEGIN
  IF to_regclass('lockdrill_row') IS NULL THEN
    PERFORM pg_advisory_xact_lock(7308332046317941603);
    CREATE TABLE IF NOT EXISTS lockdrill_row (
      prefix text NOT NULL,
      key text NOT NULL,
      PRIMARY KEY (prefix, key)
    );
  END IF;
END $$";

/// Prefix, key: a row to lock, if there is none yet. Made in a transaction that stays open, others
/// would wait for it.
const MAKE: &str = "
INSERT INTO lockdrill_row (prefix, key) SELECT $1, $2
WHERE NOT EXISTS (SELECT FROM lockdrill_row WHERE prefix = $1 AND key = $2)
ON CONFLICT DO NOTHING";

/// Prefix, key, how long it may be idle in ms. A row: locked; with the session, the last token, and
/// the server's time in µs.
const LOCK: &str = "
WITH got AS MATERIALIZED (
  SELECT FROM lockdrill_row WHERE prefix = $1 AND key = $2 FOR UPDATE SKIP LOCKED
)
SELECT pg_backend_pid(),
  coalesce((SELECT fencing FROM lockdrill_session WHERE prefix = $1 AND key = $2), 0),
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
  set_config('idle_in_transaction_session_timeout', $3 || 'ms', false)
FROM got";

/// Prefix, key, owner, session, last token, until when in µs. A row: the token. No row: another
/// was minted meanwhile.
const MINT: &str = "
INSERT INTO lockdrill_session AS held (prefix, key, owner, backend, fencing, ends_at)
VALUES ($1, $2, $3, $4, 1, 'epoch'::timestamptz + $6 * interval '1 microsecond')
ON CONFLICT (prefix, key) DO UPDATE SET (owner, backend, fencing, ends_at) = (
  excluded.owner, excluded.backend,
  CASE WHEN held.owner = excluded.owner THEN held.fencing ELSE held.fencing + 1 END,
  CASE WHEN held.owner = excluded.owner THEN held.ends_at ELSE excluded.ends_at END
)
WHERE held.fencing = $5
RETURNING held.fencing";

/// Prefix, key. A row: whom it names, and for how many ms yet.
const NAMED: &str = "
SELECT held.owner, floor(extract(epoch FROM held.ends_at - clock_timestamp()) * 1000)::bigint
FROM lockdrill_session AS held WHERE held.prefix = $1 AND held.key = $2";

/// How long it may be idle in ms. One row: the session, and the server's time in µs.
const STIR: &str = "
SELECT pg_backend_pid(), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
  set_config('idle_in_transaction_session_timeout', $1 || 'ms', false)";

/// Prefix, key, owner, session, until when in µs. A row: it is named so, until then.
const EXTEND: &str = "
UPDATE lockdrill_session AS held
SET ends_at = 'epoch'::timestamptz + $5 * interval '1 microsecond'
WHERE held.prefix = $1 AND held.key = $2 AND held.owner = $3 AND held.backend = $4
RETURNING held.fencing";

/// Prefix, key, owner, channel of those who wait, who are told which grant is over. A row for each
/// that was ours; it is free when the transaction ends, and so is the lock.
const FREE: &str = "
UPDATE lockdrill_session AS held SET owner = NULL, backend = NULL, ends_at = NULL
WHERE held.prefix = $1 AND held.key = $2 AND held.owner = $3 AND held.backend = pg_backend_pid()
RETURNING pg_notify($4, held.fencing::text)";

/// A session holds a lock by a row that its open transaction has locked.
struct OpenTransaction;

/// When the lease of something that was done at `now_us` ends, µs.
fn ends_us(now_us: i64, ask: &Ask<'_>) -> i64 {
    now_us.saturating_add(lease_ms(ask).saturating_mul(1_000))
}

impl OpenTransaction {
    /// Mints a token for whoever has the lock; none if another was minted since `locked` was read.
    async fn mint(
        of: &BySession<Self>,
        locked: &Row,
        ask: &Ask<'_>,
    ) -> Result<Option<i64>, CommandError> {
        let (session, last): (i32, i64) = (column(locked, 0)?, column(locked, 1)?);
        let (owner, ends_us) = (ask.owner.expose(), ends_us(column(locked, 2)?, ask));
        let [prefix, key] = named(ask.name);
        let params = [
            prefix,
            key,
            (&owner, Type::TEXT),
            (&session, Type::INT4),
            (&last, Type::INT8),
            (&ends_us, Type::INT8),
        ];
        let rows = of.link.call(MINT, &params, ask.until).await?;
        rows.first().map(|row| column(row, 0)).transpose()
    }

    /// What is told to whoever is not granted the lock.
    async fn refused(of: &BySession<Self>, ask: &Ask<'_>) -> Result<Tried, CommandError> {
        let rows = of.link.call(NAMED, &named(ask.name), ask.until).await?;
        let Some(row) = rows.first() else {
            return Ok(Tried::default());
        };
        Ok(Tried {
            fencing: None,
            owner: column(row, 0)?,
            left_ms: column(row, 1)?,
        })
    }
}

#[async_trait]
impl Hold for OpenTransaction {
    /// Who has locked a row stands in it, by the number of the transaction.
    const HOLDS: &'static str = "
held.prefix = $1 AND held.key = $2 AND $3 IS NOT NULL AND EXISTS (
  SELECT FROM lockdrill_row AS mark JOIN pg_locks AS known ON known.transactionid = mark.xmax
  WHERE mark.prefix = $1 AND mark.key = $2 AND known.locktype = 'transactionid'
    AND known.mode = 'ExclusiveLock' AND known.granted AND known.pid = held.backend
)";

    async fn take(
        of: &BySession<Self>,
        session: &Live,
        ask: &Ask<'_>,
    ) -> Result<Tried, CommandError> {
        let silence_ms = of.silence_ms(ask);
        of.link.call(MAKE, &named(ask.name), ask.until).await?;
        session.call("BEGIN", &[], ask.until).await?;
        let [prefix, key] = named(ask.name);
        let params = [prefix, key, (&silence_ms, Type::INT8)];
        loop {
            let locked = session.call(LOCK, &params, ask.until).await?;
            let Some(locked) = locked.first() else {
                session.call("ROLLBACK", &[], ask.until).await?;
                return OpenTransaction::refused(of, ask).await;
            };
            let fencing = OpenTransaction::mint(of, locked, ask).await?;
            if fencing.is_some() {
                return Ok(Tried {
                    fencing,
                    ..Tried::default()
                });
            }
        }
    }

    async fn renew(
        of: &BySession<Self>,
        session: &Live,
        ask: &Ask<'_>,
    ) -> Result<bool, CommandError> {
        let silence_ms = of.silence_ms(ask);
        let params = [(&silence_ms as &(dyn ToSql + Sync), Type::INT8)];
        let stirred = session.call(STIR, &params, ask.until).await?;
        let stirred = stirred.first().ok_or_else(nonsense)?;
        let pid: i32 = column(stirred, 0)?;
        let (owner, ends_us) = (ask.owner.expose(), ends_us(column(stirred, 1)?, ask));
        let [prefix, key] = named(ask.name);
        let params = [
            prefix,
            key,
            (&owner, Type::TEXT),
            (&pid, Type::INT4),
            (&ends_us, Type::INT8),
        ];
        Ok(!of.link.call(EXTEND, &params, ask.until).await?.is_empty())
    }

    async fn release(
        session: &Live,
        params: &[Param<'_>],
        until: Instant,
    ) -> Result<i64, CommandError> {
        let ours = session.call(FREE, params, until).await?.len();
        session.call("COMMIT", &[], until).await?;
        Ok(i64::try_from(ours).unwrap_or(i64::MAX))
    }
}

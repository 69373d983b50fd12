//! Locks held by sessions of one Postgres server (14 or later): an advisory lock, a session of its
//! own for each grant, and a lease that the server keeps by ending a session that was silent for as
//! long (`idle_session_timeout`). No wall clock takes part in it.
//!
//! A row beside it holds the fencing token and says which session holds the lock for whom.

use crate::lock::backends::postgres::{STAYS, column, lease_ms};
use crate::lock::backends::postgres_by_session;
use crate::lock::backends::postgres_sessions::{BySession, Hold, Tried, named};
use crate::lock::backends::postgres_words::Digested;
use crate::lock::backends::{ConnectSpec, Connecting, IN_TURN, LockKind, Servers, nonsense};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::service::{Ask, Capabilities, Promise};
use crate::postgres_link::{Live, Param};
use async_trait::async_trait;
use tokio::time::Instant;
use tokio_postgres::types::Type;

pub use crate::lock::backends::postgres_sessions::TABLE;

/// Its entry in the registry.
pub const KIND: LockKind = LockKind {
    name: "postgres-advisory",
    summary: "one Postgres server, an advisory lock of a session; the server ends a session that is silent for a lease",
    capabilities: Capabilities {
        fencing: STAYS,
        exclusion: Promise::BestEffort(
            "for as long as the server runs: a restart or a failover ends every session, and with it every lock before its lease has ended",
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
    postgres_by_session::connect::<Advisory>(&KIND, &[TABLE], spec)
}

/// Prefix, key, owner, lease in ms, advisory lock, how long it may be silent in ms. One row: the
/// token, if it was granted; else the owner that the row names, and for how many ms yet.
const ACQUIRE: &str = "
WITH got AS MATERIALIZED (SELECT pg_try_advisory_lock($5) AS ok),
leased AS MATERIALIZED (
  SELECT set_config('idle_session_timeout', CASE WHEN ok THEN $6 ELSE 0 END || 'ms', false) FROM got
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

/// Prefix, key, owner, lease in ms, how long it may be silent in ms. A row: renewed.
const RENEW: &str = "
WITH leased AS MATERIALIZED (SELECT set_config('idle_session_timeout', $5 || 'ms', false))
UPDATE lockdrill_session AS held
SET ends_at = clock_timestamp() + $4 * interval '1 millisecond' FROM leased
WHERE held.prefix = $1 AND held.key = $2 AND held.owner = $3 AND held.backend = pg_backend_pid()
RETURNING held.fencing";

/// Prefix, key, owner, channel of those who wait, who are told which grant is over. One row: how
/// many were ours. The row is free before the lock is.
const RELEASE: &str = "
WITH freed AS (
  UPDATE lockdrill_session AS held SET owner = NULL, backend = NULL, ends_at = NULL
  WHERE held.prefix = $1 AND held.key = $2 AND held.owner = $3 AND held.backend = pg_backend_pid()
  RETURNING pg_notify($4, held.fencing::text)
),
done AS MATERIALIZED (SELECT count(*) AS ours FROM freed)
SELECT ours, pg_advisory_unlock_all(), set_config('idle_session_timeout', '0', false) FROM done";

/// A session holds a lock by an advisory lock of the same name.
struct Advisory;

#[async_trait]
impl Hold for Advisory {
    const HOLDS: &'static str = "
held.prefix = $1 AND held.key = $2 AND EXISTS (
  SELECT FROM pg_locks AS known
  WHERE known.locktype = 'advisory' AND known.granted AND known.objsubid = 1
    AND known.pid = held.backend
    AND ((known.classid::bigint << 32) | known.objid::bigint) = $3
    AND known.database = (SELECT oid FROM pg_database WHERE datname = current_database())
)";

    async fn take(
        of: &BySession<Self>,
        session: &Live,
        ask: &Ask<'_>,
    ) -> Result<Tried, CommandError> {
        let (owner, lease_ms, silence_ms) = (ask.owner.expose(), lease_ms(ask), of.silence_ms(ask));
        let lock = Digested::of(ask.name).lock();
        let [prefix, key] = named(ask.name);
        let params = [
            prefix,
            key,
            (&owner, Type::TEXT),
            (&lease_ms, Type::INT8),
            (&lock, Type::INT8),
            (&silence_ms, Type::INT8),
        ];
        let rows = session.call(ACQUIRE, &params, ask.until).await?;
        let row = rows.first().ok_or_else(nonsense)?;
        Ok(Tried {
            fencing: column(row, 0)?,
            owner: column(row, 1)?,
            left_ms: column(row, 2)?,
        })
    }

    async fn renew(
        of: &BySession<Self>,
        session: &Live,
        ask: &Ask<'_>,
    ) -> Result<bool, CommandError> {
        let (owner, lease_ms, silence_ms) = (ask.owner.expose(), lease_ms(ask), of.silence_ms(ask));
        let [prefix, key] = named(ask.name);
        let params = [
            prefix,
            key,
            (&owner, Type::TEXT),
            (&lease_ms, Type::INT8),
            (&silence_ms, Type::INT8),
        ];
        let rows = session.call(RENEW, &params, ask.until).await?;
        Ok(!rows.is_empty())
    }

    async fn release(
        session: &Live,
        params: &[Param<'_>],
        until: Instant,
    ) -> Result<i64, CommandError> {
        let rows = session.call(RELEASE, params, until).await?;
        column(rows.first().ok_or_else(nonsense)?, 0)
    }
}

//! Locks held by sessions of one Postgres server (14 or later): an advisory lock, a session of its
//! own for each grant, and a lease that the server keeps by ending a session that was silent for as
//! long (`idle_session_timeout`). No wall clock takes part in it.
//!
//! A row beside it holds the fencing token and says which session holds the lock for whom, so that
//! an owner token alone is enough to give a lock back or to take up a grant again: whoever has it
//! may have the session ended that it names.
//!
//! A grant lives as long as its session: a holder whose connection broke has lost the lock, learns
//! so with its next renewal, and never gets it back.

use crate::ids::OwnerToken;
use crate::lock::backends::postgres::{column, fencing_token, lease_ms, milliseconds, nonsense};
use crate::lock::backends::postgres_ear::{self, Ear};
use crate::lock::backends::postgres_words::{Digested, GREETING};
use crate::lock::backends::{Armed, ConnectSpec, Connecting, LockKind, Servers, check_flaw};
use crate::lock::error::{CommandError, LockError};
use crate::lock::flaws::Flaw;
use crate::lock::service::{
    AcquireAnswer, Ask, Capabilities, LockName, LockService, Promise, ReleaseAnswer, RenewAnswer,
    Wake,
};
use crate::postgres_link::{Link, Live, Param};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// Longest time to connect in the first place.
const CONNECT_BUDGET: Duration = Duration::from_secs(2);
/// Between two looks whether a session that was ended is gone.
const STEP: Duration = Duration::from_millis(5);

/// Its entry in the registry.
pub const KIND: LockKind = LockKind {
    name: "postgres-advisory",
    summary: "one Postgres server, an advisory lock of a session; the server ends a session that is silent for a lease",
    capabilities: Capabilities {
        fencing: Promise::BestEffort(
            "rises for as long as the server keeps its rows, a crash included; a failover to a standby that lagged or a restored backup can set it back",
        ),
        exclusion: Promise::BestEffort(
            "for as long as the server runs: a restart or a failover ends every session, and with it every lock before its lease has ended",
        ),
        fair: Promise::BestEffort(
            "waiters are woken in the order of their arrival; a newcomer may overtake",
        ),
        wakes: true,
    },
    servers: Servers::PostgresSessions,
    within_one_process: false,
    flaws: &[
        Flaw::DeadlineFromReply,
        Flaw::TimeoutMeansBusy,
        Flaw::IgnoresRenewalFailure,
        Flaw::FailsOpen,
        Flaw::HotPoll,
        Flaw::WallClockDeadline,
    ],
    on_the_wire: |_, _| Vec::new(),
    connect,
};

/// The table, if there is none yet; and a refusal where no session can have a lease.
const TABLE: &str = "
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
const RENEW: &str = "
WITH leased AS MATERIALIZED (SELECT set_config('idle_session_timeout', $4 || 'ms', false))
UPDATE lockdrill_session AS held
SET ends_at = clock_timestamp() + $4 * interval '1 millisecond' FROM leased
WHERE held.prefix = $1 AND held.key = $2 AND held.owner = $3 AND held.backend = pg_backend_pid()
RETURNING held.fencing";

/// Prefix, key, owner, channel of those who wait. One row: how many were ours. The row is free
/// before the lock is.
const RELEASE: &str = "
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

struct Advisory {
    /// For everything that no session of a grant is asked.
    link: Link,
    /// Never connected itself: each waiter makes a connection of its own.
    ears: Arc<Link>,
    sessions: Mutex<Sessions>,
    flaw: Option<Flaw>,
    armed: Option<Armed>,
}

#[derive(Default)]
struct Sessions {
    /// By owner; from before the first statement leaves until the lock is given back.
    of: HashMap<OwnerToken, Arc<Live>>,
    /// One that holds nothing, for the next grant.
    spare: Option<Arc<Live>>,
}

fn connect(spec: ConnectSpec) -> Connecting {
    Box::pin(async move {
        check_flaw(&KIND, spec.flaw)?;
        let link = Link::new(&spec.address, &format!("{GREETING};{TABLE}"))?;
        let ears = Link::new(&spec.address, postgres_ear::GREETING)?;
        let until = Instant::now() + CONNECT_BUDGET;
        let answers = link.call("SELECT 1", &[], until).await;
        answers.map_err(|why| LockError::Failed(CommandError::from(why).to_string()))?;
        let service: Arc<dyn LockService> = Arc::new(Advisory {
            link,
            ears: Arc::new(ears),
            sessions: Mutex::default(),
            flaw: spec.flaw,
            armed: spec.armed,
        });
        Ok(service)
    })
}

fn named(name: &LockName) -> [Param<'_>; 2] {
    [(&name.prefix, Type::TEXT), (&name.key, Type::TEXT)]
}

impl Advisory {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of this owner, if it lives.
    fn session(&self, owner: &OwnerToken) -> Option<Arc<Live>> {
        let mut sessions = self.sessions();
        let session = sessions.of.get(owner).filter(|session| session.is_open());
        let session = session.cloned();
        if session.is_none() {
            sessions.of.remove(owner);
        }
        session
    }

    /// The session of this owner, or one that holds nothing.
    async fn session_for(&self, ask: &Ask<'_>) -> Result<Arc<Live>, CommandError> {
        if let Some(session) = self.session(ask.owner) {
            return Ok(session);
        }
        let spare = self.sessions().spare.take();
        let session = match spare.filter(|spare| spare.is_open()) {
            Some(spare) => spare,
            None => Arc::new(self.link.connect(None, ask.until).await?),
        };
        let known = Arc::clone(&session);
        self.sessions().of.insert(ask.owner.clone(), known);
        Ok(session)
    }

    /// This owner's session holds nothing any more.
    fn rests(&self, owner: &OwnerToken) {
        let mut sessions = self.sessions();
        if let Some(session) = sessions.of.remove(owner) {
            sessions.spare = Some(session);
        }
    }

    /// Whether anybody holds the lock, by the server's word.
    async fn is_held(&self, name: &LockName, until: Instant) -> Result<bool, CommandError> {
        Ok(self.left(name, until).await?.is_some())
    }

    async fn left(&self, name: &LockName, until: Instant) -> Result<Option<i64>, CommandError> {
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
    async fn taken_back(&self, ask: &Ask<'_>) -> Result<bool, CommandError> {
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

    async fn try_lock(&self, session: &Live, ask: &Ask<'_>) -> Result<Row, CommandError> {
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
}

#[async_trait]
impl LockService for Advisory {
    fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }

    async fn acquire(&self, ask: &Ask<'_>) -> Result<AcquireAnswer, CommandError> {
        let session = self.session_for(ask).await?;
        if let Some(Armed(armed)) = &self.armed {
            armed();
        }
        let mut row = match self.try_lock(&session, ask).await {
            Ok(row) => row,
            Err(CommandError::Failed(why)) => {
                // The statement was rolled back; a lock that it may have taken goes with its session.
                self.sessions().of.remove(ask.owner);
                return Err(CommandError::Failed(why));
            }
            Err(unknown) => return Err(unknown),
        };
        let is_ours = |row: &Row| {
            let owner = column::<Option<String>>(row, 1)?;
            Ok::<_, CommandError>(owner.as_deref() == Some(ask.owner.expose()))
        };
        let minted = |row: &Row| column::<Option<i64>>(row, 0);
        if minted(&row)?.is_none() && is_ours(&row)? && self.taken_back(ask).await? {
            // An earlier send of this attempt was granted, on a session that broke.
            row = self.try_lock(&session, ask).await?;
        }
        if let Some(fencing) = minted(&row)? {
            return Ok(AcquireAnswer::Granted {
                fencing: Some(fencing_token(fencing)?),
                lease: ask.lease,
            });
        }
        self.rests(ask.owner);
        let remaining = column::<Option<i64>>(&row, 2)?.map(milliseconds);
        Ok(AcquireAnswer::Busy { remaining })
    }

    async fn renew(&self, ask: &Ask<'_>) -> Result<RenewAnswer, CommandError> {
        let (owner, lease_ms) = (ask.owner.expose(), lease_ms(ask));
        if let Some(session) = self.session(ask.owner) {
            let [prefix, key] = named(ask.name);
            let params = [prefix, key, (&owner, Type::TEXT), (&lease_ms, Type::INT8)];
            match session.call(RENEW, &params, ask.until).await {
                Ok(rows) if !rows.is_empty() => {
                    return Ok(RenewAnswer::Renewed { lease: ask.lease });
                }
                Ok(_) => {}
                Err(why) => {
                    // That it is closed may show a moment later than its last answer.
                    sleep_until((Instant::now() + STEP).min(ask.until)).await;
                    if session.is_open() {
                        return Err(why.into());
                    }
                }
            }
        }
        // The session is gone, and the lock with it. Who has it now is a question of its own.
        match self.is_held(ask.name, ask.until).await {
            Ok(true) => Ok(RenewAnswer::Foreign),
            Ok(false) | Err(_) => Ok(RenewAnswer::Absent),
        }
    }

    async fn release(&self, ask: &Ask<'_>) -> Result<ReleaseAnswer, CommandError> {
        let (owner, channel) = (ask.owner.expose(), Digested::of(ask.name).channel());
        let Some(session) = self.session(ask.owner) else {
            return Ok(match self.taken_back(ask).await? {
                true => ReleaseAnswer::Released,
                false => ReleaseAnswer::NotOurs,
            });
        };
        let [prefix, key] = named(ask.name);
        let params = [prefix, key, (&owner, Type::TEXT), (&channel, Type::TEXT)];
        let rows = match session.call(RELEASE, &params, ask.until).await {
            Ok(rows) => rows,
            Err(why) => {
                // Closing it gives the lock back too, if the server hears of it.
                self.sessions().of.remove(ask.owner);
                return Err(why.into());
            }
        };
        self.rests(ask.owner);
        match column::<i64>(rows.first().ok_or_else(nonsense)?, 0)? {
            0 => Ok(ReleaseAnswer::NotOurs),
            _ => Ok(ReleaseAnswer::Released),
        }
    }

    async fn remaining(
        &self,
        name: &LockName,
        until: Instant,
    ) -> Result<Option<Duration>, CommandError> {
        Ok(self.left(name, until).await?.map(milliseconds))
    }

    fn watch(&self, name: &LockName) -> Box<dyn Wake> {
        Box::new(Ear::new(Arc::clone(&self.ears), &Digested::of(name)))
    }
}

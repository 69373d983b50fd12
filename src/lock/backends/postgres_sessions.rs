//! The sessions of locks that sessions hold: one for each grant, and the row that says which session
//! holds a lock for whom.

use crate::ids::OwnerToken;
use crate::lock::backends::Armed;
use crate::lock::backends::postgres::{column, lease_ms};
use crate::lock::backends::postgres_words::Digested;
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::service::{Ask, LockName};
use crate::postgres_link::{Link, Live, Param};
use async_trait::async_trait;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};
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

/// What a session does to hold a lock, and how that is seen from another.
#[async_trait]
pub(super) trait Hold: Send + Sync + Sized + 'static {
    /// Where the session of the row `held`, of $1 and $2, holds the lock $3.
    const HOLDS: &'static str;

    /// Tries once on this session.
    async fn take(
        of: &BySession<Self>,
        session: &Live,
        ask: &Ask<'_>,
    ) -> Result<Tried, CommandError>;

    /// Lets the lease run from anew; whether the row still names this session and owner.
    async fn renew(
        of: &BySession<Self>,
        session: &Live,
        ask: &Ask<'_>,
    ) -> Result<bool, CommandError>;

    /// Gives the lock back, and wakes who waits: prefix, key, owner, and their channel. How many rows
    /// named this session and owner.
    async fn release(
        session: &Live,
        params: &[Param<'_>],
        until: Instant,
    ) -> Result<i64, CommandError>;
}

/// What came of a try: the token, if it was granted; else whom the row names, and for how many ms yet.
#[derive(Debug, Default)]
pub(super) struct Tried {
    pub(super) fencing: Option<i64>,
    pub(super) owner: Option<String>,
    pub(super) left_ms: Option<i64>,
}

/// The service: a session for each grant, and one for everything else.
pub(super) struct BySession<H> {
    /// For everything that no session of a grant is asked.
    pub(super) link: Link,
    /// Never connected itself: each waiter makes a connection of its own.
    pub(super) ears: Arc<Link>,
    pub(super) sessions: Mutex<Sessions>,
    pub(super) flaw: Option<Flaw>,
    pub(super) armed: Option<Armed>,
    pub(super) hold: PhantomData<H>,
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

impl<H: Hold> BySession<H> {
    /// How long the server lets a session of a grant be silent, ms; 0 = for ever.
    pub(super) fn silence_ms(&self, ask: &Ask<'_>) -> i64 {
        match self.flaw {
            Some(Flaw::NoIdleTimeout) => 0,
            Some(_) | None => lease_ms(ask),
        }
    }

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

    /// For how many ms yet, by the row; none if nobody holds it.
    pub(super) async fn left(
        &self,
        name: &LockName,
        until: Instant,
    ) -> Result<Option<i64>, CommandError> {
        let sql = format!(
            "SELECT floor(extract(epoch FROM held.ends_at - clock_timestamp()) * 1000)::bigint
             FROM lockdrill_session AS held WHERE {}",
            H::HOLDS
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
             WHERE {} AND held.owner = $4",
            H::HOLDS
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

    /// This owner's session is closed, as far as that is heard: whatever it holds goes with it.
    pub(super) fn forget(&self, owner: &OwnerToken) {
        self.lock_sessions().of.remove(owner);
    }
}

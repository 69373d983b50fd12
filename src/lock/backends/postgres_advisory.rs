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

use crate::lock::backends::postgres::{
    CONNECT_BUDGET, STAYS, column, failed, lease_ms, milliseconds, reach,
};
use crate::lock::backends::postgres_ear::Ear;
use crate::lock::backends::postgres_sessions::{Advisory, RELEASE, RENEW, STEP, Sessions, named};
use crate::lock::backends::postgres_words::Digested;
use crate::lock::backends::{
    Armed, ConnectSpec, Connecting, IN_TURN, LockKind, Servers, check_flaw, fencing_token, nonsense,
};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::service::{
    AcquireAnswer, Ask, Capabilities, LockName, LockService, Promise, ReleaseAnswer, RenewAnswer,
    Wake,
};
use async_trait::async_trait;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_postgres::Row;
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
    flaws: &[],
    on_the_wire: |_, _| Vec::new(),
    connect,
};

fn connect(spec: ConnectSpec) -> Connecting {
    Box::pin(async move {
        check_flaw(&KIND, spec.flaw)?;
        let until = Instant::now() + CONNECT_BUDGET;
        let (link, ears) = reach(&spec, TABLE, until).await?;
        let spare = link.connect(None, until).await.map_err(failed)?;
        let service: Arc<dyn LockService> = Arc::new(Advisory {
            link,
            ears,
            sessions: Mutex::new(Sessions::with(spare)),
            flaw: spec.flaw,
            armed: spec.armed,
        });
        Ok(service)
    })
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
                self.forget(ask.owner);
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
                self.forget(ask.owner);
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

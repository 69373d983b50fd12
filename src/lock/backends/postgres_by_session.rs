//! The lock that every session of a Postgres server may be, whatever it does to hold one.
//!
//! A grant lives as long as its session: a holder whose connection broke has lost the lock, learns
//! so with its next renewal, and never gets it back. A row says which session holds the lock for
//! whom, so that an owner token alone is enough to give a lock back or to take up a grant again:
//! whoever has it may have the session ended that it names.

use crate::lock::backends::postgres::{CONNECT_BUDGET, failed, milliseconds, reach};
use crate::lock::backends::postgres_ear::ear;
use crate::lock::backends::postgres_sessions::{BySession, Hold, STEP, Sessions, named};
use crate::lock::backends::postgres_words::Digested;
use crate::lock::backends::{Armed, ConnectSpec, Connecting, LockKind, check_flaw, fencing_token};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::service::{
    AcquireAnswer, Ask, LockName, LockService, ReleaseAnswer, RenewAnswer, Wake,
};
use async_trait::async_trait;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_postgres::types::Type;

/// Connects: a session for what no grant's session is asked, and one for the first grant.
pub(super) fn connect<H: Hold>(
    kind: &'static LockKind,
    tables: &'static [&'static str],
    spec: ConnectSpec,
) -> Connecting {
    Box::pin(async move {
        check_flaw(kind, spec.flaw)?;
        let until = Instant::now() + CONNECT_BUDGET;
        let (link, ears) = reach(&spec, &tables.join(";"), until).await?;
        let spare = link.connect(None, until).await.map_err(failed)?;
        let service: Arc<dyn LockService> = Arc::new(BySession::<H> {
            link,
            ears,
            sessions: Mutex::new(Sessions::with(spare)),
            flaw: spec.flaw,
            armed: spec.armed,
            hold: PhantomData,
        });
        Ok(service)
    })
}

#[async_trait]
impl<H: Hold> LockService for BySession<H> {
    fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }

    async fn acquire(&self, ask: &Ask<'_>) -> Result<AcquireAnswer, CommandError> {
        let session = self.session_for(ask).await?;
        if let Some(Armed(armed)) = &self.armed {
            armed();
        }
        let mut tried = match H::take(self, &session, ask).await {
            Ok(tried) => tried,
            Err(CommandError::Failed(why)) => {
                // The statement was rolled back; a lock that it may have taken goes with its session.
                self.forget(ask.owner);
                return Err(CommandError::Failed(why));
            }
            Err(unknown) => return Err(unknown),
        };
        let is_ours = tried.owner.as_deref() == Some(ask.owner.expose());
        if tried.fencing.is_none() && is_ours && self.taken_back(ask).await? {
            // An earlier send of this attempt was granted, on a session that broke.
            tried = H::take(self, &session, ask).await?;
        }
        if let Some(fencing) = tried.fencing {
            return Ok(AcquireAnswer::Granted {
                fencing: Some(fencing_token(fencing)?),
                lease: ask.lease,
            });
        }
        self.rests(ask.owner);
        let remaining = tried.left_ms.map(milliseconds);
        Ok(AcquireAnswer::Busy { remaining })
    }

    async fn renew(&self, ask: &Ask<'_>) -> Result<RenewAnswer, CommandError> {
        if let Some(session) = self.session(ask.owner) {
            match H::renew(self, &session, ask).await {
                Ok(true) => {
                    return Ok(RenewAnswer::Renewed { lease: ask.lease });
                }
                Ok(false) => {}
                Err(why) => {
                    // That it is closed may show a moment later than its last answer.
                    sleep_until((Instant::now() + STEP).min(ask.until)).await;
                    if session.is_open() {
                        return Err(why);
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
        let Some(session) = self.session(ask.owner) else {
            return Ok(match self.taken_back(ask).await? {
                true => ReleaseAnswer::Released,
                false => ReleaseAnswer::NotOurs,
            });
        };
        let (owner, channel) = (ask.owner.expose(), Digested::of(ask.name).channel());
        let [prefix, key] = named(ask.name);
        let params = [prefix, key, (&owner, Type::TEXT), (&channel, Type::TEXT)];
        let ours = match H::release(&session, &params, ask.until).await {
            Ok(ours) => ours,
            Err(why) => {
                // Closing it gives the lock back too, if the server hears of it.
                self.forget(ask.owner);
                return Err(why);
            }
        };
        self.rests(ask.owner);
        match ours {
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
        Box::new(ear(Arc::clone(&self.ears), "lockdrill_session", name))
    }
}

//! Locks in a ZooKeeper (3.6 or later): two nodes a lock, which live as long as a session of the
//! grant's own, made in one request that finds neither there.
//!
//! The session is asked for first, with the lease as its time, and nothing is said in it but what
//! the holder says: a holder that is stopped, or does not renew, loses it by the clock of the
//! server. A grant is never told from a wait, only from the request that decides. One that has no
//! answer is looked for by the owner's name. A renewal says the lock again in its own session.
//!
//! The server looks for sessions that have ended once a tick and may keep none as short as it is
//! asked to. The holder believes in no more than it asked for. Others may wait so much longer.

use crate::ids::FencingToken;
use crate::lock::backends::zookeeper_ear::ear;
use crate::lock::backends::zookeeper_sessions::{Said, Sessions};
use crate::lock::backends::zookeeper_steps::{Zookeeper, believed, is_ours};
use crate::lock::backends::zookeeper_words::Folder;
use crate::lock::backends::{
    ConnectSpec, Connecting, IN_TURN, LockKind, Servers, check_flaw, fencing_token, nonsense,
};
use crate::lock::error::{CommandError, LockError};
use crate::lock::flaws::Flaw;
use crate::lock::service::{
    AcquireAnswer, Ask, Capabilities, LockName, LockService, Promise, ReleaseAnswer, RenewAnswer,
    Wake,
};
use crate::zookeeper_link::{Link, NoAnswer, Request, Several, Stays, made, several};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Longest time to connect in the first place.
const CONNECT_BUDGET: Duration = Duration::from_secs(2);

/// Its entry in the registry.
pub const KIND: LockKind = LockKind {
    name: "zookeeper",
    summary: "a ZooKeeper, one session a grant, the change that made its node (czxid) as fencing token",
    capabilities: Capabilities {
        // Changes are agreed on by a majority and numbered by it, and a minority grants nothing.
        fencing: Promise::Guaranteed,
        exclusion: Promise::BestEffort(
            "for as long as a majority keeps its data; sessions end by the monotonic clock of the leader, and each new leader begins their time anew",
        ),
        fair: IN_TURN,
        wakes: true,
    },
    servers: Servers::Zookeeper,
    within_one_process: false,
    flaws: &[Flaw::BlindRelease, Flaw::RenewRecreates],
    on_the_wire: |_, _| Vec::new(),
    connect,
};

fn connect(spec: ConnectSpec) -> Connecting {
    Box::pin(async move {
        check_flaw(&KIND, spec.flaw)?;
        let sessions = Sessions::new(Link::new(&spec.address)?);
        let until = Instant::now() + CONNECT_BUDGET;
        let answered = sessions.ask(&Request::exists("/", false), until).await;
        answered.map_err(|why| LockError::Failed(why.to_string()))?;
        let service: Arc<dyn LockService> = Arc::new(Zookeeper {
            sessions,
            flaw: spec.flaw,
            armed: spec.armed,
        });
        Ok(service)
    })
}

#[async_trait]
impl LockService for Zookeeper {
    fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }

    async fn acquire(&self, ask: &Ask<'_>) -> Result<AcquireAnswer, CommandError> {
        let folder = Folder::of(ask.name);
        let busy = AcquireAnswer::Busy { remaining: None };
        // Looks first: who waits writes nothing. Nothing has been asked for before that is known.
        let found = self.found(&folder, ask.until).await;
        let granted = match found.map_err(NoAnswer::before_it)? {
            Some(found) => match self.sessions.of(&folder, ask.owner) {
                Some(grant) if is_ours(&found, ask, &grant) => {
                    Some((found.stat.made, believed(ask, &grant)))
                }
                Some(_) | None => return Ok(busy),
            },
            None => self.attempt(ask, &folder).await?,
        };
        let Some((made, lease)) = granted else {
            return Ok(busy);
        };
        Ok(AcquireAnswer::Granted {
            fencing: Some(fencing_token(made)?),
            lease,
        })
    }

    async fn renew(&self, ask: &Ask<'_>) -> Result<RenewAnswer, CommandError> {
        let folder = Folder::of(ask.name);
        let Some(grant) = self.sessions.of(&folder, ask.owner) else {
            return self.not_ours(ask, &folder).await;
        };
        let again = folder.say_again(ask.owner, ask.lease);
        match grant.ask(&self.sessions.link, &again, ask.until).await? {
            Said::Answer(answer) => match several(&answer)? {
                Several::Done(_) => Ok(RenewAnswer::Renewed {
                    lease: believed(ask, &grant),
                }),
                Several::Refused(..) => self.not_ours(ask, &folder).await,
            },
            Said::Ended => {
                self.sessions.forget(&folder, ask.owner);
                self.not_ours(ask, &folder).await
            }
        }
    }

    async fn release(&self, ask: &Ask<'_>) -> Result<ReleaseAnswer, CommandError> {
        let folder = Folder::of(ask.name);
        let give_back = self.give_back(&folder, ask).await?;
        let answer = self.ask_for((&folder, ask), &give_back).await?;
        let given_back = several(&answer)?;
        // Also of an attempt whose request is still on its way: it will be refused.
        self.sessions.end((&folder, ask.owner), ask.until).await;
        Ok(match given_back {
            Several::Done(_) => ReleaseAnswer::Released,
            Several::Refused(..) => ReleaseAnswer::NotOurs,
        })
    }

    /// The server does not tell how long a session has been silent: no more than this.
    async fn remaining(
        &self,
        name: &LockName,
        until: Instant,
    ) -> Result<Option<Duration>, CommandError> {
        let found = self.found(&Folder::of(name), until).await?;
        let found = found.filter(|found| found.stat.session != 0);
        Ok(found.map(|found| found.lease))
    }

    async fn draw(&self, name: &LockName, until: Instant) -> Result<FencingToken, CommandError> {
        // Whatever is made has a higher number than whatever was made before; it does not stay.
        let folder = Folder::of(name);
        self.make(&folder, until).await?;
        let draw = Request::create(&folder.child("draw-"), b"", Stays::InTurn);
        let answer = self.sessions.ask(&draw, until).await?;
        let (path, stat) = made(&answer).ok_or_else(nonsense)?;
        let _ = self.sessions.ask(&Request::delete(path), until).await;
        fencing_token(stat.made)
    }

    fn watch(&self, name: &LockName) -> Box<dyn Wake> {
        let link = Arc::clone(&self.sessions.link);
        Box::new(ear(link, Folder::of(name)))
    }
}

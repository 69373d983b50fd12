//! The requests that the operations of the ZooKeeper back end are made of.

use crate::lock::backends::Armed;
use crate::lock::backends::zookeeper_sessions::{Grant, Said, Sessions};
use crate::lock::backends::zookeeper_words::{Folder, Found, found};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::service::{Ask, RenewAnswer};
use crate::zookeeper_link::{Code, NoAnswer, Request, Several, names, nonsense, several};
use std::time::Duration;
use tokio::time::Instant;

/// How often the folder of a lock is made that the server has tidied away in between.
const TRIES: usize = 3;

impl From<NoAnswer> for CommandError {
    fn from(no_answer: NoAnswer) -> CommandError {
        match no_answer {
            NoAnswer::NotSent(_) | NoAnswer::Refused(_) => {
                CommandError::Failed(no_answer.to_string())
            }
            NoAnswer::Unknown(why) => CommandError::Unknown(why),
        }
    }
}

/// The service.
pub(super) struct Zookeeper {
    pub(super) sessions: Sessions,
    pub(super) flaw: Option<Flaw>,
    pub(super) armed: Option<Armed>,
}

/// What came of an attempt's request.
enum Taken {
    /// Ours, since that change.
    Ours(i64),
    /// Somebody else's.
    Theirs,
    /// Nothing was done: the session has ended.
    Ended,
}

/// What the server keeps may be longer than what was asked for; it is not believed in.
pub(super) fn believed(ask: &Ask<'_>, grant: &Grant) -> Duration {
    ask.lease.min(grant.session.kept)
}

impl Zookeeper {
    /// Who holds the lock.
    pub(super) async fn found(
        &self,
        folder: &Folder,
        until: Instant,
    ) -> Result<Option<Found>, NoAnswer> {
        match self
            .sessions
            .ask(&Request::get(&folder.held()), until)
            .await
        {
            Ok(answer) => found(&answer).ok_or_else(nonsense).map(Some),
            Err(NoAnswer::Refused(Code::NO_NODE)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Asks for the lock in the session of this attempt, in a folder that is made if need be.
    async fn taken(
        &self,
        ask: &Ask<'_>,
        (folder, grant): (&Folder, &Grant),
    ) -> Result<Taken, NoAnswer> {
        let take = folder.take(ask.owner, ask.lease);
        for _ in 0..TRIES {
            let answer = match grant.ask(&self.sessions.link, &take, ask.until).await? {
                Said::Answer(answer) => answer,
                Said::Ended => return Ok(Taken::Ended),
            };
            match several(&answer)? {
                Several::Done(stats) => {
                    let own = stats.last().ok_or_else(nonsense)?;
                    return Ok(Taken::Ours(own.made));
                }
                Several::Refused(_, Code::NO_NODE) => self.make(folder, ask.until).await?,
                Several::Refused(0, Code::NODE_EXISTS) => {
                    // An earlier send of this attempt has been executed.
                    let found = self.found(folder, ask.until).await?;
                    let found = found.filter(|found| is_ours(found, ask, grant));
                    return Ok(found.map_or(Taken::Theirs, |found| Taken::Ours(found.stat.made)));
                }
                Several::Refused(_, Code::NODE_EXISTS) => return Ok(Taken::Theirs),
                Several::Refused(_, code) => return Err(NoAnswer::Refused(code)),
            }
        }
        Err(NoAnswer::Refused(Code::NO_NODE))
    }

    /// The folder of a lock, be it there or not. Nothing of the lock itself has been asked for.
    pub(super) async fn make(&self, folder: &Folder, until: Instant) -> Result<(), NoAnswer> {
        match self.sessions.ask(&folder.make(), until).await {
            Ok(_) | Err(NoAnswer::Refused(Code::NODE_EXISTS)) => Ok(()),
            Err(error) => Err(error.before_it()),
        }
    }

    /// One attempt, from the session to the answer.
    pub(super) async fn attempt(
        &self,
        ask: &Ask<'_>,
        folder: &Folder,
    ) -> Result<Option<(i64, Duration)>, CommandError> {
        let whose = (folder, ask.owner);
        let grant = self
            .sessions
            .of_attempt(whose, (ask.lease, ask.until))
            .await?;
        if let Some(Armed(armed)) = &self.armed {
            armed();
        }
        match self.taken(ask, (folder, &grant)).await? {
            Taken::Ours(made) => Ok(Some((made, believed(ask, &grant)))),
            Taken::Theirs => {
                self.sessions.end(whose, ask.until).await;
                Ok(None)
            }
            Taken::Ended => {
                self.sessions.forget(folder, ask.owner);
                Err(CommandError::Failed("its session has ended".into()))
            }
        }
    }

    /// Whose lock it is that a renewal did not find to be its own.
    pub(super) async fn not_ours(
        &self,
        ask: &Ask<'_>,
        folder: &Folder,
    ) -> Result<RenewAnswer, CommandError> {
        match self.found(folder, ask.until).await {
            Ok(Some(found)) if found.owner != *ask.owner => Ok(RenewAnswer::Foreign),
            Ok(None) if self.flaw == Some(Flaw::RenewRecreates) => {
                self.sessions.end((folder, ask.owner), ask.until).await;
                let again = self.attempt(ask, folder).await?;
                Ok(
                    again.map_or(RenewAnswer::Foreign, |(_, lease)| RenewAnswer::Renewed {
                        lease,
                    }),
                )
            }
            // That it is not ours any more is known without that answer.
            Ok(_) | Err(_) => Ok(RenewAnswer::Absent),
        }
    }

    /// In the session of the grant, or in one of nobody's where that has ended or is not known.
    pub(super) async fn ask_for(
        &self,
        (folder, ask): (&Folder, &Ask<'_>),
        request: &Request,
    ) -> Result<Vec<u8>, NoAnswer> {
        if let Some(grant) = self.sessions.of(folder, ask.owner)
            && let Said::Answer(answer) = grant.ask(&self.sessions.link, request, ask.until).await?
        {
            return Ok(answer);
        }
        self.sessions.ask(request, ask.until).await
    }

    /// The request that gives a lock back.
    pub(super) async fn give_back(
        &self,
        folder: &Folder,
        ask: &Ask<'_>,
    ) -> Result<Request, NoAnswer> {
        if self.flaw != Some(Flaw::BlindRelease) {
            return Ok(folder.give_back(ask.owner));
        }
        let children = Request::children(folder.path());
        let children = match self.sessions.ask(&children, ask.until).await {
            Ok(answer) => names(&answer).unwrap_or_default(),
            Err(NoAnswer::Refused(Code::NO_NODE)) => Vec::new(),
            Err(error) => return Err(error.before_it()),
        };
        Ok(folder.give_back_blindly(&children))
    }
}

/// Ours, and in the session that is still ours.
pub(super) fn is_ours(found: &Found, ask: &Ask<'_>, grant: &Grant) -> bool {
    found.owner == *ask.owner && found.stat.session == grant.session.number
}

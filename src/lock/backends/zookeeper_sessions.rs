//! The sessions of the ZooKeeper back end: one a grant, whose time is its lease, and some that only
//! ask.
//!
//! What a grant's session does is done in that session alone, so that the server itself refuses it
//! once the lease has ended, and whatever is still on its way when the session is closed.

use crate::ids::OwnerToken;
use crate::lock::backends::zookeeper_words::Folder;
use crate::zookeeper_link::{Code, Link, Live, NoAnswer, Request, Session};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex as Turns;
use tokio::time::{Instant, timeout_at};

/// As many that only ask rest at most; more are made when they are needed.
const RESTING_MAX: usize = 4;
/// How long the server keeps one that only asks.
const ASKS: Duration = Duration::from_secs(6);

/// The session of one attempt or grant.
pub(super) struct Grant {
    pub(super) session: Session,
    /// The connection between two requests; none once an answer was given up.
    live: Turns<Option<Live>>,
    /// When something was last said.
    said: Mutex<Instant>,
}

/// What came of asking in a grant's session.
pub(super) enum Said {
    /// The answer.
    Answer(Vec<u8>),
    /// The session has ended, and nothing was done.
    Ended,
}

impl Grant {
    fn new(live: Live) -> Grant {
        Grant {
            session: live.session.clone(),
            live: Turns::new(Some(live)),
            said: Mutex::new(Instant::now()),
        }
    }

    pub(super) async fn ask(
        &self,
        link: &Link,
        request: &Request,
        until: Instant,
    ) -> Result<Said, NoAnswer> {
        let Ok(mut turn) = timeout_at(until, self.live.lock()).await else {
            return Err(NoAnswer::NotSent("its session is busy".into()));
        };
        let Some(mut live) = self.good(turn.take(), link, until).await? else {
            return Ok(Said::Ended);
        };
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        match live.ask(request, until).await {
            Ok(answer) => {
                *turn = Some(live);
                Ok(Said::Answer(answer))
            }
            Err(NoAnswer::Refused(Code::SESSION_EXPIRED)) => Ok(Said::Ended),
            Err(NoAnswer::Refused(code)) => {
                *turn = Some(live);
                Err(NoAnswer::Refused(code))
            }
            Err(error) => Err(error),
        }
    }

    /// Ends the session; whether it has ended for certain.
    pub(super) async fn end(&self, link: &Link, until: Instant) -> bool {
        let Ok(mut turn) = timeout_at(until, self.live.lock()).await else {
            return false;
        };
        match self.good(turn.take(), link, until).await {
            Ok(Some(live)) => match live.close(until).await {
                Ok(()) | Err(NoAnswer::Refused(_)) => true,
                Err(_) => false,
            },
            Ok(None) => true,
            Err(_) => false,
        }
    }

    /// The connection that there is, or a new one; none if the session has ended.
    async fn good(
        &self,
        had: Option<Live>,
        link: &Link,
        until: Instant,
    ) -> Result<Option<Live>, NoAnswer> {
        match had.filter(Live::is_good) {
            Some(live) => Ok(Some(live)),
            None => link.resume(&self.session, until).await,
        }
    }

    /// The server has ended it long ago.
    fn is_over(&self) -> bool {
        let said = *self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.elapsed() > 2 * self.session.kept + ASKS
    }
}

/// Every session of one service.
pub(super) struct Sessions {
    pub(super) link: Arc<Link>,
    /// By the node that is named after its owner.
    grants: Mutex<HashMap<String, Arc<Grant>>>,
    resting: Mutex<Vec<Live>>,
}

impl Sessions {
    pub(super) fn new(link: Link) -> Sessions {
        Sessions {
            link: Arc::new(link),
            grants: Mutex::default(),
            resting: Mutex::default(),
        }
    }

    fn grants(&self) -> MutexGuard<'_, HashMap<String, Arc<Grant>>> {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn resting(&self) -> MutexGuard<'_, Vec<Live>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of an owner, if it is known here.
    pub(super) fn of(&self, folder: &Folder, owner: &OwnerToken) -> Option<Arc<Grant>> {
        self.grants().get(&folder.own(owner)).cloned()
    }

    /// The same, or a new one. It begins later than the holder counts from.
    pub(super) async fn of_attempt(
        &self,
        (folder, owner): (&Folder, &OwnerToken),
        (lease, until): (Duration, Instant),
    ) -> Result<Arc<Grant>, NoAnswer> {
        if let Some(known) = self.of(folder, owner) {
            return Ok(known);
        }
        let live = self.link.begin(lease, until).await?;
        let grant = Arc::new(Grant::new(live));
        let mut grants = self.grants();
        grants.retain(|_, grant| !grant.is_over());
        grants.insert(folder.own(owner), Arc::clone(&grant));
        Ok(grant)
    }

    /// Ends an owner's session. If this fails, it ends by itself.
    pub(super) async fn end(&self, (folder, owner): (&Folder, &OwnerToken), until: Instant) {
        let Some(grant) = self.of(folder, owner) else {
            return;
        };
        if grant.end(&self.link, until).await {
            self.forget(folder, owner);
        }
    }

    /// It has ended.
    pub(super) fn forget(&self, folder: &Folder, owner: &OwnerToken) {
        self.grants().remove(&folder.own(owner));
    }

    /// A request in a session of nobody's. If one that has rested turns out to be broken, what only
    /// reads is asked once more.
    pub(super) async fn ask(&self, request: &Request, until: Instant) -> Result<Vec<u8>, NoAnswer> {
        loop {
            let rested = self.resting().pop();
            let (mut live, is_new) = match rested {
                Some(live) if live.is_good() => (live, false),
                Some(_broken) => continue,
                None => (self.link.begin(ASKS, until).await?, true),
            };
            let answer = live.ask(request, until).await;
            match &answer {
                Err(NoAnswer::Refused(Code::SESSION_EXPIRED)) if !is_new => continue,
                Ok(_) | Err(NoAnswer::Refused(_)) => self.rest(live),
                // Those that rest may lead to the same place.
                Err(NoAnswer::NotSent(_) | NoAnswer::Unknown(_)) => self.resting().clear(),
            }
            return answer;
        }
    }

    fn rest(&self, live: Live) {
        let mut resting = self.resting();
        if resting.len() < RESTING_MAX {
            resting.push(live);
        }
    }
}

//! The entrance: one manager speaks to one back end under one key prefix.

use crate::clock::{Clock, SystemClock, WallClock};
use crate::ids::{GrantId, OwnerToken};
use crate::lock::commands::{Attempted, Release, no_answer};
use crate::lock::error::{CommandError, EnterError, LockError};
use crate::lock::flaws::Flaw;
use crate::lock::handle::LockHandle;
use crate::lock::holding::Holding;
use crate::lock::keeper::Keeper;
use crate::lock::lease;
use crate::lock::log;
use crate::lock::options::LockOptions;
use crate::lock::probe::{Command, Probe, Reply, Signal, Silent};
use crate::lock::service::{Ask, LockName, LockService, ReleaseAnswer};
use crate::lock::source::{SystemSource, TokenSource};
use crate::lock::waiter::Waiter;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Longest time for a question or a release without a lease of its own.
const BUDGET: Duration = Duration::from_secs(2);

/// Name and place of a manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagerOptions {
    /// In metrics and events.
    pub name: String,
    /// In front of every key; empty is allowed.
    pub prefix: String,
}

impl ManagerOptions {
    /// Both at once.
    pub fn new(name: impl Into<String>, prefix: impl Into<String>) -> Self {
        ManagerOptions {
            name: name.into(),
            prefix: prefix.into(),
        }
    }
}

/// What one attempt brought.
#[derive(Debug)]
#[must_use = "a busy or unknown answer is not ownership"]
pub enum Acquired {
    /// Ours.
    Granted(LockHandle),
    /// Somebody else's; the waiter can wait for it.
    Busy(Waiter),
    /// Perhaps ours. [`LockHandle::enter`] finds out; dropping it gives back what was taken.
    Unknown(LockHandle),
}

/// Takes locks on one back end.
#[derive(Clone)]
pub struct LockManager {
    pub(super) context: Arc<Context>,
}

/// What every attempt of a manager shares.
#[derive(Clone)]
pub(super) struct Context {
    pub(super) service: Arc<dyn LockService>,
    pub(super) source: Arc<dyn TokenSource>,
    pub(super) probe: Arc<dyn Probe>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) keeper: Arc<Keeper>,
    pub(super) name: Arc<str>,
    pub(super) prefix: Arc<str>,
}

impl LockManager {
    /// A manager with random owner tokens, the system's clock and nobody watching.
    pub fn new(service: Arc<dyn LockService>, options: ManagerOptions) -> LockManager {
        let clock: Arc<dyn Clock> = match service.flaw() {
            Some(Flaw::WallClockDeadline) => Arc::new(WallClock::default()),
            _ => Arc::new(SystemClock),
        };
        LockManager {
            context: Arc::new(Context {
                service,
                source: Arc::new(SystemSource),
                probe: Arc::new(Silent),
                clock,
                name: options.name.into(),
                keeper: Arc::default(),
                prefix: options.prefix.into(),
            }),
        }
    }

    /// Takes identities from elsewhere.
    #[must_use]
    pub fn with_source(mut self, source: Arc<dyn TokenSource>) -> LockManager {
        Arc::make_mut(&mut self.context).source = source;
        self
    }

    /// Tells a probe about every command, answer and loss.
    #[must_use]
    pub fn with_probe(mut self, probe: Arc<dyn Probe>) -> LockManager {
        Arc::make_mut(&mut self.context).probe = probe;
        self
    }

    /// Counts deadlines on another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> LockManager {
        let context = Arc::make_mut(&mut self.context);
        context.clock = clock;
        // Its timetables are kept in the time of one clock.
        context.keeper = Arc::default();
        self
    }

    /// One attempt, within half the lease (50 ms to 5 s).
    ///
    /// # Errors
    /// An empty key; no randomness; the service definitely did not execute it; granted too late.
    pub async fn acquire(&self, key: &str, options: &LockOptions) -> Result<Acquired, LockError> {
        let attempt = self.context.attempt(key, options)?;
        let began = Instant::now();
        let until = began + lease::command_budget(options.lease());
        match attempt.attempt(until).await {
            Attempted::Granted => Ok(Acquired::Granted(attempt.told_granted(began.elapsed()))),
            Attempted::TooLate => Err(LockError::TooLate),
            Attempted::Busy { remaining } => {
                log::not_granted(&self.context.name, key, began.elapsed(), &"busy");
                let waiter =
                    Waiter::after_busy(Arc::clone(&self.context), key, *options, remaining);
                Ok(Acquired::Busy(waiter))
            }
            Attempted::NoAnswer(CommandError::Unknown(_)) => Ok(Acquired::Unknown(attempt)),
            Attempted::NoAnswer(CommandError::Failed(why)) => Err(LockError::Failed(why)),
        }
    }

    /// Waits for the lock, at most `deadline` from now.
    ///
    /// # Errors
    /// See [`EnterError`].
    pub async fn enter(
        &self,
        key: &str,
        options: &LockOptions,
        deadline: Duration,
        cancel: &CancellationToken,
    ) -> Result<LockHandle, EnterError> {
        if key.is_empty() {
            return Err(LockError::EmptyKey.into());
        }
        Waiter::new(Arc::clone(&self.context), key, *options)
            .enter(deadline, cancel)
            .await
    }

    /// What is left of the present lease, whoever holds it; none if it is free.
    ///
    /// # Errors
    /// An empty key; the service gave no answer within two seconds.
    pub async fn remaining(&self, key: &str) -> Result<Option<Duration>, LockError> {
        let name = self.context.lock_name(key)?;
        let answer = self
            .context
            .service
            .remaining(&name, Instant::now() + BUDGET);
        answer.await.map_err(|error| match error {
            // A question has no effect, so that its outcome cannot be in doubt.
            CommandError::Failed(why) | CommandError::Unknown(why) => LockError::Failed(why),
        })
    }

    /// Gives back a grant of which only the owner token is known. An empty key or a token that
    /// is not the owner's is [`Release::AlreadyLost`], without harm.
    pub async fn release(&self, key: &str, owner: &OwnerToken) -> Release {
        let Ok(name) = self.context.lock_name(key) else {
            return Release::AlreadyLost;
        };
        let digest = owner.digest();
        let grant = GrantId(digest.0.clone());
        let command = Command::Release;
        self.context.probe.on(Signal::Sending {
            command,
            grant: &grant,
            owner: &digest,
        });
        let ask = Ask {
            name: &name,
            owner,
            fencing: None,
            lease: BUDGET,
            until: Instant::now() + BUDGET,
        };
        let (answer, release) = match self.context.service.release(&ask).await {
            Ok(ReleaseAnswer::Released) => (Reply::Released, Release::Released),
            Ok(ReleaseAnswer::NotOurs) => (Reply::AlreadyLost, Release::AlreadyLost),
            Err(error) => (no_answer(&error), Release::Unknown(error.to_string())),
        };
        log::gave_back(&self.context.name, key, &digest, &release);
        self.context.probe.on(Signal::Answered {
            command,
            grant: &grant,
            answer,
        });
        release
    }
}

impl fmt::Debug for LockManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockManager")
            .field("name", &self.context.name)
            .field("prefix", &self.context.prefix)
            .finish_non_exhaustive()
    }
}

impl Context {
    pub(super) fn lock_name(&self, key: &str) -> Result<LockName, LockError> {
        if key.is_empty() {
            return Err(LockError::EmptyKey);
        }
        Ok(LockName {
            prefix: self.prefix.to_string(),
            key: key.to_owned(),
        })
    }

    /// A fresh attempt, not yet sent. Dropping it gives back whatever it took.
    pub(super) fn attempt(
        self: &Arc<Self>,
        key: &str,
        options: &LockOptions,
    ) -> Result<LockHandle, LockError> {
        let name = self.lock_name(key)?;
        let identity = self.source.identity()?;
        Ok(LockHandle::new(Holding::new(
            Arc::clone(self),
            name,
            *options,
            identity,
        )))
    }
}

//! Waiting for a lock: woken by the release, with a jittered poll as floor, at most three
//! commands a second. Each try is a fresh attempt; only a try without an answer is sent again as
//! the same attempt, until it is known what became of it. However the wait ends (granted, late,
//! cancelled, dropped) it leaves no key, no queue node and no lease that anybody renews.

use crate::lock::commands::Attempted;
use crate::lock::error::{CommandError, EnterError, LockError};
use crate::lock::flaws::Flaw;
use crate::lock::handle::LockHandle;
use crate::lock::manager::Context;
use crate::lock::options::LockOptions;
use crate::lock::pace::{Pace, reached};
use crate::lock::service::Wake;
use crate::lock::{lease, log, metrics};
use std::fmt;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

/// Longest time between two looks at the lock, before jitter.
const POLL: Duration = Duration::from_millis(1_000);
/// Shortest time between two looks that nobody woke us for: leaves the pace room for the look
/// that follows a wake-up.
const LOOK_MIN: Duration = Duration::from_millis(500);
/// Time between two looks of the flaw that polls hot.
const HOT_POLL: Duration = Duration::from_millis(1);

/// Waits for one lock. Nothing happens before [`Waiter::enter`].
pub struct Waiter {
    context: Arc<Context>,
    key: String,
    options: LockOptions,
    pace: Pace,
    /// When to look again, from the last answer; none: at once.
    look_at: Option<Instant>,
}

/// How the last try went: what the wait says if its deadline passes now.
enum Last {
    Busy,
    Failed(LockError),
    Unknown(String),
}

impl Waiter {
    pub(super) fn new(context: Arc<Context>, key: &str, options: LockOptions) -> Waiter {
        Waiter {
            context,
            key: key.to_owned(),
            options,
            pace: Pace::default(),
            look_at: None,
        }
    }

    pub(super) fn after_busy(
        context: Arc<Context>,
        key: &str,
        options: LockOptions,
        remaining: Option<Duration>,
    ) -> Waiter {
        let mut waiter = Waiter::new(context, key, options);
        waiter.pace.sent(Instant::now());
        waiter.look_at = Some(next_look(remaining));
        waiter
    }

    /// The resource.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Waits, at most `deadline` from now; the deadline and `cancel` also bound a hung socket.
    ///
    /// # Errors
    /// See [`EnterError`]; an unusable service is reported as such and never as a held lock.
    pub async fn enter(
        mut self,
        deadline: Duration,
        cancel: &CancellationToken,
    ) -> Result<LockHandle, EnterError> {
        let began = Instant::now();
        let deadline = began + deadline;
        let mut last = Last::Busy;
        let _waiting = metrics::Waiting::begin(&self.context.name);
        let entered = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(EnterError::Cancelled),
            handle = self.wait(deadline, &mut last) => handle,
            () = sleep_until(deadline) => Err(match last {
                Last::Busy => EnterError::TimedOut,
                Last::Failed(error) => EnterError::Failed(error),
                Last::Unknown(why) => EnterError::Unknown(why),
            }),
        };
        let waited = began.elapsed();
        metrics::waited(&self.context.name, waited, entered.is_ok());
        match &entered {
            Ok(handle) => handle.tell_granted(waited),
            Err(error) => log::not_granted(&self.context.name, &self.key, waited, error),
        }
        entered
    }

    /// Tries until it is granted.
    async fn wait(&mut self, deadline: Instant, last: &mut Last) -> Result<LockHandle, EnterError> {
        let name = self.context.lock_name(&self.key)?;
        let mut wake = self.context.service.watch(&name);
        loop {
            self.pause(wake.as_mut()).await;
            if Instant::now() >= deadline {
                // The deadline's own arm ends the wait.
                pending::<()>().await;
            }
            let attempt = self.context.attempt(&self.key, &self.options)?;
            match self.try_once(&attempt, deadline, last).await {
                Attempted::Granted => return Ok(attempt),
                Attempted::TooLate => {
                    self.pace.sent(Instant::now());
                    self.look_at = None;
                }
                Attempted::Busy { remaining } => self.look_at = Some(next_look(remaining)),
                Attempted::NoAnswer(_) => {
                    // What it may have taken is given back: a command too.
                    self.pace.sent(Instant::now());
                    self.look_at = Some(next_look(None));
                }
            }
        }
    }

    /// The waiter is the one with the defect.
    fn is_hot(&self) -> bool {
        self.context.service.flaw() == Some(Flaw::HotPoll)
    }

    /// Until a release wakes us or the poll is due; within the pace.
    async fn pause(&mut self, wake: &mut dyn Wake) {
        if self.is_hot() {
            return sleep(HOT_POLL).await;
        }
        let Some(look_at) = self.look_at else {
            return;
        };
        if !wake.listening() {
            // To begin to listen is a command too.
            reached(self.pace.next(Instant::now()).min(look_at)).await;
            if Instant::now() >= look_at {
                return;
            }
            self.pace.sent(Instant::now());
        }
        tokio::select! {
            () = wake.woken() => {}
            () = sleep_until(look_at) => {}
        }
    }

    /// One fresh attempt, sent again for as long as its outcome is unknown.
    async fn try_once(
        &mut self,
        attempt: &LockHandle,
        deadline: Instant,
        last: &mut Last,
    ) -> Attempted {
        loop {
            if !self.is_hot() {
                reached(self.pace.next(Instant::now())).await;
            }
            self.pace.sent(Instant::now());
            let budget = attempt
                .window()
                .unwrap_or(lease::command_budget(self.options.lease()));
            let until = (Instant::now() + budget).min(deadline);
            let attempted = attempt.attempt(until).await;
            match &attempted {
                Attempted::NoAnswer(CommandError::Unknown(why)) => {
                    *last = Last::Unknown(why.clone());
                    if attempt.window().is_none() || Instant::now() >= deadline {
                        return attempted;
                    }
                }
                Attempted::NoAnswer(CommandError::Failed(why)) => {
                    *last = Last::Failed(LockError::Failed(why.clone()));
                    return attempted;
                }
                Attempted::Granted | Attempted::TooLate | Attempted::Busy { .. } => {
                    *last = Last::Busy;
                    return attempted;
                }
            }
        }
    }
}

/// When to look again: when the present lease ends if that is soon, else after the poll interval;
/// with jitter, so that waiters which were refused together do not come back together.
fn next_look(remaining: Option<Duration>) -> Instant {
    let jitter = lease::jitter();
    let poll = POLL.mul_f64(0.8 + 0.4 * jitter);
    let soonest = LOOK_MIN.mul_f64(1.0 + 0.2 * jitter);
    let wait = match remaining {
        // One millisecond more: servers round what is left down.
        Some(left) if left < poll => {
            let after = left + Duration::from_millis(1) + (left / 10).mul_f64(jitter);
            after.max(soonest)
        }
        Some(_) | None => poll,
    };
    Instant::now() + wait
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

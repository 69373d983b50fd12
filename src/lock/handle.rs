//! The handle of one grant. It believes only its own clock and what the server has proved, never
//! hope: `is_locked` turns false at the deadline even if nothing else in the process runs.

use crate::ids::{FencingToken, GrantId, OwnerDigest};
use crate::lock::commands::{Attempted, Release, Renewal};
use crate::lock::error::EnterError;
use crate::lock::holding::{Holding, Phase};
use crate::lock::lease;
use crate::lock::log;
use crate::lock::lost::{Lost, LostReason};
use crate::lock::pace::{Pace, reached};
use crate::lock::probe::Command;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A lock that is held, or that may be held ([`Acquired::Unknown`](crate::lock::Acquired)).
///
/// Dropping it gives it back in the background: one bounded try, then its lease is the backstop.
pub struct LockHandle {
    holding: Arc<Holding>,
}

impl LockHandle {
    /// Takes charge of an attempt: from here on, whatever it took is given back.
    pub(super) fn new(holding: Holding) -> LockHandle {
        LockHandle {
            holding: Arc::new(holding),
        }
    }

    /// One acquire command; a grant is looked after from then on.
    pub(super) async fn attempt(&self, until: Instant) -> Attempted {
        let attempted = self.holding.attempt(until).await;
        if matches!(attempted, Attempted::Granted) {
            if let Some(interval) = self.holding.options.renewal_interval() {
                let pause = lease::renewal_pause(interval, lease::jitter());
                self.holding.renew_after(pause);
            }
            self.holding.context.keeper.schedule(&self.holding);
        }
        attempted
    }

    /// Logs that it is ours, after this wait.
    pub(super) fn tell_granted(&self, wait: Duration) {
        log::granted(&self.holding, wait);
    }

    /// The same, in passing.
    pub(super) fn told_granted(self, wait: Duration) -> Self {
        self.tell_granted(wait);
        self
    }

    /// The resource.
    pub fn key(&self) -> &str {
        &self.holding.name.key
    }

    /// Digest of the owner token.
    pub fn owner(&self) -> OwnerDigest {
        self.holding.digest().clone()
    }

    /// Id of the attempt that became, or may have become, this grant.
    pub fn grant(&self) -> &GrantId {
        self.holding.grant()
    }

    /// What the protected store compares; none if the back end gives none or before the grant.
    pub fn fencing_token(&self) -> Option<FencingToken> {
        self.holding.state().fencing
    }

    /// The lease that the server gave at the grant or the last renewal.
    pub fn granted_lease(&self) -> Duration {
        self.holding.state().lease
    }

    /// Granted, neither released nor proved lost. Says nothing about the lease: see
    /// [`LockHandle::is_locked`].
    pub fn is_held(&self) -> bool {
        matches!(
            self.holding.state().phase,
            Phase::Held | Phase::Lost(LostReason::Deadline)
        )
    }

    /// Its deadline has passed. It does not come back.
    pub fn is_expired(&self) -> bool {
        let mut state = self.holding.state();
        self.holding.expire(&mut state);
        state.phase == Phase::Lost(LostReason::Deadline)
    }

    /// Held and not expired: the only question to ask before protected work.
    pub fn is_locked(&self) -> bool {
        !self.holding.expire_if_due()
    }

    /// Until when this handle believes, ns on the manager's clock; 0 before the grant.
    pub fn deadline_ns(&self) -> u64 {
        self.holding.state().deadline_ns
    }

    /// By when work should be wrapped up: the deadline minus a tenth of the lease; ns on the
    /// manager's clock.
    pub fn stop_by(&self) -> u64 {
        let state = self.holding.state();
        lease::stop_by_ns(state.deadline_ns, state.lease)
    }

    /// Makes sure that it is held. Returns at once, without I/O, if it is. If it is not known
    /// (after [`Acquired::Unknown`](crate::lock::Acquired)), the same attempt is sent again until
    /// there is an answer, at most `deadline` from now and never beyond its own lease.
    ///
    /// # Errors
    /// [`EnterError::Expired`] once its lease has ended, [`EnterError::Busy`] if the attempt
    /// turns out to have failed: acquire anew in both cases. See [`EnterError`].
    pub async fn enter(
        &self,
        deadline: Duration,
        cancel: &CancellationToken,
    ) -> Result<(), EnterError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(EnterError::Cancelled),
            () = self.holding.ended.token().cancelled() => Err(self.ended_as()),
            entered = self.settle(Instant::now() + deadline) => entered,
        }
    }

    async fn settle(&self, deadline: Instant) -> Result<(), EnterError> {
        let mut pace = Pace::default();
        let began = Instant::now();
        let mut last = String::from("not asked again");
        loop {
            match self.phase() {
                Phase::Held => return Ok(()),
                Phase::Lost(_) | Phase::Released => return Err(self.ended_as()),
                Phase::Pending => {}
            }
            reached(pace.next(Instant::now()).min(deadline)).await;
            if Instant::now() >= deadline {
                return Err(EnterError::Unknown(last));
            }
            let window = self.window().ok_or(EnterError::Expired)?;
            pace.sent(Instant::now());
            match self.attempt((Instant::now() + window).min(deadline)).await {
                Attempted::Granted => {
                    self.tell_granted(began.elapsed());
                    return Ok(());
                }
                Attempted::TooLate => return Err(EnterError::Expired),
                Attempted::Busy { .. } => return Err(EnterError::Busy),
                // Even a resend that failed for certain says nothing about the first send.
                Attempted::NoAnswer(error) => last = error.to_string(),
            }
        }
    }

    fn ended_as(&self) -> EnterError {
        match self.phase() {
            Phase::Released => EnterError::Released,
            Phase::Held | Phase::Lost(_) | Phase::Pending => EnterError::Expired,
        }
    }

    /// How long a resend of a pending attempt may still take; none when its lease, counted from
    /// the first send, is over.
    pub(super) fn window(&self) -> Option<Duration> {
        let first_sent_ns = self.holding.state().first_sent_ns;
        let lease = self.holding.options.lease();
        let now_ns = self.holding.now_ns();
        let deadline_ns = lease::deadline_ns(first_sent_ns.unwrap_or(now_ns), lease);
        lease::left(deadline_ns, now_ns).map(|left| left.min(lease::command_budget(lease)))
    }

    fn phase(&self) -> Phase {
        let mut state = self.holding.state();
        self.holding.expire(&mut state);
        state.phase
    }

    /// Extends the lease to its full length from now. Without I/O if it is already lost.
    pub async fn renew(&self) -> Renewal {
        self.holding.renew(Command::Renew).await
    }

    /// Gives it back. One bounded try with what we hold, also after a loss; idempotent.
    pub async fn release(&self) -> Release {
        self.holding.release().await
    }

    /// The loss of this grant, to wait for or to select against.
    pub fn lost(&self) -> Lost {
        self.holding.lost().clone()
    }
}

impl Drop for LockHandle {
    fn drop(&mut self) {
        let owed = {
            let state = self.holding.state();
            self.holding.end(&state);
            state.owed
        };
        if owed {
            let holding = Arc::clone(&self.holding);
            let runtime = holding.runtime.clone();
            runtime.spawn(async move { holding.release().await });
        }
    }
}

impl fmt::Debug for LockHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.holding.state();
        f.debug_struct("LockHandle")
            .field("key", &self.holding.name.key)
            .field("owner", &self.holding.digest().0)
            .field("grant", &self.holding.grant().0)
            .field("fencing", &state.fencing)
            .field("phase", &state.phase)
            .finish_non_exhaustive()
    }
}

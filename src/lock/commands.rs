//! The three commands of an attempt or grant: what is decided before each leaves, and what each
//! answer means. The state is never held across an `await`.

use crate::ids::FencingToken;
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::holding::{Holding, Phase};
use crate::lock::lost::LostReason;
use crate::lock::probe::{Command, Reply};
use crate::lock::service::{AcquireAnswer, ReleaseAnswer, RenewAnswer};
use crate::lock::{lease, log, metrics};
use std::time::Duration;
use tokio::time::Instant;

/// Answer to a renewal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Renewal {
    /// The lease runs from anew.
    Renewed,
    /// The lock is lost.
    Lost(LostReason),
    /// May or may not have been renewed; the deadline stands where it stood.
    Unknown(String),
}

/// Answer to a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Release {
    /// It was ours and is gone.
    Released,
    /// There was nothing of ours to give back.
    AlreadyLost,
    /// May or may not have been given back; at worst its lease ends it.
    Unknown(String),
}

/// What became of one acquire command.
#[derive(Debug)]
pub(super) enum Attempted {
    /// Ours.
    Granted,
    /// It was ours, but its lease had ended when the answer came.
    TooLate,
    /// Somebody else's.
    Busy {
        /// For how long yet, if the server knows.
        remaining: Option<Duration>,
    },
    /// No answer.
    NoAnswer(CommandError),
}

impl Holding {
    /// Sends the attempt, or sends it again: the owner token, and so the grant, is the same.
    pub(super) async fn attempt(&self, until: Instant) -> Attempted {
        let (first_sent_ns, resend) = {
            let mut state = self.state();
            let resend = std::mem::replace(&mut state.owed, true);
            let now_ns = self.now_ns();
            let first_sent_ns = *state.first_sent_ns.get_or_insert(now_ns);
            self.tell_sending(Command::Acquire);
            (first_sent_ns, resend)
        };
        let answer = self.answered(until).await;
        log::attempted(self, &answer);
        match answer {
            Ok(AcquireAnswer::Granted { fencing, lease }) => {
                self.granted(first_sent_ns, fencing, lease)
            }
            Ok(AcquireAnswer::Busy { remaining }) => {
                self.state().owed = false;
                self.tell_answer(Command::Acquire, Reply::Busy);
                Attempted::Busy { remaining }
            }
            Err(CommandError::Unknown(_)) if self.has(Flaw::TimeoutMeansBusy) => {
                self.state().owed = false;
                self.tell_answer(Command::Acquire, Reply::Busy);
                Attempted::Busy { remaining: None }
            }
            Err(_) if self.has(Flaw::FailsOpen) => {
                let lease = self.state().lease;
                self.granted(first_sent_ns, None, lease)
            }
            Err(error) => {
                // A resend that failed says nothing about the first send.
                if matches!(error, CommandError::Failed(_)) && !resend {
                    self.state().owed = false;
                }
                self.tell_answer(Command::Acquire, no_answer(&error));
                Attempted::NoAnswer(error)
            }
        }
    }

    fn granted(
        &self,
        first_sent_ns: u64,
        fencing: Option<FencingToken>,
        lease: Duration,
    ) -> Attempted {
        let mut state = self.state();
        let now_ns = self.now_ns();
        let anchor_ns = if self.has(Flaw::DeadlineFromReply) {
            now_ns
        } else {
            first_sent_ns
        };
        state.fencing = fencing;
        state.lease = lease;
        state.granted_at_ns = now_ns;
        state.deadline_ns = lease::deadline_ns(anchor_ns, lease);
        // Released while the answer was on its way: it is not taken up again, and the release
        // that came too early is owed once more.
        state.owed = true;
        if state.phase == Phase::Pending {
            state.phase = Phase::Held;
        }
        let lease_ms = u64::try_from(lease.as_millis()).unwrap_or(u64::MAX);
        self.tell_answer(Command::Acquire, Reply::Granted { fencing, lease_ms });
        // Read anew: whoever was told may have taken his time.
        self.expire(&mut state);
        match state.phase {
            Phase::Held => Attempted::Granted,
            Phase::Pending | Phase::Lost(_) | Phase::Released => Attempted::TooLate,
        }
    }

    /// Extends the lease, if it is still ours by our own clock and by the server.
    pub(super) async fn renew(&self, command: Command) -> Renewal {
        let (sent_ns, until) = {
            let mut state = self.state();
            self.expire(&mut state);
            if let Some(renewal) = not_held(state.phase) {
                return renewal;
            }
            let now_ns = self.now_ns();
            self.tell_sending(command);
            (now_ns, Instant::now() + self.renewal_budget(&state, now_ns))
        };
        let answer = self.context.service.renew(&self.ask(until)).await;
        let took_ns = self.now_ns().saturating_sub(sent_ns);
        log::renewed(self, &answer, Duration::from_nanos(took_ns));
        let answer = match answer {
            Ok(RenewAnswer::Absent | RenewAnswer::Foreign) | Err(_)
                if self.has(Flaw::IgnoresRenewalFailure) =>
            {
                let lease = self.state().lease;
                Ok(RenewAnswer::Renewed { lease })
            }
            sound => sound,
        };
        self.settle_renewal(command, sent_ns, answer)
    }

    fn settle_renewal(
        &self,
        command: Command,
        sent_ns: u64,
        answer: Result<RenewAnswer, CommandError>,
    ) -> Renewal {
        let mut state = self.state();
        let reply = match &answer {
            Ok(RenewAnswer::Renewed { .. }) => Reply::Renewed,
            Ok(RenewAnswer::Absent) => Reply::Lost(LostReason::Absent.to_string()),
            Ok(RenewAnswer::Foreign) => Reply::Lost(LostReason::Foreign.to_string()),
            Err(error) => no_answer(error),
        };
        self.tell_answer(command, reply);
        // An answer that comes after the deadline brings nothing back: the handle has said, or
        // says now, that it is lost.
        self.expire(&mut state);
        if let Some(renewal) = not_held(state.phase) {
            return renewal;
        }
        match answer {
            Ok(RenewAnswer::Renewed { lease }) => {
                state.lease = lease;
                let deadline_ns = lease::deadline_ns(sent_ns, lease);
                state.deadline_ns = state.deadline_ns.max(deadline_ns);
                Renewal::Renewed
            }
            Ok(RenewAnswer::Absent) => {
                self.lose(&mut state, LostReason::Absent);
                Renewal::Lost(LostReason::Absent)
            }
            Ok(RenewAnswer::Foreign) => {
                self.lose(&mut state, LostReason::Foreign);
                Renewal::Lost(LostReason::Foreign)
            }
            Err(error) => Renewal::Unknown(error.to_string()),
        }
    }

    /// Gives it back: one bounded try with what we hold, whatever we believe.
    pub(super) async fn release(&self) -> Release {
        {
            let mut state = self.state();
            let now_ns = self.now_ns();
            self.expire_at(now_ns, &mut state);
            self.end(&state);
            if !state.owed {
                state.phase = Phase::Released;
                return Release::AlreadyLost;
            }
            if state.phase == Phase::Held {
                let held_ns = now_ns.saturating_sub(state.granted_at_ns);
                metrics::held(&self.context.name, held_ns);
            }
            state.phase = Phase::Released;
            self.tell_sending(Command::Release);
        }
        let until = Instant::now() + lease::command_budget(self.options.lease());
        let answer = match self.context.service.release(&self.ask(until)).await {
            Err(_) if self.has(Flaw::SwallowsReleaseError) => Ok(ReleaseAnswer::Released),
            sound => sound,
        };
        let mut state = self.state();
        state.owed = answer.is_err();
        let (reply, release) = match answer {
            Ok(ReleaseAnswer::Released) => (Reply::Released, Release::Released),
            Ok(ReleaseAnswer::NotOurs) => (Reply::AlreadyLost, Release::AlreadyLost),
            Err(error) => (no_answer(&error), Release::Unknown(error.to_string())),
        };
        log::released(self, &state, &release);
        self.tell_answer(Command::Release, reply);
        release
    }
}

/// What a renewal answers when there is nothing to renew.
fn not_held(phase: Phase) -> Option<Renewal> {
    match phase {
        Phase::Held => None,
        Phase::Pending => Some(Renewal::Unknown("not known to be granted".into())),
        Phase::Lost(reason) => Some(Renewal::Lost(reason)),
        Phase::Released => Some(Renewal::Lost(LostReason::Released)),
    }
}

/// How the probe is told of a command without an answer.
pub(super) fn no_answer(error: &CommandError) -> Reply {
    match error {
        CommandError::Failed(why) => Reply::Failed(why.clone()),
        CommandError::Unknown(why) => Reply::Unknown(why.clone()),
    }
}

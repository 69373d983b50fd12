//! One attempt and the grant that it may become: its identity, its state, and the three commands
//! that change it. Every decision is made under one lock, and the probe is told under that lock
//! too, so that the record can never show a renewal that begins after the release, or a release
//! before the loss that preceded it. A probe must therefore not call back into the handle.

use crate::ids::{FencingToken, GrantId, OwnerDigest, OwnerToken};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::lost::{Lost, LostReason};
use crate::lock::manager::Context;
use crate::lock::options::LockOptions;
use crate::lock::probe::{Command, Reply, Signal};
use crate::lock::service::{AcquireAnswer, Ask, LockName, ReleaseAnswer, RenewAnswer};
use crate::lock::{lease, metrics};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not known to be granted.
    Pending,
    /// Granted.
    Held,
    /// Lost, and told.
    Lost(LostReason),
    /// Released by its owner.
    Released,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) phase: Phase,
    /// Something of ours may lie on the server, so a release is owed.
    pub(super) owed: bool,
    pub(super) first_sent_ns: Option<u64>,
    pub(super) granted_at_ns: u64,
    pub(super) deadline_ns: u64,
    pub(super) lease: Duration,
    pub(super) fencing: Option<FencingToken>,
}

/// One attempt or grant; shared by the handle and its tasks.
pub(super) struct Holding {
    pub(super) context: Context,
    pub(super) name: LockName,
    pub(super) options: LockOptions,
    pub(super) owner: OwnerToken,
    pub(super) digest: OwnerDigest,
    pub(super) grant: GrantId,
    pub(super) lost: Lost,
    /// Cancelled by loss, release and drop: ends the tasks of this grant.
    pub(super) ended: CancellationToken,
    state: Mutex<State>,
}

impl Holding {
    pub(super) fn new(
        context: Context,
        name: LockName,
        options: LockOptions,
        (owner, grant): (OwnerToken, GrantId),
    ) -> Holding {
        let state = State {
            phase: Phase::Pending,
            owed: false,
            first_sent_ns: None,
            granted_at_ns: 0,
            deadline_ns: 0,
            lease: options.lease(),
            fencing: None,
        };
        Holding {
            digest: owner.digest(),
            context,
            name,
            options,
            owner,
            grant,
            lost: Lost::default(),
            ended: CancellationToken::new(),
            state: Mutex::new(state),
        }
    }

    /// The state. A panic of a probe while it was held leaves it consistent.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now_ns(&self) -> u64 {
        self.context.clock.now_ns()
    }

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
        let answer = self.context.service.acquire(&self.ask(until)).await;
        metrics::acquired(&self.context.name, &answer);
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
        self.expire(&mut state);
        match state.phase {
            Phase::Held => Attempted::Granted,
            Phase::Pending | Phase::Lost(_) | Phase::Released => Attempted::TooLate,
        }
    }

    /// Extends the lease, if it is still ours by our own clock and by the server.
    pub(super) async fn renew(&self, command: Command, budget: Option<Duration>) -> Renewal {
        let (sent_ns, until) = {
            let mut state = self.state();
            self.expire(&mut state);
            match state.phase {
                Phase::Held => {}
                Phase::Pending => return Renewal::Unknown("not known to be granted".into()),
                Phase::Lost(reason) => return Renewal::Lost(reason),
                Phase::Released => return Renewal::Lost(LostReason::Released),
            }
            let now_ns = self.now_ns();
            let left = lease::left(state.deadline_ns, now_ns).unwrap_or_default();
            self.tell_sending(command);
            let budget = budget.unwrap_or(lease::renewal_budget(state.lease, left));
            (now_ns, Instant::now() + budget.min(left))
        };
        let answer = self.context.service.renew(&self.ask(until)).await;
        metrics::renewed(&self.context.name, &answer, self.now_ns() - sent_ns);
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
        match state.phase {
            Phase::Held => {}
            Phase::Pending => return Renewal::Unknown("not known to be granted".into()),
            Phase::Lost(reason) => return Renewal::Lost(reason),
            Phase::Released => return Renewal::Lost(LostReason::Released),
        }
        match answer {
            Ok(RenewAnswer::Renewed { lease }) => {
                state.lease = lease;
                let deadline_ns = lease::deadline_ns(sent_ns, lease);
                state.deadline_ns = state.deadline_ns.max(deadline_ns);
                Renewal::Renewed
            }
            Ok(RenewAnswer::Absent) => self.lose(&mut state, LostReason::Absent),
            Ok(RenewAnswer::Foreign) => self.lose(&mut state, LostReason::Foreign),
            Err(error) => Renewal::Unknown(error.to_string()),
        }
    }

    /// Gives it back: one bounded try with what we hold, whatever we believe.
    pub(super) async fn release(&self) -> Release {
        {
            let mut state = self.state();
            self.expire(&mut state);
            if !state.owed {
                state.phase = Phase::Released;
                self.ended.cancel();
                return Release::AlreadyLost;
            }
            if state.phase == Phase::Held {
                metrics::held(&self.context.name, self.now_ns() - state.granted_at_ns);
            }
            state.phase = Phase::Released;
            self.ended.cancel();
            self.tell_sending(Command::Release);
        }
        let until = Instant::now() + lease::command_budget(self.options.lease());
        let answer = self.context.service.release(&self.ask(until)).await;
        let mut state = self.state();
        state.owed = answer.is_err();
        let (reply, release) = match answer {
            Ok(ReleaseAnswer::Released) => (Reply::Released, Release::Released),
            Ok(ReleaseAnswer::NotOurs) => (Reply::AlreadyLost, Release::AlreadyLost),
            Err(error) => (no_answer(&error), Release::Unknown(error.to_string())),
        };
        metrics::released(&self.context.name, &release);
        self.tell_answer(Command::Release, reply);
        release
    }

    /// Says Lost if the deadline has passed; true if the grant is over for whatever reason.
    pub(super) fn expire_if_due(&self) -> bool {
        let mut state = self.state();
        self.expire(&mut state);
        !matches!(state.phase, Phase::Held)
    }

    pub(super) fn expire(&self, state: &mut State) {
        if state.phase == Phase::Held && self.now_ns() >= state.deadline_ns {
            self.lose(state, LostReason::Deadline);
        }
    }

    fn lose(&self, state: &mut State, reason: LostReason) -> Renewal {
        state.phase = Phase::Lost(reason);
        metrics::lost(
            &self.context.name,
            reason,
            self.now_ns() - state.granted_at_ns,
        );
        self.context.probe.on(Signal::Lost {
            grant: &self.grant,
            reason: reason.as_str(),
            deadline_ns: state.deadline_ns,
        });
        self.lost.tell(reason);
        self.ended.cancel();
        Renewal::Lost(reason)
    }

    fn ask(&self, until: Instant) -> Ask<'_> {
        Ask {
            name: &self.name,
            owner: &self.owner,
            fencing: self.state().fencing,
            lease: self.options.lease(),
            until,
        }
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.context.service.flaw() == Some(flaw)
    }

    fn tell_sending(&self, command: Command) {
        self.context.probe.on(Signal::Sending {
            command,
            grant: &self.grant,
            owner: &self.digest,
        });
    }

    fn tell_answer(&self, command: Command, answer: Reply) {
        self.context.probe.on(Signal::Answered {
            command,
            grant: &self.grant,
            answer,
        });
    }
}

pub(super) fn no_answer(error: &CommandError) -> Reply {
    match error {
        CommandError::Failed(why) => Reply::Failed(why.clone()),
        CommandError::Unknown(why) => Reply::Unknown(why.clone()),
    }
}

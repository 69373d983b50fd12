//! One attempt and the grant that it may become: its identity, its state, and how it is lost.
//! Every decision is made under one lock, and the probe is told under that lock too, so that the
//! record can never show a renewal that begins after the release, or a release before the loss
//! that preceded it. A probe must therefore not call back into the handle.

use crate::ids::{FencingToken, GrantId, OwnerDigest, OwnerToken};
use crate::lock::flaws::Flaw;
use crate::lock::lease;
use crate::lock::log;
use crate::lock::lost::{Lost, LostReason};
use crate::lock::manager::Context;
use crate::lock::options::LockOptions;
use crate::lock::over::Over;
use crate::lock::probe::{Command, Reply, Signal};
use crate::lock::service::{Ask, LockName};
use crate::lock::source::Identity;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::Instant;

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
    /// When the next renewal is due; none if there is none or it is on its way.
    pub(super) next_renewal_ns: Option<u64>,
    /// Where it stands in the keeper's timetable.
    pub(super) due_ns: u64,
}

/// One attempt or grant; shared by the handle and its tasks.
pub(super) struct Holding {
    pub(super) context: Arc<Context>,
    /// Where its timer, its renewals and the release of a dropped handle run.
    pub(super) runtime: Handle,
    pub(super) name: LockName,
    pub(super) options: LockOptions,
    pub(super) owner: OwnerToken,
    /// Made when somebody asks: most locks are taken and given back without.
    digest: OnceLock<OwnerDigest>,
    grant: OnceLock<GrantId>,
    /// Made when somebody asks.
    lost: OnceLock<Lost>,
    /// Told by loss, release and drop: ends a renewal or an `enter` on its way.
    pub(super) ended: Over,
    state: Mutex<State>,
}

impl Holding {
    pub(super) fn new(
        context: Arc<Context>,
        name: LockName,
        options: LockOptions,
        identity: Identity,
    ) -> Holding {
        let state = State {
            phase: Phase::Pending,
            owed: false,
            first_sent_ns: None,
            granted_at_ns: 0,
            deadline_ns: 0,
            lease: options.lease(),
            fencing: None,
            next_renewal_ns: None,
            due_ns: 0,
        };
        Holding {
            context,
            runtime: Handle::current(),
            name,
            options,
            owner: identity.owner,
            digest: OnceLock::new(),
            grant: identity.grant.map_or_else(OnceLock::new, OnceLock::from),
            lost: OnceLock::new(),
            ended: Over::default(),
            state: Mutex::new(state),
        }
    }

    /// Digest of the owner token.
    pub(super) fn digest(&self) -> &OwnerDigest {
        self.digest.get_or_init(|| self.owner.digest())
    }

    /// The attempt's id.
    pub(super) fn grant(&self) -> &GrantId {
        self.grant.get_or_init(|| GrantId(self.digest().0.clone()))
    }

    /// The loss of this grant, told or not.
    pub(super) fn lost(&self) -> &Lost {
        self.lost.get_or_init(Lost::default)
    }

    /// The state. A panic of a probe while it was held leaves it consistent.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now_ns(&self) -> u64 {
        self.context.clock.now_ns()
    }

    /// Says Lost if the deadline has passed; true if the grant is over for whatever reason.
    pub(super) fn expire_if_due(&self) -> bool {
        let mut state = self.state();
        self.expire(&mut state);
        !matches!(state.phase, Phase::Held)
    }

    pub(super) fn expire(&self, state: &mut State) {
        self.expire_at(self.now_ns(), state);
    }

    /// Says Lost if the deadline had passed at a time that was read a moment ago.
    pub(super) fn expire_at(&self, now_ns: u64, state: &mut State) {
        if state.phase == Phase::Held && now_ns >= self.told_by_ns(state) {
            self.lose(state, LostReason::Deadline);
        }
    }

    /// How long one try of a renewal may take.
    pub(super) fn renewal_budget(&self, state: &State, now_ns: u64) -> Duration {
        /// No time-out: an hour is longer than any drill.
        const FOR_EVER: Duration = Duration::from_secs(3_600);
        if self.has(Flaw::UnboundedRenewal) {
            return FOR_EVER;
        }
        let left = lease::left(state.deadline_ns, now_ns).unwrap_or_default();
        lease::renewal_budget(state.lease, left)
    }

    /// When Lost is said, if nothing comes before.
    pub(super) fn told_by_ns(&self, state: &State) -> u64 {
        let renews = self.options.renewal_interval().is_some();
        let on_its_way = renews && state.next_renewal_ns.is_none();
        match on_its_way && self.has(Flaw::UnboundedRenewal) {
            true => u64::MAX,
            false => state.deadline_ns,
        }
    }

    pub(super) fn lose(&self, state: &mut State, reason: LostReason) {
        state.phase = Phase::Lost(reason);
        log::lost(self, state, reason);
        self.context.probe.on(Signal::Lost {
            grant: self.grant(),
            reason: reason.as_str(),
            deadline_ns: state.deadline_ns,
        });
        self.lost().tell(reason);
        self.end(state);
    }

    /// Nothing is renewed or timed any more.
    pub(super) fn end(&self, state: &State) {
        self.ended.tell();
        self.context.keeper.forget(self, state.due_ns);
    }

    /// Sets the time of the next renewal.
    pub(super) fn renew_after(&self, pause: Duration) {
        let pause_ns = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
        self.state().next_renewal_ns = Some(self.now_ns().saturating_add(pause_ns));
    }

    pub(super) fn ask(&self, until: Instant) -> Ask<'_> {
        Ask {
            name: &self.name,
            owner: &self.owner,
            fencing: self.state().fencing,
            lease: self.options.lease(),
            until,
        }
    }

    pub(super) fn has(&self, flaw: Flaw) -> bool {
        self.context.service.flaw() == Some(flaw)
    }

    pub(super) fn tell_sending(&self, command: Command) {
        if self.context.probe.listens() {
            self.context.probe.on(Signal::Sending {
                command,
                grant: self.grant(),
                owner: self.digest(),
            });
        }
    }

    pub(super) fn tell_answer(&self, command: Command, answer: Reply) {
        if self.context.probe.listens() {
            self.context.probe.on(Signal::Answered {
                command,
                grant: self.grant(),
                answer,
            });
        }
    }
}

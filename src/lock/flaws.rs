//! Named defects, built in on purpose: each is one statement away from the sound code, goes
//! unnoticed in a fault-free run, and does damage only under a fault or a crowd. They prove that the checks
//! can see what they claim to see. Never reachable unless asked for by name.

use crate::lock::backends;

/// One named defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// Release deletes without comparing the owner.
    BlindRelease,
    /// Renewal extends without comparing the owner.
    BlindRenew,
    /// Renewal creates a vanished key again.
    RenewRecreates,
    /// The lease is set by a second command.
    SetThenPexpire,
    /// The fencing token is minted by a second command.
    FenceAfterSet,
    /// The deadline is counted from the arrival of the reply.
    DeadlineFromReply,
    /// An acquire without an answer is told as busy.
    TimeoutMeansBusy,
    /// A failed or refused renewal counts as renewed.
    IgnoresRenewalFailure,
    /// A renewal has no time-out, and its holder watches nothing else meanwhile; of several servers
    /// it waits for each.
    UnboundedRenewal,
    /// A release that failed is told as done.
    SwallowsReleaseError,
    /// A script that the server has forgotten is not sent again.
    EvalshaOnly,
    /// An acquire that was not answered counts as granted.
    FailsOpen,
    /// A waiter asks again every millisecond.
    HotPoll,
    /// Deadlines are counted on the wall clock.
    WallClockDeadline,
    /// The fencing token is the counter alone, without the failover's epoch.
    PlainCounter,
    /// A quorum is counted among the servers that answered.
    QuorumOfAnswers,
    /// Servers are asked one after another, each for as long as the whole command may take.
    OneByOne,
    /// The server does not end a session that is silent.
    NoIdleTimeout,
}

/// Every flaw.
pub const ALL: &[Flaw] = &[
    Flaw::BlindRelease,
    Flaw::BlindRenew,
    Flaw::RenewRecreates,
    Flaw::SetThenPexpire,
    Flaw::FenceAfterSet,
    Flaw::DeadlineFromReply,
    Flaw::TimeoutMeansBusy,
    Flaw::IgnoresRenewalFailure,
    Flaw::UnboundedRenewal,
    Flaw::SwallowsReleaseError,
    Flaw::EvalshaOnly,
    Flaw::FailsOpen,
    Flaw::HotPoll,
    Flaw::WallClockDeadline,
    Flaw::PlainCounter,
    Flaw::QuorumOfAnswers,
    Flaw::OneByOne,
    Flaw::NoIdleTimeout,
];

impl Flaw {
    /// Name in experiment files.
    pub const fn name(self) -> &'static str {
        match self {
            Flaw::BlindRelease => "blind_release",
            Flaw::BlindRenew => "blind_renew",
            Flaw::RenewRecreates => "renew_recreates",
            Flaw::SetThenPexpire => "set_then_pexpire",
            Flaw::FenceAfterSet => "fence_after_set",
            Flaw::DeadlineFromReply => "deadline_from_reply",
            Flaw::TimeoutMeansBusy => "timeout_means_busy",
            Flaw::IgnoresRenewalFailure => "ignores_renewal_failure",
            Flaw::UnboundedRenewal => "unbounded_renewal",
            Flaw::SwallowsReleaseError => "swallows_release_error",
            Flaw::EvalshaOnly => "evalsha_only",
            Flaw::FailsOpen => "fails_open",
            Flaw::HotPoll => "hot_poll",
            Flaw::WallClockDeadline => "wall_clock_deadline",
            Flaw::PlainCounter => "plain_counter",
            Flaw::QuorumOfAnswers => "quorum_of_answers",
            Flaw::OneByOne => "one_by_one",
            Flaw::NoIdleTimeout => "no_idle_timeout",
        }
    }

    /// One line for `list flaws`.
    pub const fn summary(self) -> &'static str {
        match self {
            Flaw::BlindRelease => {
                "release deletes the key without comparing the owner: a late release frees the successor's lock"
            }
            Flaw::BlindRenew => {
                "renewal extends the lease without comparing the owner: a late renewal extends the successor's lock and counts as its own"
            }
            Flaw::RenewRecreates => {
                "renewal creates a vanished key again: a lock that was lost comes back under a holder that never re-acquired it"
            }
            Flaw::SetThenPexpire => {
                "the lease is set by a second command: a crash in between leaves a lock that never ends"
            }
            Flaw::FenceAfterSet => {
                "the fencing token is minted by a second command: a holder delayed in between gets a newer token than its successor"
            }
            Flaw::DeadlineFromReply => {
                "the deadline is counted from the reply: a slow reply lets the holder believe beyond its lease"
            }
            Flaw::TimeoutMeansBusy => {
                "an acquire without an answer is told as busy: the lock may be ours and nobody knows"
            }
            Flaw::IgnoresRenewalFailure => {
                "a renewal that failed counts as renewed: the holder believes for as long as it likes"
            }
            Flaw::UnboundedRenewal => {
                "a renewal has no time-out and the holder waits for it, of several servers for each: one that hangs keeps the loss from being told"
            }
            Flaw::SwallowsReleaseError => {
                "a release that failed is told as done: the lock stays until its lease ends and nobody knows why"
            }
            Flaw::FailsOpen => {
                "an acquire without an answer counts as granted: when the lock service is down, everybody works"
            }
            Flaw::EvalshaOnly => {
                "a script that the server has forgotten is not sent again: after its restart no lock can be taken"
            }
            Flaw::HotPoll => {
                "a waiter asks again every millisecond instead of waiting to be woken: many waiters swamp the server"
            }
            Flaw::WallClockDeadline => {
                "the deadline is counted on the wall clock: when that is set back the holder believes beyond its lease, when it is set forwards it gives up too early"
            }
            Flaw::PlainCounter => {
                "the fencing token is the counter alone, without the failover's epoch: a failover that loses the counter gives a token a second time"
            }
            Flaw::QuorumOfAnswers => {
                "a majority of the servers that answered counts as a quorum: two clients that reach different servers are both granted"
            }
            Flaw::OneByOne => {
                "the servers are asked one after another, each for as long as the whole command may take: one that hangs keeps the others from being asked"
            }
            Flaw::NoIdleTimeout => {
                "the server ends no session for its silence: one whose client sleeps or is out of reach keeps its lock for ever"
            }
        }
    }

    /// What a sound lock does in its place.
    pub const fn instead(self) -> &'static str {
        match self {
            Flaw::BlindRelease => "that a release compares the owner",
            Flaw::BlindRenew => "that a renewal compares the owner",
            Flaw::RenewRecreates => "that a renewal brings no vanished key back",
            Flaw::SetThenPexpire => "that key and lease are set by one command",
            Flaw::FenceAfterSet => "that key and fencing token are made by one command",
            Flaw::DeadlineFromReply => "that the deadline counts from before the request was sent",
            Flaw::TimeoutMeansBusy => "that an acquire without an answer is told as unknown",
            Flaw::IgnoresRenewalFailure => "that a failed renewal is no renewal",
            Flaw::UnboundedRenewal => "a time-out on each renewal",
            Flaw::SwallowsReleaseError => "that a failed release is told as one",
            Flaw::EvalshaOnly => "that a forgotten script is sent again",
            Flaw::FailsOpen => "that an acquire without an answer is no grant",
            Flaw::HotPoll => "that a waiter waits to be woken",
            Flaw::WallClockDeadline => "that deadlines are counted on a clock that nobody sets",
            Flaw::PlainCounter => "the failover's epoch in front of the fencing token",
            Flaw::QuorumOfAnswers => "that a quorum is counted among all servers",
            Flaw::OneByOne => "that the servers are asked side by side",
            Flaw::NoIdleTimeout => "that the server ends a session that is silent for a lease",
        }
    }

    /// The flaw of that name.
    pub fn named(name: &str) -> Option<Flaw> {
        ALL.iter().copied().find(|flaw| flaw.name() == name)
    }

    /// Names of the back ends that it can be built into.
    pub fn backends(self) -> impl Iterator<Item = &'static str> {
        backends::ALL
            .iter()
            .filter(move |kind| kind.takes(self))
            .map(|kind| kind.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flaw_is_found_by_its_name_and_fits_some_back_end() {
        for flaw in ALL {
            assert_eq!(Flaw::named(flaw.name()), Some(*flaw));
            assert!(
                flaw.backends().next().is_some(),
                "{} fits none",
                flaw.name()
            );
            assert!(!flaw.summary().is_empty() && !flaw.instead().is_empty());
        }
        assert_eq!(Flaw::named("no_such_flaw"), None);
    }

    #[test]
    fn flaws_above_the_back_end_fit_every_back_end() {
        for kind in backends::ALL {
            for flaw in [
                Flaw::DeadlineFromReply,
                Flaw::TimeoutMeansBusy,
                Flaw::IgnoresRenewalFailure,
                Flaw::UnboundedRenewal,
                Flaw::SwallowsReleaseError,
                Flaw::FailsOpen,
                Flaw::HotPoll,
                Flaw::WallClockDeadline,
            ] {
                assert!(kind.takes(flaw), "{} lacks {}", kind.name, flaw.name());
            }
        }
    }
}

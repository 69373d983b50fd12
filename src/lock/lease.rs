//! The holder's own arithmetic of a lease, pure. Every rounding errs towards *earlier*: a holder
//! that stops too early costs time, one that stops too late costs data.
//!
//! Times are nanoseconds on the manager's clock.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

const MS: u64 = 1_000_000;

/// What our clock and the server's may drift apart during one lease: one per cent, and up to two
/// milliseconds for the grain of the server's clock.
fn drift_ns(lease_ns: u64) -> u64 {
    lease_ns / 100 + (lease_ns / 10).min(2 * MS)
}

/// When the holder stops believing: counted from before the command was first sent, because the
/// server may have begun the lease at any moment since.
pub(super) fn deadline_ns(first_sent_ns: u64, lease: Duration) -> u64 {
    let lease_ns = nanos(lease);
    first_sent_ns.saturating_add(lease_ns - drift_ns(lease_ns))
}

/// The same of a grant that a record tells of: when a holder that is honest stops believing, if it
/// sent the last request that was granted at `first_sent_ns`, in nanoseconds of that record's clock.
pub fn own_deadline_ns(first_sent_ns: u64, lease_ms: u64) -> u64 {
    deadline_ns(first_sent_ns, Duration::from_millis(lease_ms))
}

/// When work should be wrapped up: a tenth of the lease before the deadline.
pub(super) fn stop_by_ns(deadline_ns: u64, lease: Duration) -> u64 {
    deadline_ns.saturating_sub(nanos(lease) / 10)
}

/// How long one acquire or release may take: half the lease, within 50 ms and 5 s. A later answer
/// would leave too little of the lease to be worth having.
pub(super) fn command_budget(lease: Duration) -> Duration {
    (lease / 2).clamp(Duration::from_millis(50), Duration::from_secs(5))
}

/// How long one try of a renewal may take: a quarter of the lease, so that a lost reply leaves
/// room for another try, but never beyond what is left.
pub(super) fn renewal_budget(lease: Duration, left: Duration) -> Duration {
    (lease / 4)
        .clamp(Duration::from_millis(10), Duration::from_secs(5))
        .min(left)
}

/// Pause before a failed renewal is tried again: a tenth of the interval, within 5 and 250 ms.
pub(super) fn retry_pause(interval: Duration, jitter: f64) -> Duration {
    (interval / 10)
        .clamp(Duration::from_millis(5), Duration::from_millis(250))
        .mul_f64(0.5 + jitter / 2.0)
}

/// Pause until the next renewal: between nine tenths of the interval and all of it, so that
/// handles which were granted together do not renew together. `jitter` is in 0..1.
pub(super) fn renewal_pause(interval: Duration, jitter: f64) -> Duration {
    interval.mul_f64(1.0 - jitter / 10.0)
}

/// What is left until a deadline, none if it has passed.
pub(super) fn left(deadline_ns: u64, now_ns: u64) -> Option<Duration> {
    (now_ns < deadline_ns).then(|| Duration::from_nanos(deadline_ns - now_ns))
}

/// A random number in 0..1. Jitter guards nothing, so the hasher's random keys, which change with
/// each use, will do, without a call to the operating system.
pub(super) fn jitter() -> f64 {
    let roll = RandomState::new().build_hasher().finish() >> 32;
    f64::from(u32::try_from(roll).unwrap_or(0)) / (f64::from(u32::MAX) + 1.0)
}

/// Whole nanoseconds; a lease is at most 365 days and fits.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_deadline_lies_within_the_lease(sent in 0..u64::MAX / 2, ms in 1..31_536_000_000_u64) {
            let lease = Duration::from_millis(ms);
            let deadline = deadline_ns(sent, lease);
            prop_assert!(deadline > sent, "some of the lease is left");
            prop_assert!(deadline < sent + ms * MS, "the drift is taken off");
            prop_assert!(deadline - sent >= ms * MS / 2, "not more than half is taken off");
            prop_assert!(stop_by_ns(deadline, lease) < deadline);
        }

        #[test]
        fn a_later_first_send_never_gives_an_earlier_deadline(a in 0..u64::MAX / 4, by in 0..1_000_000_u64, ms in 1..100_000_u64) {
            let lease = Duration::from_millis(ms);
            prop_assert!(deadline_ns(a + by, lease) >= deadline_ns(a, lease));
        }

        #[test]
        fn pauses_stay_in_their_bounds(ms in 1..100_000_u64, roll in 0.0..1.0_f64) {
            let interval = Duration::from_millis(ms);
            prop_assert!(renewal_pause(interval, roll) <= interval);
            prop_assert!(renewal_pause(interval, roll) >= interval.mul_f64(0.89));
            prop_assert!(retry_pause(interval, roll) <= Duration::from_millis(250));
        }

        #[test]
        fn a_renewal_try_never_outlives_the_lease(ms in 1..100_000_u64, left in 0..100_000_u64) {
            let left = Duration::from_millis(left);
            prop_assert!(renewal_budget(Duration::from_millis(ms), left) <= left);
        }
    }

    #[test]
    fn a_deadline_that_is_reached_has_passed() {
        assert_eq!(left(10, 10), None);
        assert_eq!(left(10, 9), Some(Duration::from_nanos(1)));
    }

    #[test]
    fn jitter_is_spread_over_zero_to_one() {
        let rolls: Vec<_> = (0..1_000).map(|_| jitter()).collect();
        assert!(rolls.iter().all(|roll| (0.0..1.0).contains(roll)));
        let low = rolls.iter().filter(|roll| **roll < 0.5).count();
        assert!((400..600).contains(&low), "{low} of 1000 in the lower half");
    }
}

//! What a caller asks of one lock: the lease, how often it is renewed, and on how many replicas a
//! grant must be. Refused before any I/O;
//! an infinite lease cannot be said.

use crate::lock::error::OptionsError;
use std::time::Duration;

/// Longest lease: whatever is longer is a lock that nobody ever gets back.
const LEASE_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Lease, renewal and copies of one lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockOptions {
    lease: Duration,
    renewal_interval: Option<Duration>,
    copies: u64,
}

impl LockOptions {
    /// `lease` is rounded up to whole milliseconds. `None` or zero as interval means that nothing
    /// is renewed by itself.
    ///
    /// # Errors
    /// A lease below 1 ms or above 365 days; an interval not below the lease.
    pub fn new(
        lease: Duration,
        renewal_interval: Option<Duration>,
    ) -> Result<LockOptions, OptionsError> {
        if lease < Duration::from_millis(1) {
            return Err(OptionsError::LeaseTooShort(lease));
        }
        if lease > LEASE_MAX {
            return Err(OptionsError::LeaseTooLong(lease));
        }
        let renewal_interval = renewal_interval.filter(|interval| !interval.is_zero());
        if let Some(interval) = renewal_interval.filter(|interval| *interval >= lease) {
            return Err(OptionsError::IntervalNotBelowLease { interval, lease });
        }
        Ok(LockOptions {
            lease: whole_ms(lease),
            renewal_interval,
            copies: 0,
        })
    }

    /// A grant counts only when so many replicas have said that they have it; else it is given back
    /// and told as failed. 0, the default, asks nobody.
    ///
    /// Fewer than all replicas are not enough: the one that takes over may be another. And all of
    /// them are not enough either for a former primary that does not know that it was replaced.
    #[must_use]
    pub const fn with_copies(mut self, copies: u64) -> LockOptions {
        self.copies = copies;
        self
    }

    /// On how many replicas a grant must be.
    pub const fn copies(&self) -> u64 {
        self.copies
    }

    /// The requested lease, in whole milliseconds.
    pub const fn lease(&self) -> Duration {
        self.lease
    }

    /// How often the lease is renewed by itself, if at all.
    pub const fn renewal_interval(&self) -> Option<Duration> {
        self.renewal_interval
    }
}

/// Up, never down: a lease cut to zero would delete the key on some servers.
fn whole_ms(lease: Duration) -> Duration {
    let up = lease.as_nanos().div_ceil(1_000_000);
    // LEASE_MAX is far below u64::MAX milliseconds.
    Duration::from_millis(u64::try_from(up).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_lease_is_at_least_a_millisecond_and_never_endless() {
        for bad in [Duration::ZERO, Duration::from_micros(999)] {
            assert_eq!(
                LockOptions::new(bad, None),
                Err(OptionsError::LeaseTooShort(bad))
            );
        }
        assert!(LockOptions::new(MS, None).is_ok());
        assert_eq!(
            LockOptions::new(Duration::MAX, None),
            Err(OptionsError::LeaseTooLong(Duration::MAX))
        );
    }

    #[test]
    fn the_renewal_interval_is_below_the_lease() {
        let lease = 100 * MS;
        for interval in [lease, lease + MS] {
            assert_eq!(
                LockOptions::new(lease, Some(interval)),
                Err(OptionsError::IntervalNotBelowLease { interval, lease })
            );
        }
        let options = LockOptions::new(lease, Some(99 * MS)).unwrap();
        assert_eq!(options.renewal_interval(), Some(99 * MS));
    }

    #[test]
    fn no_interval_and_zero_both_mean_no_renewal() {
        for interval in [None, Some(Duration::ZERO)] {
            let options = LockOptions::new(100 * MS, interval).unwrap();
            assert_eq!(options.renewal_interval(), None);
        }
    }

    #[test]
    fn a_broken_millisecond_is_rounded_up() {
        let options = LockOptions::new(Duration::from_micros(1_001), None).unwrap();
        assert_eq!(options.lease(), 2 * MS);
    }
}

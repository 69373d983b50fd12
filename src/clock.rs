//! The only reader of clocks.
//!
//! Lab time (events, verdicts) is `CLOCK_MONOTONIC`, which every process of a host shares. The
//! lock core's deadlines run on `CLOCK_BOOTTIME`, which also counts suspend: a lease goes on
//! while a laptop sleeps. Wall clock is never used for a duration.

use nix::time::{ClockId, clock_gettime};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_ns() -> u64 {
    read(ClockId::CLOCK_MONOTONIC)
}

/// `CLOCK_BOOTTIME` in nanoseconds: monotonic time that goes on during suspend.
pub fn boottime_ns() -> u64 {
    read(ClockId::CLOCK_BOOTTIME)
}

/// `CLOCK_REALTIME` in nanoseconds since the Unix epoch; for names and labels, never durations.
pub fn wall_ns() -> u64 {
    read(ClockId::CLOCK_REALTIME)
}

fn read(id: ClockId) -> u64 {
    // clock_gettime fails only for an unknown clock or a bad pointer; neither can happen here.
    let time = clock_gettime(id).expect("the kernel knows the three POSIX clocks");
    let seconds = u64::try_from(time.tv_sec()).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec()).unwrap_or(0);
    seconds * 1_000_000_000 + nanos
}

/// Where the lock core gets its time from; replaced in tests.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Nanoseconds since an arbitrary fixed point; never goes back.
    fn now_ns(&self) -> u64;
}

/// The real clock: `CLOCK_BOOTTIME`.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        boottime_ns()
    }
}

/// A clock that moves only when told to.
#[derive(Debug, Clone, Default)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let by_ns = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.0.fetch_add(by_ns, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

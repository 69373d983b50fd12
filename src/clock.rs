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

/// How far `CLOCK_BOOTTIME` is ahead of `CLOCK_MONOTONIC`, ns.
///
/// The two clocks cannot be read at once; the least of several differences is the one that the
/// fewest interruptions made larger.
pub fn boot_ahead_ns() -> u64 {
    let differences = (0..5).map(|_| {
        let monotonic = monotonic_ns();
        boottime_ns().saturating_sub(monotonic)
    });
    differences.min().unwrap_or_default()
}

/// `CLOCK_REALTIME` in nanoseconds since the Unix epoch; for names and labels, never durations.
pub fn wall_ns() -> u64 {
    read(ClockId::CLOCK_REALTIME)
}

/// How far `CLOCK_REALTIME` is ahead of `CLOCK_MONOTONIC`, ns: what turns a wall clock time of this
/// host into a monotonic one. Both are slewed alike, so it changes only when somebody sets the
/// wall clock or the host was suspended.
pub fn wall_ahead_ns() -> u64 {
    let reading = || {
        let before = monotonic_ns();
        let wall = wall_ns();
        let after = monotonic_ns();
        let width = after.saturating_sub(before);
        (width, wall.saturating_sub(before.saturating_add(width / 2)))
    };
    // We may be kept from running between two readings: the narrowest of a few is the best.
    let narrowest = (0..8).map(|_| reading()).min();
    narrowest.map_or(0, |(_, ahead)| ahead)
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

/// The wrong clock for a deadline: `CLOCK_REALTIME`, which jumps whenever somebody sets it. Shows
/// what [`SystemClock`] shows until then, so that times of the two can stand side by side.
#[derive(Debug, Clone, Copy)]
pub struct WallClock {
    begun_ns: u64,
    wall_ns: u64,
}

impl Default for WallClock {
    fn default() -> Self {
        WallClock {
            begun_ns: boottime_ns(),
            wall_ns: wall_ns(),
        }
    }
}

impl Clock for WallClock {
    fn now_ns(&self) -> u64 {
        let passed = i128::from(wall_ns()) - i128::from(self.wall_ns);
        u64::try_from(i128::from(self.begun_ns) + passed).unwrap_or(0)
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

//! Times that a store's server told by its wall clock, as lab time.
//!
//! The distance between `CLOCK_REALTIME` and `CLOCK_MONOTONIC` is read when the store is created; so
//! server and lab share a host. If the wall clock was set since, the log cannot be told in lab time,
//! and reading it is an error rather than a guess.

use crate::clock;

/// The wall clock counts as set if it moved by more than this against the monotonic clock, ns.
const SET_NS: u64 = 1_000_000;

/// How far the wall clock was ahead of the monotonic clock, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WallAhead(pub(super) u64);

impl WallAhead {
    /// As it is now.
    pub(super) fn now() -> WallAhead {
        WallAhead(clock::wall_ahead_ns())
    }

    /// It still is.
    ///
    /// # Errors
    /// By how much the wall clock was set since.
    pub(super) fn holds(self) -> Result<(), String> {
        let moved = clock::wall_ahead_ns().abs_diff(self.0);
        if moved <= SET_NS {
            return Ok(());
        }
        Err(format!(
            "the wall clock was set by {moved} ns while the store was in use: its times are lost"
        ))
    }

    /// A time of the wall clock, ns since 1970, as lab time; `zero_ns` is `CLOCK_MONOTONIC` of lab
    /// time 0.
    pub(super) fn lab_ns(self, wall_ns: u64, zero_ns: u64) -> u64 {
        wall_ns.saturating_sub(self.0.saturating_add(zero_ns))
    }
}

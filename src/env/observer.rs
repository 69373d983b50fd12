//! What the observers of different servers have in common.

use crate::clock::{monotonic_ns, wall_ns};
use crate::env::error::EnvError;
use std::fmt;

/// Where to look when a server does not answer its observer.
pub const LOG: &str = "see the server's log in the run directory";

/// Why an observer's question has no answer.
pub fn failed(error: &dyn fmt::Display) -> EnvError {
    EnvError::new(format!("the observer's question failed: {error}"), LOG)
}

/// The wall clock of this host, which is that of a server which tells none of its own, between two
/// readings of ours: (before ns, after ns, µs). It ends no lease there, and no deadline is told.
pub fn host_clock() -> (u64, u64, u64) {
    let before = monotonic_ns();
    let wall = wall_ns() / 1_000;
    (before, monotonic_ns(), wall)
}

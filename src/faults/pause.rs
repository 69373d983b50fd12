//! `pause`: the holder is stopped with its whole process group and woken later.
//!
//! A stop is asynchronous (measured: 2 ms until every thread is in state T), takes one process
//! only unless the group is signalled, and a quick continue-and-stop between two looks shows only
//! in the scheduler's run time. The record therefore holds every thread's state and run time at
//! both ends.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "pause",
    summary: "SIGSTOP of the target's whole process group until the heal, then SIGCONT",
    hits: Hits::Worker,
    onset: &[Action::StopGroup],
    heal: &[Action::ContinueGroup],
    must_outlast_lease: true,
};

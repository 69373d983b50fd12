//! `jump-clock`: the wall clock of one process is set forwards or back, as an administrator, a wrong
//! time server or a virtual machine that was moved does it. Clocks that only run forwards are left
//! alone: whoever counts a lease on one of those notices nothing.
//!
//! The machine's clock and every other process keep theirs. What shows the jump is what the target
//! says when it is asked for the time.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "jump-clock",
    summary: "the wall clock of the target alone jumps, forwards or back, until the heal sets it right",
    hits: Hits::Process,
    onset: &[Action::JumpClock],
    heal: &[Action::JumpBack],
    must_outlast_lease: false,
};

//! `terminate`: the worker is asked to end, as a service manager does before it kills. What it does
//! then is the worker's own (`on_sigterm`); whether it ended is on the record.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "terminate",
    summary: "SIGTERM to the target; what it does then is its own `on_sigterm`",
    hits: Hits::Worker,
    onset: &[Action::Terminate],
    heal: &[],
    must_outlast_lease: false,
};

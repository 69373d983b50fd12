//! `counter-reset`: the fencing counter is lost (evicted, cleaned up by hand, forgotten by a
//! migration) while the lock stands.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "counter-reset",
    summary: "the lock's fencing counter is deleted on the server",
    hits: Hits::Server,
    onset: &[Action::Ask(&["DEL", "{counter}"]), Action::AwaitForgotten],
    heal: &[],
    must_outlast_lease: false,
};

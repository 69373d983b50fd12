//! `flush`: everything on the server is deleted, locks and counters alike.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "flush",
    summary: "FLUSHALL on the server",
    hits: Hits::Server,
    onset: &[Action::Ask(&["FLUSHALL"]), Action::AwaitForgotten],
    heal: &[],
    must_outlast_lease: false,
};

//! `kill-session`: the lock server ends the sessions of a worker, as an administrator does, a pooler,
//! or a time-out. The worker goes on, and is told when it says something next.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "kill-session",
    summary: "the lock server ends every session of the target (pg_terminate_backend)",
    hits: Hits::Worker,
    onset: &[Action::EndSessions],
    heal: &[],
    must_outlast_lease: false,
};

//! `stop-server`: a stopped server is worse than a dead one. The kernel goes on taking connections
//! and bytes for it, and everything that was sent is executed when it wakes, with a full lease,
//! even if the sender has long given up.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "stop-server",
    summary: "SIGSTOP of the server until the heal: it still takes connections, and executes later what it was sent",
    hits: Hits::Server,
    onset: &[Action::StopGroup],
    heal: &[Action::ContinueGroup],
    must_outlast_lease: false,
};

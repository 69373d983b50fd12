//! `kill-server`: the server dies without a word, and comes back at the heal with what it had on
//! disk: everything, the last second missing, or nothing, as `lock.persist` says.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "kill-server",
    summary: "SIGKILL of the server; at the heal it is started again on what it left on disk",
    hits: Hits::Server,
    onset: &[Action::KillGroup, Action::AwaitNobody],
    heal: &[Action::StartServer],
    must_outlast_lease: false,
};

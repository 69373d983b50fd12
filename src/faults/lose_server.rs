//! `lose-server`: the server dies without a word and does not come back. What it alone knew is
//! gone with it; of several servers another takes over.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "lose-server",
    summary: "SIGKILL of the server, of several the one that takes writes; it does not come back",
    hits: Hits::Server,
    onset: &[Action::KillGroup],
    heal: &[],
    must_outlast_lease: false,
};

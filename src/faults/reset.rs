//! `reset`: a partition as a rejecting firewall or a killed proxy makes it: sockets break at once,
//! new ones are refused. The worker knows at once, which is why this and `cut` give opposite results.

use super::{FaultKind, Hits};
use crate::env::action::{Action, Harm};

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "reset",
    summary: "the target's connections are reset and new ones refused, until the heal",
    hits: Hits::Edge,
    onset: &[Action::Injure(Harm::Reset)],
    heal: &[Action::Mend],
    must_outlast_lease: false,
};

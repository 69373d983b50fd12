//! `cut`: a partition as a firewall or a dead switch makes it: packets vanish both ways, sockets
//! stay open, and nobody is told. Only deadlines of one's own end the waiting.

use super::{FaultKind, Hits};
use crate::env::action::{Action, Harm};
use crate::env::edge::Way;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "cut",
    summary: "nothing gets through the target's edge either way, and nobody is told, until the heal",
    hits: Hits::Edge,
    onset: &[Action::Injure(Harm::Silence(Way::Both))],
    heal: &[Action::Mend],
    must_outlast_lease: false,
};

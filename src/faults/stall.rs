//! `stall`: what is sent is held on the way and arrives at the heal: a stalled connection, not a
//! partition. A request may take effect long after its sender gave up.

use super::{FaultKind, Hits};
use crate::env::action::{Action, Harm};

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "stall",
    summary: "what flows through the target's edge is held, and arrives at the heal",
    hits: Hits::Edge,
    onset: &[Action::Injure(Harm::Stall)],
    heal: &[Action::Mend],
    must_outlast_lease: false,
};

//! `hold-request`: one chosen request arrives late, overtaken by others.

use super::{FaultKind, Hits};
use crate::env::action::{Action, Harm};

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "hold-request",
    summary: "one chosen request of the target is held on its way, and arrives at the heal",
    hits: Hits::Edge,
    onset: &[Action::Injure(Harm::HoldRequest)],
    heal: &[Action::Mend],
    must_outlast_lease: false,
};

//! `lose-request`: one chosen request never arrives.

use super::{FaultKind, Hits};
use crate::env::action::{Action, Harm};

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "lose-request",
    summary: "one chosen request of the target is lost",
    hits: Hits::Edge,
    onset: &[Action::Injure(Harm::LoseRequest)],
    heal: &[Action::Mend],
    must_outlast_lease: false,
};

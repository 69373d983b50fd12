//! `cut-requests`: what the worker sends vanishes. Nothing is executed.

use super::{FaultKind, Hits};
use crate::env::action::{Action, Harm};
use crate::env::edge::Way;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "cut-requests",
    summary: "what the target sends vanishes on the way to the server, until the heal",
    hits: Hits::Edge,
    onset: &[Action::Injure(Harm::Silence(Way::ToServer))],
    heal: &[Action::Mend],
    must_outlast_lease: false,
};

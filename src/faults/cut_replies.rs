//! `cut-replies`: what the worker sends is executed, and no reply comes back: whatever it asked,
//! it cannot know.

use super::{FaultKind, Hits};
use crate::env::action::{Action, Harm};
use crate::env::edge::Way;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "cut-replies",
    summary: "what the target sends is executed, and the replies vanish, until the heal",
    hits: Hits::Edge,
    onset: &[Action::Injure(Harm::Silence(Way::ToClient))],
    heal: &[Action::Mend],
    must_outlast_lease: false,
};

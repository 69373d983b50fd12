//! `lose-reply`: one chosen request is executed and its reply is lost: the sender cannot know.

use super::{FaultKind, Hits};
use crate::env::action::{Action, Harm};

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "lose-reply",
    summary: "one chosen request of the target is executed, and its reply is lost",
    hits: Hits::Edge,
    onset: &[Action::Injure(Harm::LoseReply)],
    heal: &[Action::Mend],
    must_outlast_lease: false,
};

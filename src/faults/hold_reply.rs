//! `hold-reply`: one chosen request is executed, and its reply arrives late: by then what it says
//! may have passed.

use super::{FaultKind, Hits};
use crate::env::action::{Action, Harm};

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "hold-reply",
    summary: "the reply to one chosen request of the target is held, and arrives at the heal",
    hits: Hits::Edge,
    onset: &[Action::Injure(Harm::HoldReply)],
    heal: &[Action::Mend],
    must_outlast_lease: false,
};

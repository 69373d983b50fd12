//! `refuse-writes`: the server answers reads and refuses writes (NOREPLICAS), as one does that has
//! lost its replicas: a holder can then neither renew nor release, and nobody else can acquire.
//! Two replicas are asked for, since the observer may count as one.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "refuse-writes",
    summary: "the server refuses every write until the heal; reads are answered",
    hits: Hits::Server,
    onset: &[
        Action::Ask(&["CONFIG", "SET", "min-replicas-to-write", "2"]),
        Action::ExpectNoWrites,
    ],
    heal: &[Action::Ask(&[
        "CONFIG",
        "SET",
        "min-replicas-to-write",
        "0",
    ])],
    must_outlast_lease: false,
};

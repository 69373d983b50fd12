//! `forget-scripts`: the server forgets every script, as it does after a restart or a failover.
//! A client that only ever sends hashes is answered NOSCRIPT from then on.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "forget-scripts",
    summary: "SCRIPT FLUSH on the server",
    hits: Hits::Server,
    onset: &[
        Action::Ask(&["SCRIPT", "FLUSH"]),
        Action::CountUnknownScripts,
    ],
    heal: &[],
    must_outlast_lease: false,
};

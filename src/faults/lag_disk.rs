//! `lag-disk`: what the server does from now on is in its memory alone, as it is between two
//! flushes of a server that flushes once a second.
//!
//! The real moment between an answer and its flush is a few milliseconds long and cannot be hit on
//! purpose; here the server is told to leave its disk alone. It shows what that moment costs only
//! if the server dies before its next flush would have been due, and a drill must prove that.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "lag-disk",
    summary: "what the server does from the onset on is in memory alone, as between two flushes to its disk",
    hits: Hits::Server,
    onset: &[
        Action::Ask(&["CONFIG", "SET", "appendonly", "no"]),
        Action::ExpectLostByRestart,
    ],
    heal: &[],
    must_outlast_lease: false,
};

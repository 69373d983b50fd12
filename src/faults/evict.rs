//! `evict`: memory runs out and the server makes room as it was told to, among the locks too.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "evict",
    summary: "the server must evict every key that it can, until the heal gives it memory again",
    hits: Hits::Server,
    onset: &[
        Action::Ask(&["CONFIG", "SET", "maxmemory-policy", "allkeys-random"]),
        Action::Ask(&["CONFIG", "SET", "maxmemory", "1"]),
        Action::AwaitForgotten,
    ],
    heal: &[Action::Ask(&["CONFIG", "SET", "maxmemory", "0"])],
    must_outlast_lease: false,
};

//! `kill`: the worker dies where it stands. Nothing is released: its lease is all that frees the
//! lock. What it had handed to the kernel before still arrives.

use super::{FaultKind, Hits};
use crate::env::action::Action;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "kill",
    summary: "SIGKILL of the target's whole process group; it never comes back",
    hits: Hits::Worker,
    onset: &[Action::KillGroup],
    heal: &[],
    must_outlast_lease: false,
};

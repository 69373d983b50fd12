//! `cut-replication`: the server that takes writes loses every replica at once: what it grants from
//! then on, it alone knows. It refuses their logins and closes their links, which is at once and
//! needs nobody on the way. They go on trying; nobody lets them in again.

use super::{FaultKind, Hits};
use crate::env::action::Action;
use crate::env::redis::replicated::CUT;

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "cut-replication",
    summary: "the server that takes writes refuses its replicas: nothing that it grants reaches them",
    hits: Hits::Server,
    onset: &[
        Action::Ask(CUT[0]),
        Action::Ask(CUT[1]),
        Action::AwaitCutOff,
    ],
    heal: &[],
    must_outlast_lease: false,
};

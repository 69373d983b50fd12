//! `cut-replication`: the server that takes writes loses every replica at once: what it grants from
//! then on, it alone knows. It refuses their logins and closes their links, which is at once and
//! needs nobody on the way. They go on trying; at the heal they are let in, and it is over when they
//! have all that it has. Without a heal nobody lets them in again. A replica that may never take over
//! (`lock.backups`) keeps its link.

use super::{FaultKind, Hits};
use crate::env::action::Action;
use crate::env::redis::replicated::{CUT, HEAL};

/// The registry entry.
pub const KIND: FaultKind = FaultKind {
    name: "cut-replication",
    summary: "the server that takes writes refuses its replicas: nothing that it grants reaches them, until the heal, if there is one",
    hits: Hits::Server,
    onset: &[
        Action::Ask(CUT[0]),
        Action::Ask(CUT[1]),
        Action::AwaitCutOff,
    ],
    heal: &[Action::Ask(HEAL), Action::AwaitCopied],
    must_outlast_lease: false,
};

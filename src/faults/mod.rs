//! Faults: data that yield onset and heal actions. Nothing here touches the world; the record
//! must prove that each fault began, bit and ended.
//!
//! How to add one: a file with a `KIND`, and its two lines here.

use crate::env::action::Action;

pub mod counter_reset;
pub mod evict;
pub mod flush;
pub mod forget_scripts;
pub mod kill;
pub mod kill_server;
pub mod pause;
pub mod refuse_writes;
pub mod stop_server;

/// What a fault can be aimed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hits {
    /// A worker's processes.
    Worker,
    /// A server.
    Server,
}

/// One entry of the registry.
#[derive(Debug)]
pub struct FaultKind {
    /// Name in experiment files.
    pub name: &'static str,
    /// One line for `list faults`.
    pub summary: &'static str,
    /// What it can be aimed at.
    pub hits: Hits,
    /// What is done at the onset, in order.
    pub onset: &'static [Action],
    /// What undoes it, in order; nothing = it is over as soon as it is done, and a file names no
    /// heal.
    pub heal: &'static [Action],
    /// It proves nothing about a lease unless it lasts longer than the lease: a `for` that is not
    /// longer is refused.
    pub must_outlast_lease: bool,
}

impl FaultKind {
    /// Whether it lasts until it is undone.
    pub const fn lasts(&self) -> bool {
        !self.heal.is_empty()
    }
}

/// Every fault.
pub const ALL: &[&FaultKind] = &[
    &pause::KIND,
    &kill::KIND,
    &kill_server::KIND,
    &stop_server::KIND,
    &evict::KIND,
    &flush::KIND,
    &counter_reset::KIND,
    &forget_scripts::KIND,
    &refuse_writes::KIND,
];

/// The fault of this name.
pub fn find(name: &str) -> Option<&'static FaultKind> {
    ALL.iter().copied().find(|kind| kind.name == name)
}

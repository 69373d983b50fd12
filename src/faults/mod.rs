//! Faults: data that yield onset and heal actions. Nothing here touches the world; the record
//! must prove that each fault began, bit and ended.
//!
//! How to add one: a file with a `KIND`, and its two lines here.

use crate::env::action::Action;

pub mod pause;

/// One entry of the registry.
#[derive(Debug)]
pub struct FaultKind {
    /// Name in experiment files.
    pub name: &'static str,
    /// One line for `list faults`.
    pub summary: &'static str,
    /// What is done at the onset, in order.
    pub onset: &'static [Action],
    /// What undoes it, in order.
    pub heal: &'static [Action],
    /// It proves nothing about a lease unless it lasts longer than the lease: a `for` that is not
    /// longer is refused.
    pub must_outlast_lease: bool,
}

/// Every fault.
pub const ALL: &[&FaultKind] = &[&pause::KIND];

/// The fault of this name.
pub fn find(name: &str) -> Option<&'static FaultKind> {
    ALL.iter().copied().find(|kind| kind.name == name)
}

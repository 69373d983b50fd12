//! The back ends, and the one list of them.
//!
//! How to add one: a file with a type that implements [`LockService`] and a [`LockKind`], its
//! line in [`ALL`], and the shared conformance suite passes over it.

use crate::lock::error::LockError;
use crate::lock::flaws::Flaw;
use crate::lock::probe::Command;
use crate::lock::service::{Capabilities, LockService};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub mod memory;
pub mod redis;
mod redis_ear;
mod redis_scripts;

/// What a back end is connected with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectSpec {
    /// `host:port`, or any name for `memory`.
    pub address: String,
    /// A defect to build in; none = the sound code.
    pub flaw: Option<Flaw>,
}

impl ConnectSpec {
    /// The sound code at this address.
    pub fn new(address: impl Into<String>) -> Self {
        ConnectSpec {
            address: address.into(),
            flaw: None,
        }
    }

    /// With a defect.
    #[must_use]
    pub fn flawed(mut self, flaw: Flaw) -> Self {
        self.flaw = Some(flaw);
        self
    }
}

/// What connecting brings.
pub type Connecting = Pin<Box<dyn Future<Output = Result<Arc<dyn LockService>, LockError>> + Send>>;

/// One entry of the registry.
pub struct LockKind {
    /// Name in experiment files.
    pub name: &'static str,
    /// One line for `list locks`.
    pub summary: &'static str,
    /// What it promises.
    pub capabilities: Capabilities,
    /// Its locks exist within one process: two processes never meet at them.
    pub within_one_process: bool,
    /// The defects that can be built into it.
    pub flaws: &'static [Flaw],
    /// Byte strings of which one is in every request of this kind and in none of another, so that
    /// somebody on the way can choose it; none where that cannot be done.
    pub on_the_wire: fn(Option<Flaw>, Command) -> Vec<String>,
    /// Connects, so that a wrong address is found before the first lock is taken.
    pub connect: fn(ConnectSpec) -> Connecting,
}

/// Every back end.
pub const ALL: &[LockKind] = &[redis::KIND, memory::KIND];

/// The back end of that name.
pub fn named(name: &str) -> Option<&'static LockKind> {
    ALL.iter().find(|kind| kind.name == name)
}

/// Refuses a flaw that this back end does not have.
fn check_flaw(kind: &'static LockKind, flaw: Option<Flaw>) -> Result<(), LockError> {
    match flaw {
        Some(flaw) if !kind.flaws.contains(&flaw) => Err(LockError::NoSuchFlaw {
            backend: kind.name,
            flaw: flaw.name(),
        }),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_every_entry_is_described() {
        let names: HashSet<_> = ALL.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|kind| !kind.summary.is_empty()));
        assert!(named("memory").is_some() && named("nothing").is_none());
    }
}

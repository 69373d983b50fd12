//! Several servers that are one lock service: which of them took writes when, by their own word.
//!
//! A server is asked again and again, so that a change is known within bounds: from the last time
//! at which it still said something else to when it said so.

use super::time::Bounds;
use super::{History, QUORUM};

/// What one of several servers said of itself, when it was otherwise than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleSeen {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time at which it had said so, ns.
    pub at: u64,
    /// Lab time at which it was asked and still said something else, ns; none = the first word.
    pub since: Option<u64>,
    /// It takes writes.
    pub primary: bool,
    /// How many copy it; of one that copies, 1 while its link is up.
    pub links: u64,
}

/// A server began to take writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promotion<'h> {
    /// Which.
    pub server: &'h str,
    /// `seq` of the line.
    pub seq: u64,
    /// When, lab time.
    pub at: Bounds,
}

impl History {
    /// The server is one of several that are one lock service.
    pub fn is_one_of_several(&self, server: &str) -> bool {
        self.roles.contains_key(server)
    }

    /// How grants of a server are called: those of servers that have a vote each are made together.
    pub fn granted_by<'s>(&self, server: &'s str) -> &'s str {
        match self.plan.lock.voters {
            0 => server,
            _ => QUORUM,
        }
    }

    /// Every promotion, in order of time.
    pub fn promotions(&self) -> Vec<Promotion<'_>> {
        let mut all: Vec<Promotion<'_>> = self
            .roles
            .iter()
            .flat_map(|(server, roles)| {
                turns(roles).filter(|turn| turn.primary).filter_map(|turn| {
                    Some(Promotion {
                        server,
                        seq: turn.seq,
                        at: Bounds::between(turn.since?, turn.at),
                    })
                })
            })
            .collect();
        all.sort_by_key(|promotion| (promotion.at.latest, promotion.seq));
        all
    }

    /// The promotion by which another server had certainly taken over from this one by a time, ns.
    pub fn replaced_by(&self, server: &str, by: u64) -> Option<Promotion<'_>> {
        let mut promotions = self.promotions().into_iter();
        let last = promotions.rfind(|one| one.at.latest <= by);
        last.filter(|last| last.server != server)
    }

    /// Whether a server took writes at a time, ns, by what it had said last.
    pub fn took_writes(&self, server: &str, at: u64) -> bool {
        let roles = self.roles.get(server).map_or(&[][..], Vec::as_slice);
        roles
            .iter()
            .rfind(|role| role.at <= at)
            .is_some_and(|role| role.primary)
    }
}

/// The first word, and every word at which the role, and not only a link, is another.
pub(super) fn turns(roles: &[RoleSeen]) -> impl Iterator<Item = &RoleSeen> {
    let mut before = None;
    roles.iter().filter(move |role| {
        let other = before != Some(role.primary);
        before = Some(role.primary);
        other
    })
}

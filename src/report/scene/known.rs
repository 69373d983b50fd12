//! What the store's log says of each write, in the store's own order: what it knew before, and what
//! this one replaced.

use super::writes::{Fate, WriteMark};
use crate::timeline::event::AttemptKind;
use crate::timeline::history::StoreAttempt;
use std::collections::HashMap;

/// What the store had accepted so far, in its own order, by resource.
#[derive(Default)]
pub(super) struct Known<'h> {
    /// The last accepted write.
    last: HashMap<&'h str, &'h str>,
    /// The highest fencing token of anything accepted.
    highest: HashMap<&'h str, u64>,
    /// The first accepted write with the highest fencing token of any write.
    newest: HashMap<&'h str, &'h StoreAttempt>,
}

impl<'h> Known<'h> {
    /// Adds to a mark what the store's log says of it.
    pub(super) fn join(&mut self, mark: &mut WriteMark, attempt: &'h StoreAttempt) {
        mark.write.clone_from(&attempt.write);
        mark.applied = Some(attempt.applied);
        mark.grant = attempt.grant.clone().or(mark.grant.take());
        mark.fencing = attempt.fencing.map(|token| token.0).or(mark.fencing);
        // A store that compares apart from writing may not have seen what it had accepted.
        let accepted = self.highest.get(&*attempt.resource).copied();
        mark.highest = attempt.highest.map(|token| token.0).max(accepted);
        let newest = self.newest.get(&*attempt.resource).copied();
        mark.twin = newest
            .filter(|newest| newest.fencing == attempt.fencing && newest.grant != attempt.grant)
            .filter(|_| attempt.kind == AttemptKind::Write && !attempt.done_before)
            .map(|newest| newest.write.clone());
        mark.fate = if attempt.accepted {
            Fate::Accepted
        } else {
            Fate::Rejected
        };
        mark.based_on.clone_from(&attempt.based_on);
        mark.job.clone_from(&attempt.job);
        mark.again = attempt.done_before;
        mark.events.push(attempt.seq);
        mark.event = attempt.seq;
        if let (true, Some(token)) = (attempt.accepted, attempt.fencing) {
            let known = self.highest.entry(&attempt.resource).or_default();
            *known = token.0.max(*known);
        }
        if attempt.took_effect() && attempt.kind == AttemptKind::Write {
            if attempt.fencing.is_some() && newest.is_none_or(|old| old.fencing < attempt.fencing) {
                self.newest.insert(&attempt.resource, attempt);
            }
            let before = self.last.insert(&attempt.resource, &attempt.write);
            mark.overwrites = before
                .filter(|before| attempt.based_on.as_deref() != Some(*before))
                .map(str::to_owned);
        }
    }
}

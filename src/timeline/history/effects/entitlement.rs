//! What each grant promised: from the grant to the earlier of its own applied release and the end
//! of its last own lease. A key that somebody else ended does not end the promise.

use super::Book;
use crate::timeline::history::grant::{Author, Grant};
use crate::timeline::history::time::{Bounds, NEVER, Span};

impl Book<'_> {
    /// Entitlements, once every key's end is known.
    pub(super) fn close(mut self) -> Vec<Grant> {
        for grant in &mut self.grants {
            let mut certain = grant.lease_ends;
            let mut perhaps = grant.lease_ends;
            for extension in &grant.extensions {
                let Some(until) = extension.until else {
                    continue;
                };
                match extension.author {
                    Author::Own(_) => (certain, perhaps) = (until, until),
                    Author::Unclear(_) => perhaps = perhaps.max(until),
                    Author::Foreign(_) => {}
                }
            }
            grant.lease_ends = Bounds {
                earliest: certain.earliest.min(perhaps.earliest),
                latest: certain.latest.max(perhaps.latest),
            };
            let released = self.index.own_releases(grant.id.as_ref()).next();
            let released = released.map_or(NEVER, |i| self.operations[i].invoked);
            let last = grant.released().map_or(NEVER, |at| at.latest);
            let end = grant.lease_ends.earliest.min(released);
            grant.definite = Span::new(grant.granted.latest, end);
            grant.possible = Span {
                from: grant.granted.earliest,
                to: grant
                    .lease_ends
                    .latest
                    .min(last)
                    .max(grant.granted.earliest),
            };
        }
        self.grants
    }
}

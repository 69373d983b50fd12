//! How a key ended: its own release, its deadline, or something that had no right to.

use super::{Book, RawEffect};
use crate::timeline::history::grant::{Cause, KeyEnd};
use crate::timeline::history::operation::Told;
use crate::timeline::history::seen::stalled_in;
use crate::timeline::history::time::{Bounds, Span};

impl Book<'_> {
    /// A key that was still held is set anew.
    pub(super) fn displace(&mut self, effect: &RawEffect, at: Bounds, attempt: Option<usize>) {
        let Some((holder, until)) = self.held.remove(&effect.key) else {
            return;
        };
        let expired = until.is_some_and(|until| at.latest >= until.earliest);
        let (seq, pos) = (effect.seq, effect.pos);
        self.grants[holder].end = if expired {
            KeyEnd::Expired {
                seq,
                pos,
                seen: effect.at,
            }
        } else {
            let cause = Cause::Overwrite(attempt.into_iter().collect());
            KeyEnd::Taken {
                seq,
                pos,
                at,
                cause,
            }
        };
    }

    /// Release, expiry, or something else?
    ///
    /// A release of the grant's own that was told done did it, unless another says the same, or the
    /// key outlasted the answer by so much that only the end of its lease can have ended it. One that
    /// was left open did it if the deadline had not passed and nobody else can have.
    pub(super) fn deleted(
        &mut self,
        effect: &RawEffect,
        holder: usize,
        until: Option<Bounds>,
    ) -> KeyEnd {
        let grant = &self.grants[holder];
        let (seq, pos) = (effect.seq, effect.pos);
        let within = Bounds::between(grant.granted.earliest, effect.at);
        let own = self.own_release(holder, effect.at);
        let passed = until.is_some_and(|until| effect.at >= until.earliest);
        let said_so = |i: &usize| self.operations[*i].told() == Told::Done;
        let done = own.is_some_and(|i| said_so(&i) && !(passed && self.outlasted(i, effect.at)));
        if !done && passed {
            return KeyEnd::Expired {
                seq,
                pos,
                seen: effect.at,
            };
        }
        let explained = |i: usize| self.explained[i];
        let id = grant.id.as_ref();
        let mut suspects = self
            .index
            .foreign_releases((id, &effect.key), within, &explained);
        if done {
            // Against a release that says it did it, only another that says so too counts.
            suspects.retain(said_so);
        }
        let refused = |i: &usize| self.operations[*i].told() == Told::NotDone;
        let cause = match own {
            Some(operation) if suspects.iter().all(refused) => {
                self.explained[operation] = true;
                if passed {
                    self.either.insert(operation, holder);
                }
                return KeyEnd::Released {
                    seq,
                    pos,
                    at: self.released_at(effect, holder, operation),
                    operation,
                };
            }
            Some(own) => Cause::Unclear([vec![own], suspects].concat()),
            None => self.blame((holder, within), suspects),
        };
        KeyEnd::Taken {
            seq,
            pos,
            at: within,
            cause,
        }
    }

    /// A key was seen to go longer after a release had been answered than an effect takes to be seen.
    fn outlasted(&self, release: usize, seen: u64) -> bool {
        let since = Span {
            from: self.operations[release].ended(),
            to: seen,
        };
        let stalled = stalled_in(self.stalls, since);
        since.len() > self.late_ns.saturating_add(stalled)
    }

    /// A key is deleted here that had ended on the server that it was copied from. Often that is
    /// only the copy of that end, read late; but where the server before went on by itself, the key
    /// may have run out there while its grant went on here, until it was given back.
    pub(super) fn deleted_again(&mut self, effect: &RawEffect, holder: usize) {
        let own = self.own_release(holder, effect.at);
        if let Some(operation) = own
            && self.operations[operation].told() == Told::Done
            && !self.explained[operation]
        {
            self.explained[operation] = true;
            self.grants[holder].given_back = Some(self.released_at(effect, holder, operation));
        }
    }

    /// When an operation of the grant's own deleted its key.
    fn released_at(&self, effect: &RawEffect, holder: usize, operation: usize) -> Bounds {
        let invoked = self.operations[operation].invoked;
        let begun = invoked.max(self.grants[holder].granted.earliest);
        Bounds::between(begun, effect.at)
    }

    /// The release of the grant's own that may have deleted its key; one told done comes first.
    fn own_release(&self, holder: usize, seen: u64) -> Option<usize> {
        self.index
            .own_releases(self.grants[holder].id.as_ref())
            .filter(|i| self.operations[*i].invoked <= seen)
            .max_by_key(|i| self.operations[*i].told() == Told::Done)
    }

    fn blame(&mut self, (holder, within): (usize, Bounds), mut suspects: Vec<usize>) -> Cause {
        if suspects.is_empty() {
            let other = |i: usize| !self.either.contains_key(&i);
            let id = self.grants[holder].id.as_ref();
            suspects = self
                .index
                .foreign_releases((id, &self.grants[holder].key), within, &other);
        }
        if let [only] = *suspects {
            self.explained[only] = true;
            if let Some(earlier) = self.either.remove(&only) {
                self.found_expired(earlier);
            }
        }
        if !suspects.is_empty() {
            Cause::BlindDelete(suspects)
        } else if self.stepped(within) {
            Cause::Clock
        } else {
            Cause::Unexplained
        }
    }

    /// The release that seemed to have ended this grant's key did something else.
    fn found_expired(&mut self, grant: usize) {
        if let KeyEnd::Released { seq, pos, at, .. } = self.grants[grant].end {
            self.grants[grant].end = KeyEnd::Expired {
                seq,
                pos,
                seen: at.latest,
            };
        }
    }

    fn stepped(&self, within: Bounds) -> bool {
        self.clock.is_some_and(|clock| {
            clock.steps().any(|(when, by)| {
                by > 0 && when.earliest <= within.latest && when.latest >= within.earliest
            })
        })
    }
}

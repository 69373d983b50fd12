//! Which grants were overtaken by a newer one, found without reading all of them for each.

use crate::timeline::history::Grant;
use foldhash::HashMap;

/// Grants by key and server, each in its server's order.
pub(super) struct Overtakers<'h>(HashMap<&'h str, Vec<Line<'h>>>);

/// The grants of one key that one server made.
struct Line<'h> {
    server: &'h str,
    made: Vec<Made<'h>>,
}

struct Made<'h> {
    grant: &'h Grant,
    /// The latest time that this or one before it was made no earlier than, ns.
    since: u64,
    /// The earliest time that this or one after it was made no later than, ns.
    by: u64,
}

impl<'h> Overtakers<'h> {
    pub(super) fn new(grants: &'h [Grant]) -> Self {
        let mut keys: HashMap<&str, Vec<Line<'h>>> = HashMap::default();
        for grant in grants {
            let lines = keys.entry(&grant.key).or_default();
            let at = lines.iter().position(|line| line.server == grant.server);
            let at = at.unwrap_or_else(|| {
                let (server, made) = (&*grant.server, Vec::new());
                lines.push(Line { server, made });
                lines.len() - 1
            });
            let (since, by) = (grant.granted.earliest, grant.granted.latest);
            lines[at].made.push(Made { grant, since, by });
        }
        for line in keys.values_mut().flatten() {
            line.settle();
        }
        Overtakers(keys)
    }

    /// A newer grant with a higher fencing token had certainly been made before a time, in ns.
    pub(super) fn overtook(&self, grant: &Grant, until: u64) -> bool {
        let mut lines = self.0.get(&*grant.key).into_iter().flatten();
        lines.any(|line| {
            let mut between = line.between(grant, until).iter();
            between.any(|made| overtakes(grant, made.grant, until))
        })
    }
}

/// Asked of all that come into question: times need not rise with the place.
fn overtakes(grant: &Grant, next: &Grant, until: u64) -> bool {
    grant.is_before(next) && next.fencing > grant.fencing && next.granted.latest < until
}

impl<'h> Line<'h> {
    fn settle(&mut self) {
        self.made.sort_by_key(|made| made.grant.pos);
        let mut since = 0;
        for made in &mut self.made {
            since = made.since.max(since);
            made.since = since;
        }
        let mut by = u64::MAX;
        for made in self.made.iter_mut().rev() {
            by = made.by.min(by);
            made.by = by;
        }
    }

    /// All that may have been made after a grant and before a time, in ns.
    fn between(&self, grant: &Grant, until: u64) -> &[Made<'h>] {
        let from = if self.server == grant.server {
            self.made
                .partition_point(|made| made.grant.pos <= grant.pos)
        } else {
            self.made
                .partition_point(|made| made.since <= grant.granted.latest)
        };
        let to = self.made.partition_point(|made| made.by < until);
        self.made.get(from..to).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{FencingToken, OwnerDigest};
    use crate::timeline::history::{Bounds, KeyEnd, Span};

    /// A grant of one of two servers and keys, with its place, times and token.
    fn grant(server: u64, key: u64, pos: u64, (from, width): (u64, u64), fencing: u64) -> Grant {
        Grant {
            seq: 0,
            server: server.to_string(),
            pos,
            key: key.to_string(),
            owner: OwnerDigest(String::new()),
            fencing: (fencing > 0).then_some(FencingToken(fencing)),
            attempt: None,
            id: None,
            worker: None,
            granted: Bounds::between(from, from + width),
            seen: from + width,
            lease_ms: 1,
            endless: false,
            lease_ends: Bounds::exactly(from + 1),
            extensions: Vec::new(),
            copies: Vec::new(),
            end: KeyEnd::Open,
            given_back: None,
            definite: None,
            renewal: None,
            possible: Span { from: 0, to: 1 },
            doubt: None,
        }
    }

    fn dice(state: &mut u64, n: u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 11) % n
    }

    #[test]
    fn it_says_what_reading_every_grant_says() {
        let mut told = [0; 2];
        for seed in 1..500_u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut one = |pos| {
                let mut dice = |n| dice(&mut state, n);
                // Times need not rise with the place: a record may contradict itself.
                let times = (pos * 3 + dice(20), dice(12));
                grant(dice(2), dice(2), pos, times, dice(6))
            };
            let grants: Vec<Grant> = (0..20).map(&mut one).collect();
            let index = Overtakers::new(&grants);
            for grant in &grants {
                for until in (0..90).step_by(7) {
                    let expected = grants.iter().any(|next| overtakes(grant, next, until));
                    assert_eq!(index.overtook(grant, until), expected, "seed {seed}");
                    told[usize::from(expected)] += 1;
                }
            }
        }
        assert!(told.iter().all(|often| *often > 1000), "{told:?}");
    }
}

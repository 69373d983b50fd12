//! Which grants of one key were in force at the same time, read in order.

use crate::timeline::history::{Grant, History, KeyEnd};

/// What one grant's overlap with the grants before it shows.
pub(super) enum Overlap {
    None,
    Certain {
        earlier: usize,
        later: usize,
        ns: u64,
    },
    Possible {
        earlier: usize,
        later: usize,
    },
}

/// Grants in the server's order; of several servers, by the time at which they were made.
pub(super) fn in_order(history: &History) -> Vec<usize> {
    let grants = &history.grants;
    let mut order: Vec<usize> = (0..grants.len()).collect();
    order.sort_by_key(|i| {
        let several = history.is_one_of_several(&grants[*i].server);
        if several {
            grants[*i].granted.earliest
        } else {
            0
        }
    });
    order
}

/// The grants so far of one key, of each server by itself: those that its own order puts an end to
/// matter to other servers alone.
#[derive(Default)]
pub(super) struct Before<'h>(Vec<(&'h str, Longest, Longest)>);

impl<'h> Before<'h> {
    pub(super) fn add(&mut self, grants: &'h [Grant], new: usize) {
        let server = grants[new].server.as_str();
        let at = self.0.iter().position(|(known, ..)| *known == server);
        let at = at.unwrap_or_else(|| {
            self.0
                .push((server, Longest::default(), Longest::default()));
            self.0.len() - 1
        });
        let (_, own, all) = &mut self.0[at];
        // The server's own order puts the end of a released grant before any later one of the key.
        if !matches!(grants[new].end, KeyEnd::Released { .. }) {
            own.add(grants, new);
        }
        all.add(grants, new);
    }

    pub(super) fn overlap(&self, history: &History, later: usize) -> Overlap {
        let server = history.grants[later].server.as_str();
        let mut found = Overlap::None;
        for (of, own, all) in &self.0 {
            let before = if *of == server { own } else { all };
            match before.overlap(history, later) {
                certain @ Overlap::Certain { .. } => return certain,
                possible @ Overlap::Possible { .. } => found = possible,
                Overlap::None => {}
            }
        }
        found
    }
}

/// Of the grants so far of one key: those whose entitlement lasts longest.
#[derive(Default)]
struct Longest {
    certain: Option<usize>,
    possible: Option<usize>,
}

impl Longest {
    fn add(&mut self, grants: &[Grant], new: usize) {
        let certain = |i: usize| grants[i].definite.map_or(0, |span| span.to);
        if self.certain.is_none_or(|old| certain(new) > certain(old)) {
            self.certain = Some(new);
        }
        let possible = |i: usize| grants[i].possible.to;
        if self
            .possible
            .is_none_or(|old| possible(new) > possible(old))
        {
            self.possible = Some(new);
        }
    }

    fn overlap(&self, history: &History, later: usize) -> Overlap {
        let grants = &history.grants;
        if let Some(earlier) = self.certain
            && let (Some(a), Some(b)) = (grants[earlier].definite, grants[later].definite)
        {
            let ns = a.overlap(b);
            if ns > history.epsilon_ns {
                return Overlap::Certain { earlier, later, ns };
            }
        }
        match self.possible {
            // Two bounds of a well-mapped clock are each up to 2 ε wide.
            Some(earlier)
                if grants[earlier].possible.overlap(grants[later].possible)
                    > history.epsilon_ns.saturating_mul(4) =>
            {
                Overlap::Possible { earlier, later }
            }
            Some(_) | None => Overlap::None,
        }
    }
}

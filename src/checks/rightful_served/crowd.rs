//! How many grants may have been in force at a time.

use crate::timeline::history::History;
use foldhash::HashMap;

/// How many grants may have been in force, from one change to the next.
pub(super) struct Crowd {
    /// (from, how many from here on)
    depth: Vec<(u64, i64)>,
}

impl Crowd {
    pub(super) fn new(history: &History) -> Self {
        let mut changes: HashMap<u64, i64> = HashMap::default();
        for grant in &history.grants {
            *changes.entry(grant.possible.from).or_default() += 1;
            *changes
                .entry(grant.possible.to.saturating_add(1))
                .or_default() -= 1;
        }
        let mut depth: Vec<(u64, i64)> = changes.into_iter().collect();
        depth.sort_unstable();
        let mut sum = 0;
        for (_, change) in &mut depth {
            sum += *change;
            *change = sum;
        }
        Crowd { depth }
    }

    /// One grant, and no other, may have been in force.
    pub(super) fn alone_at(&self, at: u64) -> bool {
        self.depth_at(at) == 1
    }

    /// More than one may have been.
    pub(super) fn shared_at(&self, at: u64) -> bool {
        self.depth_at(at) > 1
    }

    fn depth_at(&self, at: u64) -> i64 {
        let upto = self.depth.partition_point(|(from, _)| *from <= at);
        upto.checked_sub(1).map_or(0, |i| self.depth[i].1)
    }
}

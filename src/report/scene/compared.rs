//! When a racy store compared: by when it had read the newest fencing token, long before it wrote.

use super::writes::WriteMark;
use crate::store::Fence;
use crate::timeline::history::History;
use std::collections::HashMap;

/// Marks every write of a racy store with the point at which it stood ready: such a store reads and
/// compares before that point, and writes after it.
pub(super) fn find(marks: &mut [WriteMark], history: &History) {
    if history.plan.store.fence != Fence::Racy {
        return;
    }
    let points = history.points.iter();
    let armed: HashMap<&str, u64> = points
        .filter_map(|point| Some((point.point.strip_suffix(".armed")?, point.at)))
        .collect();
    for mark in marks {
        let at = armed.get(&*mark.write).copied();
        mark.compared = at.filter(|at| mark.asked <= *at && *at <= mark.at());
    }
}

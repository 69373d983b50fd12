//! How near a run was to losing its lock: figures in nanoseconds, by name. They describe one run
//! and bound nothing.

use super::scene::Scene;
use super::signals;
use crate::timeline::history::{History, KeyEnd};
use std::collections::BTreeMap;

/// Work of every grant that its holder gave back: from the grant to the release asked for, ns.
pub fn work_times(history: &History) -> Vec<u64> {
    let grants = history.grants.iter().filter_map(|grant| {
        let KeyEnd::Released { operation, .. } = grant.end else {
            return None;
        };
        let asked = history.operations.get(operation)?.invoked;
        Some(asked.saturating_sub(grant.granted.earliest))
    });
    grants.collect()
}

/// What was left of the lease when each renewal that the client reckoned with was sent, ns;
/// negative if the lease had ended.
pub fn margins(scene: &Scene) -> Vec<i64> {
    let left = scene.renewals.iter().filter_map(|renewal| renewal.margin);
    left.collect()
}

/// How long after its own deadline each loss was told, ns; stops of the worker included.
pub fn notices(history: &History) -> Vec<u64> {
    let losses = history.losses.iter();
    losses
        .map(|loss| loss.at.saturating_sub(loss.deadline))
        .collect()
}

/// All figures that a history of runs keeps; one that the run has not is not there.
pub fn figures(history: &History, scene: &Scene) -> BTreeMap<String, i64> {
    let most = |values: Vec<u64>| values.into_iter().max().map(signed);
    let figures = [
        ("length_ns", Some(signed(history.last_at))),
        ("wait_max_ns", most(signals::waits(history))),
        ("work_max_ns", most(work_times(history))),
        ("renewal_max_ns", most(signals::renewal_times(history))),
        ("margin_min_ns", margins(scene).into_iter().min()),
        ("notice_max_ns", most(notices(history))),
    ];
    figures
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

//! When the lock was free, as far as the record tells it apart from a change of hands.

use crate::report::scene::Scene;
use crate::report::scene::tenure::Tenure;

/// Since when the lock was free before each grant, where it was for longer than the record blurs.
pub fn free_before(scene: &Scene) -> Vec<Option<u64>> {
    let mut last: Option<&Tenure> = None;
    let free = scene.tenures.iter().map(|tenure| {
        let free = |last: &&Tenure| tenure.from > last.until.saturating_add(blur(scene, last));
        let since = last.filter(free).map(|last| last.until);
        if last.is_none_or(|last| last.until < tenure.until) {
            last = Some(tenure);
        }
        since
    });
    free.collect()
}

/// Closer to an end of this grant than this nothing is told apart, ns.
pub(super) fn blur(scene: &Scene, tenure: &Tenure) -> u64 {
    scene.epsilon.saturating_add(scene.epsilon.max(tenure.blur))
}

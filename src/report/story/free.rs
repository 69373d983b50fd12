//! When the lock was free, as far as the record tells it apart from a change of hands; whose promise
//! outlives its key; which grant nobody was told of.

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

/// Whose entitlement outlives the last key, by more than the record blurs: the longest.
pub fn still_entitled(scene: &Scene, held_until: u64) -> Option<&Tenure> {
    let outlives = |tenure: &&Tenure| {
        tenure.key_taken.is_some()
            && !tenure.endless
            && tenure.entitled > held_until.saturating_add(blur(scene, tenure))
    };
    let still = scene.tenures.iter().filter(outlives);
    still.max_by_key(|tenure| tenure.entitled)
}

/// Its worker was never told of it: no answer came, or it died before.
pub(super) fn unheard(tenure: &Tenure) -> &'static str {
    match tenure.unheard {
        true => ", of which it never heard",
        false => "",
    }
}

//! The same in a word or two, for a cell of a table.

use super::{by_outbox, finding, inverted, saver};
use crate::checks::Outcome;
use crate::report::model::ArmModel;
use crate::verdict::Protection;

/// The word for a store that takes a job once.
pub const IDEMPOTENCY: &str = "idempotency";

/// The word for a write that is made only in the state that it expects.
pub const CONDITION: &str = "conditional update";

/// The word for a worker that asks whether it still holds before it writes.
pub const ASKED: &str = "asking first";

/// What saved the work of this arm, or that nothing did or nothing was put to the test.
pub fn word(arm: &ArmModel) -> &'static str {
    match arm.result.protection {
        Protection::NotTested => "not tested",
        Protection::Lost => "nothing",
        Protection::KeptByFencing if arm.plan().is_some_and(|plan| plan.store.seal) => {
            "seal, fence"
        }
        Protection::KeptByFencing => "fence",
        Protection::Kept => kept(arm),
    }
}

/// Nothing stale was accepted and nothing of the kind had to be refused.
fn kept(arm: &ArmModel) -> &'static str {
    let scene = &arm.scene;
    let idempotent = arm.plan().is_some_and(|plan| plan.store.idempotent);
    let conditional = arm.plan().is_some_and(|plan| plan.has_conditions());
    let once = finding(arm, "effects_once");
    let once = once.is_some_and(|found| !found.vacuous && found.outcome == Outcome::Holds);
    if inverted::unsaved(scene, "").is_some() {
        "no stale write"
    } else if by_outbox(arm).is_some() {
        "outbox"
    } else if idempotent && once {
        IDEMPOTENCY
    } else if conditional && once {
        CONDITION
    } else if scene.faults.is_empty() {
        "lock"
    } else {
        saver(arm).map_or("lock", |(word, _)| word)
    }
}

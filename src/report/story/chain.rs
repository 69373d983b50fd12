//! What happened in an arm, step by step in the order of time, each step with its event: whoever reads
//! it understands why a check was violated without knowing the checks.

use super::moment;
use crate::report::model::ArmModel;
use crate::report::scene::Scene;
use crate::report::sentence::Sentence;

mod lock;
mod renewals;
mod work;

/// More steps than this are not told.
const STEPS_MAX: usize = 18;

/// One step.
#[derive(Debug, Clone)]
pub struct Step {
    /// When, lab time, ns.
    pub at: u64,
    /// What happened, in a sentence without its full stop.
    pub told: Sentence,
    /// It is no step that every undisturbed run takes, too.
    pub telling: bool,
}

impl Step {
    fn telling(at: u64, told: Sentence) -> Step {
        Step {
            at,
            told,
            telling: true,
        }
    }

    fn usual(at: u64, told: Sentence) -> Step {
        Step {
            at,
            told,
            telling: false,
        }
    }
}

/// The steps of an arm.
#[derive(Debug, Clone)]
pub struct Steps {
    /// In order of time.
    pub told: Vec<Step>,
    /// So many were left out.
    pub left_out: usize,
}

/// All steps of a short arm; of a longer one those that are out of the ordinary, of too many the
/// ones around the decisive moment.
pub fn told(arm: &ArmModel) -> Steps {
    let mut steps = all(&arm.scene);
    steps.sort_by_key(|step| step.at);
    let many = steps.len();
    if many > STEPS_MAX {
        steps.retain(|step| step.telling);
    }
    if let Some(moment) = moment::of(arm).filter(|_| steps.len() > STEPS_MAX) {
        steps.sort_by_key(|step| step.at.abs_diff(moment.at));
        steps.truncate(STEPS_MAX);
        steps.sort_by_key(|step| step.at);
    }
    steps.truncate(STEPS_MAX);
    Steps {
        left_out: many - steps.len(),
        told: steps,
    }
}

/// What was done to the arm comes before what came of it at the same instant.
fn all(scene: &Scene) -> Vec<Step> {
    let mut steps = lock::faults(scene);
    steps.extend(lock::servers(scene));
    steps.extend(lock::ends(scene));
    steps.extend(lock::grants(scene));
    steps.extend(lock::workers(scene));
    steps.extend(work::writes(scene));
    steps.extend(work::beside(scene));
    steps
}

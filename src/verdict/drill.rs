//! One drill: the main arm's answer, if every control that ran went red for its reason.

use super::{ArmResult, DrillResult, Protection, Verdict};
use crate::plan::MAIN_ARM;

/// The status of an arm that ran.
pub(super) const RUN: &str = "run";

/// The answer of one drill from those of its arms: the main arm first, then the controls.
///
/// A main arm that failed fails the drill whatever its controls did. Otherwise a control that ran
/// and is not red as required, or one that should have run and is not there, leaves the drill
/// inconclusive: it proves nothing. Controls that were skipped, or do not apply, are told as such.
pub fn judge_drill(drill: &str, dir: String, arms: Vec<ArmResult>) -> DrillResult {
    let main = arms.iter().find(|arm| arm.arm == MAIN_ARM);
    let protection = main.map_or(Protection::NotTested, |arm| arm.protection);
    let (verdict, why) = match main {
        None => (Verdict::Inconclusive, "the main arm did not run".to_owned()),
        Some(main) => decide(main, &arms),
    };
    DrillResult {
        drill: drill.to_owned(),
        verdict,
        protection,
        why,
        dir,
        arms,
    }
}

fn decide(main: &ArmResult, arms: &[ArmResult]) -> (Verdict, String) {
    let Some(verdict) = main.verdict else {
        return (
            Verdict::Inconclusive,
            format!("the main arm did not run: {}", main.why),
        );
    };
    match verdict {
        Verdict::Fail | Verdict::Inconclusive => return (verdict, main.why.clone()),
        Verdict::Pass | Verdict::Limit => {}
    }
    if let Some(arm) = arms.iter().find(|arm| arm.defect.is_some()) {
        let why = format!(
            "the record of arm {} contradicts itself: {}",
            arm.arm, arm.why
        );
        return (Verdict::Inconclusive, why);
    }
    let controls = arms.iter().filter(|arm| arm.arm != MAIN_ARM);
    let mut dead = controls.filter(|arm| arm.status == RUN && arm.red_as_required != Some(true));
    match dead.next() {
        Some(arm) => (
            Verdict::Inconclusive,
            format!("the control {} proves nothing: {}", arm.arm, arm.why),
        ),
        None => (verdict, main.why.clone()),
    }
}

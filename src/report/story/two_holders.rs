//! Whether two held the lock at once: said plainly where somebody asks whether it is safe, whatever
//! the verdict is called.

use super::{bare, finding};
use crate::checks::Outcome;
use crate::report::model::ArmModel;
use crate::report::sentence::Sentence;

/// That two held it at once in this run; none if that is not shown.
pub fn told(arm: &ArmModel) -> Option<Sentence> {
    let found = finding(arm, "single_holder").filter(|found| found.outcome == Outcome::Violated)?;
    let sentence = Sentence::of("two held it at once in this run: ");
    let why = bare(&found.why);
    Some(match found.events.first() {
        Some(seq) => sentence.event(why, *seq),
        None => sentence.text(why),
    })
}

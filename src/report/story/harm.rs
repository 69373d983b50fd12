//! What became of the work in an arm that lost its protection, in a few words: a stale write that was
//! accepted has not lost an update yet.

use super::finding;
use crate::checks::Outcome;
use crate::report::model::ArmModel;

/// The harm that was done, as a clause.
pub fn done(arm: &ArmModel) -> &'static str {
    if is(arm, "no_lost_update", Outcome::Violated) {
        "an update was lost"
    } else if is(arm, "published_once", Outcome::Violated) {
        "a job was not published exactly once"
    } else if is(arm, "effects_once", Outcome::Violated) {
        "a job or a write did not take effect exactly once"
    } else if is(arm, "no_stale_write", Outcome::Violated) && nothing_lost(arm) {
        "a stale write was accepted, and no update was lost by it"
    } else if is(arm, "no_stale_write", Outcome::Violated) {
        "a stale write was accepted"
    } else if is(arm, "no_stale_read", Outcome::Violated) {
        "a stale read was answered"
    } else {
        "the store took what it should not have taken"
    }
}

/// Every accepted write was based on the one before it.
pub fn nothing_lost(arm: &ArmModel) -> bool {
    is(arm, "no_lost_update", Outcome::Holds)
}

fn is(arm: &ArmModel, check: &str, outcome: Outcome) -> bool {
    finding(arm, check).is_some_and(|found| found.outcome == outcome)
}

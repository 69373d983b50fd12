//! What became of the work in an arm that lost its protection, in a few words: a stale write that was
//! accepted has not lost an update yet.

use super::finding;
use crate::checks::Outcome;
use crate::report::model::ArmModel;
use crate::report::scene::Scene;
use crate::report::scene::beside::Deed;
use crate::report::scene::writes::Fate;

/// The harm that was done, as a clause.
pub fn done(arm: &ArmModel) -> &'static str {
    if is(arm, "no_lost_update", Outcome::Violated) {
        "an update was lost"
    } else if is(arm, "published_once", Outcome::Violated) {
        match never_published(&arm.scene) {
            true => "a job was done and never published",
            false => "a job was published more than once",
        }
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

/// A job that the store took was never put into the queue.
fn never_published(scene: &Scene) -> bool {
    let mut jobs = scene
        .writes
        .iter()
        .filter(|write| write.fate == Fate::Accepted);
    jobs.any(|write| {
        let published = scene.beside.iter().filter(|mark| match &mark.deed {
            Deed::Published(job, _) => Some(job) == write.job.as_ref(),
            Deed::Read(_) | Deed::Drew(_) => false,
        });
        write.job.is_some() && published.count() == 0
    })
}

/// Every accepted write was based on the one before it.
pub fn nothing_lost(arm: &ArmModel) -> bool {
    is(arm, "no_lost_update", Outcome::Holds)
}

fn is(arm: &ArmModel, check: &str, outcome: Outcome) -> bool {
    finding(arm, check).is_some_and(|found| found.outcome == outcome)
}

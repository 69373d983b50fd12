//! What a report says in sentences. Each rests on events of the record or on the result; none
//! says more than the contract of what a report may say allows.

pub mod beside;
pub mod chain;
pub mod consequence;
pub mod controls;
mod drills;
pub mod faults_done;
pub mod first_line;
mod free;
mod harm;
pub mod holding;
mod inverted;
pub mod limits;
pub mod moment;
pub mod near;
mod needed;
pub mod next;
pub mod notes;
pub mod points;
pub mod protection;
pub mod saved;
pub mod stale_writes;
pub mod summed;
pub mod two_holders;
pub mod unheard;
pub mod untested;
mod without;

use super::model::ArmModel;
use crate::checks::{Finding, Outcome};

/// The finding of this check in an arm.
fn finding<'m>(arm: &'m ArmModel, check: &str) -> Option<&'m Finding> {
    arm.result
        .checks
        .iter()
        .find(|finding| finding.check == check)
}

/// Every violated finding of an arm.
pub fn violated(arm: &ArmModel) -> impl Iterator<Item = &Finding> {
    arm.result
        .checks
        .iter()
        .filter(|finding| finding.outcome == Outcome::Violated)
}

/// The drill's file names this check beforehand as what its design cannot hold: its limit, which is no
/// failure by itself, whatever else was violated beside it.
pub fn is_foretold(arm: &ArmModel, check: &str) -> bool {
    let limit = arm.plan().and_then(|plan| plan.limit.as_ref());
    limit.is_some_and(|limit| limit.checks.iter().any(|name| name == check))
}

/// A sentence from elsewhere without the full stop that it may have.
pub fn bare(sentence: &str) -> &str {
    sentence.trim().trim_end_matches('.')
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

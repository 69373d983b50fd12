//! Whether a finding rests on something that was put to the test: one rule for the page, the index
//! and the history.

use super::model::ArmModel;
use crate::checks::no_stale_write::{NoStaleWrite, staleness};
use crate::checks::{Check as _, Finding, Outcome};
use crate::timeline::history::History;

/// It holds because nothing of the kind happened: by its own word, or, of a store that takes no
/// stale write, because two wrote and neither came late.
pub fn is_untried(finding: &Finding, history: &History) -> bool {
    finding.vacuous
        || finding.check == NoStaleWrite.name()
            && finding.outcome == Outcome::Holds
            && nobody_was_late(history)
}

/// The same of an arm; one without a record has its own word alone.
pub fn is_untried_in(arm: &ArmModel, finding: &Finding) -> bool {
    match &arm.record {
        Some(record) => is_untried(finding, &record.history),
        None => finding.vacuous,
    }
}

fn nobody_was_late(history: &History) -> bool {
    let found = staleness(history);
    found.stale.is_empty() && found.late.is_empty()
}

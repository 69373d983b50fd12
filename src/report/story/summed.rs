//! The run in one line of numbers, for whoever knows such a line from a load generator: entered,
//! completed, overlaps, stale writes.

use crate::report::model::ArmModel;
use crate::report::sentence::Sentence;
use crate::report::tally::{Tally, tally};
use crate::report::words::{count, span};

/// The line; none if nothing was recorded.
pub fn line(arm: &ArmModel) -> Option<Sentence> {
    let record = arm.record.as_ref()?;
    Some(Sentence::of(words(&tally(&record.history))))
}

fn words(of: &Tally) -> String {
    let token = of
        .highest
        .map_or("none".to_owned(), |token| token.to_string());
    format!(
        "asked to enter {}, entered {}, completed {}; overlapping entries {}; never left {}; not let in {}; highest fencing token {token}; stale writes {}: {} accepted, {} refused; took {}",
        count(of.asked, "time"),
        of.entered,
        of.completed,
        of.overlapping,
        of.open,
        of.failed,
        of.stale_accepted + of.stale_refused,
        of.stale_accepted,
        of.stale_refused,
        span(of.took)
    )
}

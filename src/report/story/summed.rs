//! The run in one line of numbers, for whoever knows such a line from a load generator: entered,
//! completed, overlaps, stale writes.

use super::finding;
use crate::checks::{Finding, Outcome};
use crate::report::model::ArmModel;
use crate::report::sentence::Sentence;
use crate::report::tally::{Tally, tally};
use crate::report::words::{count, span};

/// The line; none if nothing was recorded.
pub fn line(arm: &ArmModel) -> Option<Sentence> {
    let record = arm.record.as_ref()?;
    let numbers = tally(&record.history, &arm.scene);
    let overlaps = overlaps(&numbers, finding(arm, "single_holder"));
    Some(Sentence::of(words(&numbers, overlaps)))
}

/// What two sections at once mean: not yet that two were entitled.
fn overlaps(of: &Tally, single: Option<&Finding>) -> &'static str {
    match (of.overlapping, single.map(|found| found.outcome)) {
        (0, _) => "",
        (_, Some(Outcome::Holds)) => {
            " (a worker went in while another had not left, after that one's lease had ended: never were two entitled at once)"
        }
        (_, Some(Outcome::Violated)) => {
            " (a worker went in while another had not left; two were entitled at once)"
        }
        (_, Some(Outcome::Unknown) | None) => " (a worker went in while another had not left)",
    }
}

fn words(of: &Tally, overlaps: &str) -> String {
    let token = of
        .highest
        .map_or("none".to_owned(), |token| token.to_string());
    let unheard = match of.unheard {
        0 => String::new(),
        n => format!(" (of these the server granted {n}; the worker never heard of it)"),
    };
    let completed = match of.completed {
        0 => "",
        1 => " (its worker asked for the release, in time or late)",
        _ => " (their workers asked for the release, in time or late)",
    };
    let without = match of.tokenless {
        (0, 0) => String::new(),
        (accepted, refused) => format!(
            "; writes without the lock and without a fencing token {}: {accepted} accepted, {refused} refused",
            accepted + refused
        ),
    };
    let cut_short = match of.cut_short {
        0 => String::new(),
        n => format!(", ended while waiting {n}"),
    };
    let open = match of.open {
        0 => "",
        _ => " (the process or the record ended first)",
    };
    format!(
        "asked to enter {}, not let in {}{cut_short}{unheard}, entered {}; of the entered completed {}{completed}, never left {}{open}; overlapping entries {}{overlaps}; highest fencing token {token}; stale or late writes {}: {} accepted, {} refused{without}; {} from the first step to the last answer",
        count(of.asked, "time"),
        of.failed,
        of.entered,
        of.completed,
        of.open,
        of.overlapping,
        of.stale_accepted + of.stale_refused,
        of.stale_accepted,
        of.stale_refused,
        span(of.took)
    )
}

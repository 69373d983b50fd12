//! The name of a fault and its story, as its marks tell it.

use crate::report::scene::faults::FaultMark;
use crate::report::words::{at, span, stretch_of};

/// `nap: pause of a`.
pub(super) fn title(fault: &FaultMark) -> String {
    let whom = fault
        .whom()
        .map_or_else(String::new, |whom| format!(" of {whom}"));
    format!("{}: {}{whom}", fault.name, fault.kind)
}

pub(super) fn fault_note(fault: &FaultMark, last: u64) -> String {
    let title = title(fault);
    if !fault.lasts {
        return format!(
            "{title}, begun at {}, done by {}",
            at(fault.began),
            at(fault.effective)
        );
    }
    let begun = fault.begun(at);
    let begun = begun.map_or_else(String::new, |begun| format!(", begun at {begun}"));
    match fault.over() {
        Some(until) => format!(
            "{title}, in effect {}{begun}",
            stretch_of(fault.effective, until)
        ),
        None => format!(
            "{title}, in effect from {} to the end ({}){begun}",
            at(fault.effective),
            span(last.saturating_sub(fault.effective))
        ),
    }
}

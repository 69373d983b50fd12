//! What a jump of a clock says beside its target: by how much, and which way.

use super::duration::{self, show};
use super::reading::{Reading, Spot};
use super::refused::quote;
use super::section::Section;
use crate::faults::FaultKind;

/// The smallest jump: what is smaller cannot be told from the time that asking takes.
const SMALLEST_MS: u64 = 100;

/// Reads `by`, milliseconds, which belongs to jumps of a clock only. None if there is none, or it
/// is wrong.
pub(super) fn read(reading: &mut Reading, kind: &FaultKind, section: &Section<'_>) -> Option<i64> {
    match (kind.moves_clock(), section.has("by")) {
        (true, false) => {
            let message = format!("a `{}` needs `by`", kind.name);
            reading.hinted(&section.at, message, "`by = \"+31s\"` or `by = \"-1h\"`");
            None
        }
        (false, true) => {
            let message = format!("a `{}` has no `by`", kind.name);
            reading.problem(&section.place("by"), message);
            None
        }
        (false, false) => None,
        (true, true) => {
            let typed = section.text(reading, "by")?;
            by(reading, &typed)
        }
    }
}

/// `+31s`, `-1h`.
fn by(reading: &mut Reading, typed: &Spot<&str>) -> Option<i64> {
    let text = typed.value.trim();
    let (sign, size) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
        (Some(size), _) => (1, size),
        (_, Some(size)) => (-1, size),
        (None, None) => {
            let message = format!("`by`: {} does not say which way", quote(text));
            let hint = format!("`\"+{text}\"` is forwards, `\"-{text}\"` is back");
            reading.hinted(&typed.at, message, hint);
            return None;
        }
    };
    let size = match duration::parse(size.trim_start()) {
        Ok(size) => size,
        Err(bad) => {
            reading.hinted(&typed.at, format!("`by`: {}", bad.message), bad.hint);
            return None;
        }
    };
    if size < SMALLEST_MS {
        let message = format!("`by`: a jump of {} cannot be seen", show(size));
        let hint = format!("at least `{}`", show(SMALLEST_MS));
        reading.hinted(&typed.at, message, hint);
        return None;
    }
    i64::try_from(size).ok().map(|size| sign * size)
}

//! When it changed, to the execution: lockdrill itself, and how a drill ends. A night may hold many.

use super::super::past::file::Past;
use super::super::past::trend::Series;
use super::super::past::worse::Worse;
use super::super::words::count;
use maud::{Markup, html};

/// The last change of lockdrill's own version on record.
pub(super) fn of_lab(past: &Past) -> Markup {
    let entries = &past.entries;
    let last = entries.last();
    let other = last.and_then(|last| entries.iter().rposition(|one| one.lab != last.lab));
    let (Some(last), Some(other)) = (last, other) else {
        return html! {};
    };
    let since = entries.get(other + 1).unwrap_or(last);
    html! {
        p.note {
            "lockdrill itself is another one since " (since.at) ": " code { (entries[other].lab) }
            " before, " code { (last.lab) } " now. What is worse since then may be so because of it."
        }
    }
}

/// Since which execution all ended as badly as this, if more than one did and another came before.
pub(super) fn of_end(past: &Past, series: &Series, worse: &Worse) -> Markup {
    let of_series = past.entries.iter().filter(|entry| series.has(entry));
    let all: Vec<_> = of_series.collect();
    let is_as_bad = |verdict| worse.verdict.worst(verdict) == verdict;
    let better = all.iter().rposition(|entry| !is_as_bad(entry.verdict));
    let Some(streak) = better.and_then(|better| all.get(better + 1..)) else {
        return html! {};
    };
    html! {
        @if let [first, _, ..] = streak {
            p.aside {
                "Each of its last " (count(streak.len(), "execution")) " ended so, the first at "
                (first.at) "; the one before them was better."
            }
        }
    }
}

//! What to look at first: which drill is not as it should be, since when, and why.

use super::super::past::file::Past;
use super::super::past::trend::Series;
use super::super::past::worse::Worse;
use super::super::words::{count, verdict_word};
use super::changed;
use super::trend::{SERIES_MAX, link, mark};
use crate::verdict::{Protection, Verdict};
use maud::{Markup, html};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::Path;

/// More names than this are not listed.
const NAMED_MAX: usize = 30;

pub(super) fn section(
    root: &Path,
    past: &Past,
    series: &[Series],
    dates: &BTreeSet<&String>,
) -> Markup {
    let mut found: Vec<(&Series, Worse)> = series
        .iter()
        .filter_map(|series| Some((series, series.worse()?)))
        .collect();
    found.sort_by(|(a, one), (b, other)| order(one, other).then_with(|| a.drill.cmp(&b.drill)));
    let last = dates.last().copied();
    let absent = series
        .iter()
        .filter(|series| series.nights.keys().next_back() != last)
        .map(|series| series.drill.clone());
    html! {
        h2 { "What to look at first" }
        @if found.is_empty() { p { (nothing(series)) } } @else {
            p.hints { "A failure comes before what could not tell, and that before a new limit. Among equals: what is new by the fewest executions, then where the work was lost, then where a control stayed green, then what happened in most executions." }
            ol.worse {
                @for (place, (series, worse)) in found.iter().take(SERIES_MAX).enumerate() {
                    (one(root, past, (place, series, worse)))
                }
            }
        }
        (named("At the limit that the drill's file names, as it says beforehand, and no failure: the check that it names does not hold", limits(series)))
        (named("Did not run in the last night", absent.collect()))
    }
}

/// What to look at first: a failure before what could not tell before a new limit; among equals what
/// is new by the fewest executions, then lost work, then a control that stayed green, then what
/// happened in most executions of the night.
fn order(a: &Worse, b: &Worse) -> Ordering {
    let rank = |worse: &Worse| match worse.verdict {
        Verdict::Fail => 0,
        Verdict::Inconclusive => 1,
        Verdict::Limit | Verdict::Pass => 2,
    };
    let newest = || b.since.cmp(&a.since).then(a.executions.cmp(&b.executions));
    let lost = || b.lost.cmp(&a.lost);
    let green = || b.green.len().cmp(&a.green.len());
    let share = || {
        let of = |worse: &Worse, other: &Worse| u64::from(worse.last.0) * u64::from(other.last.1);
        of(b, a).cmp(&of(a, b))
    };
    rank(a)
        .cmp(&rank(b))
        .then_with(newest)
        .then_with(lost)
        .then_with(green)
        .then_with(share)
}

fn nothing(series: &[Series]) -> String {
    let compared = series.iter().filter(|one| one.nights.len() > 1).count();
    let fine = "In its last night no drill failed and none was inconclusive";
    if compared == 0 {
        format!(
            "{fine}. No drill has run in more than one night yet, so there is nothing to compare it with."
        )
    } else if compared < series.len() {
        format!(
            "{fine}, and none of the {} that ran in more than one night was worse than in the night before. The other {} cannot be compared yet.",
            count(compared, "drill"),
            series.len() - compared
        )
    } else {
        format!("{fine}, and none was worse than in the night before.")
    }
}

fn one(root: &Path, past: &Past, (place, series, worse): (usize, &Series, &Worse)) -> Markup {
    let (class, sign) = mark(worse.verdict);
    html! {
        li {
            @if place == 0 { b { "Look here first: " } }
            b { (link(root, &series.drill, &worse.run)) } " on " (series.on) " "
            span class=(format!("outcome {class}")) { (sign) " " (verdict_word(worse.verdict)) }
            ", " (since(series, worse)) "."
            @if !worse.checks.is_empty() { " Violated: " code { (worse.checks.join(", ")) } "." }
            @if !worse.foretold.is_empty() {
                " Violated as the drill's file foretells (its limit): " code { (worse.foretold.join(", ")) } "."
            }
            @if worse.lost { " The work was lost." }
            @if !worse.green.is_empty() { " Not red, as it must be: control " code { (worse.green.join(", ")) } "." }
            (changed::of_end(past, series, worse))
            @if !worse.why.is_empty() { p.aside { (worse.why) } }
        }
    }
}

/// Since when, and what came before.
fn since(series: &Series, worse: &Worse) -> String {
    let for_long = match worse.nights {
        1 => format!("in the night of {} for the first time", worse.since),
        n => format!("since {} ({} in a row)", worse.since, count(n, "night")),
    };
    let for_long = if worse.before > 0 && series.plan_since >= worse.since {
        format!(
            "{for_long}, and its plan was changed in the night of {}",
            series.plan_since
        )
    } else {
        for_long
    };
    match worse.before {
        0 if series.nights.len() == 1 => {
            format!("in the night of {}, the only one on record", worse.since)
        }
        0 => format!(
            "since {}, in each of its {}",
            worse.since,
            count(worse.nights, "night")
        ),
        1 => format!("{for_long}; in the night before it was better"),
        n => format!("{for_long}; in the last of the {n} nights before it was better"),
    }
}

/// Drills that ended at their limit, first those in which the work was lost.
fn limits(series: &[Series]) -> Vec<String> {
    let nights = series.iter().filter_map(|one| Some((one, one.last()?)));
    let mut limits: Vec<(bool, &str)> = nights
        .filter(|(_, night)| night.worst() == Some(Verdict::Limit))
        .map(|(one, night)| {
            let lost = night.protection == Some(Protection::Lost);
            (lost, one.drill.as_str())
        })
        .collect();
    limits.sort_by_key(|(lost, _)| !lost);
    let told = limits.into_iter().map(|(lost, drill)| match lost {
        true => format!("{drill} (the work was lost)"),
        false => drill.to_owned(),
    });
    told.collect()
}

fn named(what: &str, names: Vec<String>) -> Markup {
    html! {
        @if !names.is_empty() {
            p { (what) ": " (names.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", "))
                @if names.len() > NAMED_MAX { " and " (names.len() - NAMED_MAX) " more" } "." }
        }
    }
}

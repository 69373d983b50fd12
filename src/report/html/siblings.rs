//! The other runs of the same schedule: which of how many this one is, and where the others are.

use super::FILE;
use crate::report::index;
use crate::report::model::Model;
use crate::report::runs::{Series, Sibling};
use crate::report::words::{count, verdict_word};
use maud::{Markup, html};

/// More runs than this are counted, not listed.
const LISTED_MAX: usize = 100;

/// `run 3 of 10 of this schedule`.
pub fn place(series: &Series) -> String {
    match series.runs.len() {
        0 | 1 => "the only run of this schedule here".to_owned(),
        all => format!("run {} of {all} of this schedule", series.place()),
    }
}

pub fn section(model: &Model, series: &Series) -> Markup {
    let indexed = index::root(&model.dir, &model.result.drill).is_some();
    html! {
        section id="runs" {
            h2 { "Runs of this schedule" }
            p.lead { "Runs in the same folder with the same plan (but for the seed) on the same versions and machine, oldest first, as they lay there when this page was drawn. All of them count in the rate above; inconclusive ones tell nothing." }
            p { (summed(series)) }
            @if series.runs.len() > 1 {
                ul.siblings {
                    @for run in listed(series) { li { (one(run)) } }
                }
                @if series.runs.len() > LISTED_MAX { p { "and " (count(series.runs.len() - LISTED_MAX, "older run")) "." } }
            }
            @if indexed { p { a href=(format!("../../{}", index::FILE)) { "All runs of all drills" } } }
        }
    }
}

fn summed(series: &Series) -> String {
    let or_none = |n: usize, what: &str| match n {
        0 => String::new(),
        n => format!(", {n} {what}"),
    };
    format!(
        "This is {}: {} passed{}, {} failed{}.",
        place(series),
        series.passed,
        or_none(series.limits, "reached the limit"),
        series.failed,
        or_none(series.inconclusive, "inconclusive")
    )
}

/// The youngest that fit, and always the one that the page tells of.
fn listed(series: &Series) -> impl Iterator<Item = &Sibling> {
    let skipped = series.runs.len().saturating_sub(LISTED_MAX);
    let runs = series.runs.iter().enumerate();
    runs.filter(move |(index, run)| *index >= skipped || run.here)
        .map(|(_, run)| run)
}

fn one(run: &Sibling) -> Markup {
    let verdict = verdict_word(run.verdict);
    html! {
        @if run.here { b { (run.id) } " (this page)" } @else {
            a href=(format!("../{}/{FILE}", run.id)) { (run.id) }
        }
        " " (verdict)
    }
}

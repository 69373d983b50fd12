//! The part of the index that answers the fifteen points before going live.

use super::super::checklist::{POINTS, Point, Proof, Standing, standing};
use super::super::past::trend::Series;
use crate::checks::Outcome;
use crate::report::html::of_run;
use maud::{Markup, html};
use std::path::Path;

pub(super) fn section(root: &Path, series: &[Series]) -> Markup {
    if series.is_empty() {
        return html! {};
    }
    html! {
        section id="checklist" {
            h2 { "Before going live" }
            p.lead { "Answered by the last night of the drills named. What is shown speaks of those runs, with those faults, on that lock and store, and of nothing else." }
            p { (summed(series)) }
            ol.worse {
                @for point in &POINTS {
                    @let (standing, proofs) = standing(point, series);
                    @let (class, word) = words(&standing);
                    li {
                        (point.what) ": " span class=(format!("outcome {class}")) { (word) }
                        @if standing == Standing::Human { " — " (point.human) }
                        @for proof in &proofs { " · " (told(root, proof)) }
                        @if let Some((drill, why)) = beside(point, series) { p.aside { (drill) ": " (why) "." } }
                    }
                }
            }
        }
    }
}

/// What seems to speak against a point, if that drill has run.
fn beside(point: &Point, series: &[Series]) -> Option<(&'static str, &'static str)> {
    let told = point.beside?;
    let mut ran = series.iter();
    ran.any(|series| series.drill == told.0).then_some(told)
}

/// How many points stand how, so that what is open is not read over.
fn summed(series: &[Series]) -> String {
    let all: Vec<Standing> = POINTS
        .iter()
        .map(|point| standing(point, series).0)
        .collect();
    let n = |wanted: &[Standing]| all.iter().filter(|one| wanted.contains(one)).count();
    let parts = [
        (n(&[Standing::Failed]), "failed"),
        (n(&[Standing::Limit]), "reached a limit"),
        (
            n(&[Standing::Partly, Standing::NotTested, Standing::NotRun]),
            "left unanswered, or in part",
        ),
        (n(&[Standing::Proven]), "shown"),
        (n(&[Standing::Human]), "for a human"),
    ];
    let told: Vec<String> = parts
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
    format!("Of the {} points: {}.", POINTS.len(), told.join(", "))
}

fn words(standing: &Standing) -> (&'static str, &'static str) {
    match standing {
        Standing::Proven => ("holds", "✓ shown by all drills named here"),
        Standing::Failed => ("violated", "✕ failed"),
        Standing::Limit => ("limit", "L a limit, as the drill's file says beforehand"),
        Standing::Partly => ("unknown", "? shown in part: not by all drills named here"),
        Standing::NotTested => (
            "unknown",
            "? left unanswered: not shown by those of its drills that were run here",
        ),
        Standing::NotRun => (
            "unknown",
            "? left unanswered: none of its drills was run here",
        ),
        Standing::Human => ("vacuous", "for a human"),
    }
}

fn told(root: &Path, proof: &Proof) -> Markup {
    let sign = match proof.outcome {
        Some(Outcome::Holds) => "✓",
        Some(Outcome::Violated) if proof.foretold => "L",
        Some(Outcome::Violated) => "✕",
        Some(Outcome::Unknown) => "?",
        None if proof.run.is_some() => "not put to the test",
        None => "did not run",
    };
    let page = proof
        .run
        .as_ref()
        .and_then(|run| of_run(root, proof.drill, run));
    html! {
        @if let Some(page) = page { a href=(page) { (proof.drill) } } @else { (proof.drill) }
        " " small { (proof.check) " " (sign) }
    }
}

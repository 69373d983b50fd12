//! The checks of the main arm: what each claims, what it found, and the lines it rests on.

use super::links::Links;
use crate::checks::{self, Finding, Outcome};
use crate::report::model::{ArmModel, Model};
use crate::report::sentence::capital;
use crate::report::story::{is_foretold, notes};
use crate::report::tried::is_untried_in;
use crate::report::words::outcome_word;
use maud::{Markup, html};

pub fn section(model: &Model, links: &Links) -> Markup {
    links.begin_section();
    html! {
        section id="checks" {
            h2 { "Checks" }
            p.lead { "Each check judges one property, on the record alone." }
            @match model.main() {
                Some(main) => (table(main, links)),
                None => p { "Nothing was judged." },
            }
        }
    }
}

/// The findings of an arm as a table.
pub fn table(arm: &ArmModel, links: &Links) -> Markup {
    html! {
        @if let Some(defect) = &arm.result.defect {
            p.note { b { "The record contradicts itself: " } (defect) ". This is a defect of lockdrill, not of the lock." }
        }
        @if arm.result.checks.is_empty() { p { "Nothing was judged." } } @else {
            table.checks {
                thead { tr { th scope="col" { "check" } th scope="col" { "outcome" } th scope="col" { "what the record shows" } } }
                tbody { @for finding in &arm.result.checks { (row(arm, finding, links)) } }
            }
        }
    }
}

fn row(arm: &ArmModel, finding: &Finding, links: &Links) -> Markup {
    let claim = checks::ALL
        .iter()
        .find(|check| check.name() == finding.check)
        .map(|check| check.claim());
    html! {
        tr {
            th scope="row" {
                code { (finding.check) }
                @if let Some(claim) = claim { small { (links.explain(claim)) } }
            }
            td { (outcome(arm, finding)) }
            td {
                (links.explain(&finding.why))
                @if !finding.by.is_empty() { span.by { " Witness: " (finding.by.join(", ")) "." } }
                " " (links.events(arm, &finding.events))
                @if let Some(note) = notes::note(arm, finding) { small.note-below { (links.explain(&capital(&note))) "." } }
            }
        }
    }
}

fn outcome(arm: &ArmModel, finding: &Finding) -> Markup {
    let foretold = finding.outcome == Outcome::Violated && is_foretold(arm, &finding.check);
    let untried = is_untried_in(arm, finding);
    let (class, sign) = match finding.outcome {
        Outcome::Holds if untried => ("vacuous", "○"),
        Outcome::Holds => ("holds", "✓"),
        Outcome::Violated => ("violated", "✕"),
        Outcome::Unknown => ("unknown", "?"),
    };
    html! {
        span class=(format!("outcome {class}")) { (sign) " " (outcome_word(finding.outcome)) }
        @if untried { small { "not put to the test" } }
        @if foretold { small { "the limit that the drill's file names beforehand" } }
    }
}

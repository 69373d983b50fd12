//! Every drill against every check, by the last night of each drill.

use super::super::past::trend::{Night, Series};
use super::trend::SERIES_MAX;
use crate::checks::{self, Outcome};
use maud::{Markup, html};

pub(super) fn section(series: &[Series]) -> Markup {
    let all: Vec<&str> = checks::ALL.iter().map(|check| check.name()).collect();
    html! {
        h2 { "Drills and checks, last night of each" }
        p.lead {
            span.outcome.holds { "✓" } " held in every execution, "
            span.outcome.violated { "✕" } " violated in one, "
            span.outcome.limit { "L" } " violated as the drill's file foretells: a limit of the design, "
            span.outcome.unknown { "?" } " could not be told in one, "
            span.outcome.vacuous { "·" } " not put to the test."
        }
        p.hints { "A check that a drill does not name below was not put to the test there." }
        details { summary { "What each check judges" }
            dl.facts { @for check in checks::ALL { dt { (check.name()) } dd { (check.claim()) } } }
        }
        table.matrix {
            thead { tr { th scope="col" { "drill" }
                @for check in &all { th scope="col" { span { (check) } } } } }
            tbody {
                @for series in series.iter().take(SERIES_MAX) {
                    tr { th scope="row" { (series.drill) }
                        @for check in &all { (cell(check, series.last())) } }
                }
            }
        }
    }
}

fn cell(check: &str, night: Option<&Night>) -> Markup {
    let outcome = night.and_then(|night| night.checks.get(check));
    let foretold = night.is_some_and(|night| night.foretells(check));
    let (class, sign, word) = match outcome {
        Some(Outcome::Holds) => ("holds", "✓", "holds"),
        Some(Outcome::Violated) if foretold => ("limit", "L", "a limit, as foretold"),
        Some(Outcome::Violated) => ("violated", "✕", "violated"),
        Some(Outcome::Unknown) => ("unknown", "?", "unknown"),
        None => ("vacuous", "·", "not put to the test"),
    };
    html! { td class=(class) data-of=(check) title=(format!("{check}: {word}")) { span class=(format!("outcome {class}")) { (sign) } } }
}

//! The top of the page: the first line, the verdict, what became of the work and why, and the
//! answers that a stranger looks for.

use super::links::Links;
use super::siblings;
use crate::report::model::{ArmModel, Model};
use crate::report::runs::Series;
use crate::report::sentence::{Sentence, stop};
use crate::report::story::{
    beside, controls, faults_done, first_line, holding, next, protection, saved, stale_writes,
    summed, two_holders, unheard,
};
use crate::report::words::{protection_word, verdict_word};
use maud::{Markup, html};

pub fn section(model: &Model, series: &Series, links: &Links) -> Markup {
    let verdict = verdict_word(model.result.verdict);
    let summary = model.plan().map_or("", |plan| plan.summary.as_str());
    html! {
        header.top {
            p.crumb { "lockdrill · drill " b { (model.result.drill) } " · run " (run_name(model)) " · "
                a href="#runs" { (siblings::place(series)) } " · " a href="#words" { "words used here" } }
            h1 { (links.typed(&first_line::first_line(model, series))) }
            @if !summary.is_empty() { p.question { "The drill: " (summary) (stop(summary)) } }
            div.answers {
                p class=(format!("badge {verdict}")) { small { "verdict" } b { (verdict) } }
                p class=(format!("badge {}", tone(model))) {
                    small { "protection of the work" }
                    b { (protection_word(model.result.protection)) }
                }
                @if let Some(main) = model.main() {
                    p.why { (links.sentence(main, &protection::why(main).capital())) "." }
                }
            }
            (troubles(model))
            @if let Some(main) = model.main() { (glance(model, main, series, links)) }
        }
    }
}

fn tone(model: &Model) -> &'static str {
    use crate::verdict::{Protection, Verdict};
    match model.result.protection {
        // Green would claim more than a run that cannot tell, or in which the fence was wrong.
        Protection::Kept | Protection::KeptByFencing
            if model.result.verdict == Verdict::Inconclusive || is_refused(model) =>
        {
            "neutral"
        }
        Protection::Kept | Protection::KeptByFencing => "good",
        Protection::Lost => "fail",
        Protection::NotTested => "inconclusive",
    }
}

/// A rightful holder's write was refused.
fn is_refused(model: &Model) -> bool {
    let writes = model.main().into_iter().flat_map(|main| &main.scene.writes);
    writes.into_iter().any(|write| write.rightful)
}

fn troubles(model: &Model) -> Markup {
    html! {
        @if let Some(defect) = model.result.defect() {
            div.note role="note" {
                b { "The record contradicts itself, so nothing below may be relied on: " } (defect)
                ". This is a defect of lockdrill, not of the lock."
            }
        }
        @if !model.troubles.is_empty() {
            div.note role="note" {
                b { "Not everything of this run could be read." }
                ul { @for trouble in &model.troubles { li { (trouble) } } }
            }
        }
    }
}

fn glance(model: &Model, main: &ArmModel, series: &Series, links: &Links) -> Markup {
    html! {
        dl.glance {
            (entry("What was done, to whom, when", links, main, &faults_done::told(main)))
            (entry("Who held the lock", links, main, &held(main)))
            (entry("Was a stale write accepted?", links, main, &stale_writes::stale_writes(main)))
            @for (question, answers) in beside::asked(main) {
                (entry(question, links, main, &answers))
            }
            (entry("What saved the work?", links, main, &saved::told(model, main)))
            @if let Some(line) = summed::line(main) { (entry("In numbers", links, main, &[line])) }
            (without(model, links))
            dt { "Is this lock safe?" }
            dd {
                @match two_holders::told(main) {
                    Some(told) => {
                        p { (links.sentence(main, &told.capital())) "." }
                        "Whether it is safe elsewhere, this report does not say. It says what happened in this run"
                    }
                    None => "This report does not say that. It says what happened in this run",
                }
                @if let Some(rate) = first_line::rate(series) { ". " (rate) } @else { "." }
            }
            (entry("What to do next", links, main, &next::actions(model, series)))
        }
    }
}

/// Who held the lock, and what became of whoever had it and never heard of it.
fn held(main: &ArmModel) -> Vec<Sentence> {
    let mut told = vec![holding::holders(&main.scene)];
    told.extend(unheard::told(main));
    told
}

/// What the controls let through; nothing if the drill has none.
fn without(model: &Model, links: &Links) -> Markup {
    let told = controls::told(model);
    html! {
        @if !told.is_empty() {
            dt { "And without each protection?" }
            dd {
                @for (control, sentence) in told {
                    p { (links.sentence(control, &sentence.capital())) "." }
                }
            }
        }
    }
}

fn entry(question: &str, links: &Links, arm: &ArmModel, answers: &[Sentence]) -> Markup {
    html! {
        dt { (question) }
        dd {
            @for answer in answers {
                p { (links.sentence(arm, &answer.clone().capital())) (stop(&answer.plain())) }
            }
        }
    }
}

fn run_name(model: &Model) -> String {
    let dir = std::path::Path::new(&model.result.dir);
    let name = dir.file_name().or_else(|| model.dir.file_name());
    name.unwrap_or_default().to_string_lossy().into_owned()
}

//! The controls beside the main arm: what was taken away, what came of it, and a close look.

use super::links::Links;
use super::{checks, figures};
use crate::report::model::{ArmModel, Model};
use crate::report::scene::rightful::inverted;
use crate::report::scene::writes::Harm;
use crate::report::story::{chain, consequence, protection, violated};
use crate::report::words::{at_ms, count, protection_word, verdict_word};
use crate::verdict::Protection;
use maud::{Markup, html};

pub fn section(model: &Model, links: &Links) -> Markup {
    let controls = model.arms.get(1..).unwrap_or_default();
    links.begin_section();
    html! {
        section id="controls" {
            h2 { "Controls" }
            p.lead { "The same drill again, each time with one thing changed: a protection taken away, a defect built in, or a worker that does it wrong. Here red is what must happen: a control that does not go red, for the reason that it names, shows that the drill cannot see the damage, and the drill is then inconclusive." }
            @if controls.is_empty() { p { "This drill has no control." } }
            @for control in controls { (card(control, model.main(), links)) }
        }
    }
}

/// As a file would say it; a plan leaves out what stands at its default, and that is off.
fn value(value: &serde_json::Value, other: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null if other.as_bool() == Some(true) => "false".to_owned(),
        serde_json::Value::Null => "the default".to_owned(),
        set => set.to_string(),
    }
}

fn card(control: &ArmModel, main: Option<&ArmModel>, links: &Links) -> Markup {
    let (class, answer) = match (control.result.red_as_required, control.result.verdict) {
        (Some(true), _) => ("required", "red, as required".to_owned()),
        (Some(false) | None, Some(verdict)) => {
            ("fail", format!("NOT red ({})", verdict_word(verdict)))
        }
        (Some(false) | None, None) => ("inconclusive", control.result.status.clone()),
    };
    html! {
        article.control {
            h3 { code { (control.result.arm) } " " span class=(format!("tag {class}")) { (answer) } }
            @if let Some(change) = control.plan().and_then(|plan| plan.control.as_ref()) {
                p { "One thing differs from the main arm: " code { (change.path) } " is "
                    code { (value(&change.to, &change.from)) }
                    @if change.from.is_null() { ", which the main arm does not set" }
                    @else { " instead of " code { (value(&change.from, &change.to)) } }
                    ". It must violate " code { (change.check) } ", witnessed by " b { (change.by) } "." }
            }
            @if control.result.red_as_required == Some(true) { (outcome(control, links)) }
            @else { p { (control.result.why) "." } }
            (reds(control, links))
            (steps(control, links))
            @if !control.scene.is_empty() { (figures::small(control, main, links)) }
            @if !control.result.checks.is_empty() {
                details { summary { "Every check of this control" } (checks::table(control, links)) }
            }
        }
    }
}

/// What became of the work, and what that means.
fn outcome(control: &ArmModel, links: &Links) -> Markup {
    let scene = &control.scene;
    let write = protection::most_telling(scene);
    let consequences = write.map_or_else(Vec::new, |write| consequence::of(scene, write));
    let late = write.is_some_and(|write| write.harm() == Some(Harm::Late));
    html! {
        p { "Protection of the work: " b { (protection_word(control.result.protection)) } ". "
            (links.sentence(control, &protection::why(control).capital())) "."
            @for told in consequences { " " (links.sentence(control, &told.capital())) "." }
            @if late && control.result.protection == Protection::Lost {
                " That is why " code { "no_stale_write" } " may hold here although the work is lost: each write was legal when it came."
            }
            @if control.result.protection == Protection::Lost && inverted(scene).is_some() {
                " The checks of writes may hold here although the work is lost: they compare the numbers, and the numbers were wrong."
            }
            @if control.result.protection == Protection::KeptByFencing {
                " The work was kept all the same: what was changed here is not the fence."
            }
        }
    }
}

/// What happened, in the order of time.
fn steps(control: &ArmModel, links: &Links) -> Markup {
    let steps = chain::told(control);
    html! {
        @if !steps.told.is_empty() {
            h4 { "Step by step" }
            ol.steps {
                @for step in &steps.told {
                    li { span.t { (at_ms(step.at)) " s" } span { (links.sentence(control, &step.told.clone().capital())) } }
                }
            }
            @if steps.left_out > 0 { p.aside { (count(steps.left_out, "more step")) " stand in the record alone." } }
        }
    }
}

fn reds(control: &ArmModel, links: &Links) -> Markup {
    html! {
        ul.reds {
            @for finding in violated(control) {
                li { code { (finding.check) } ": " (links.explain(&finding.why)) ". " (links.events(control, &finding.events)) }
            }
        }
    }
}

//! Who held the lock when, and the controls beside the main arm.

use super::checks;
use super::figures;
use super::links::Links;
use crate::report::model::{ArmModel, Model};
use crate::report::scene::Scene;
use crate::report::scene::tenure::{Ended, Tenure};
use crate::report::story::{protection, violated};
use crate::report::words::{at_ms, protection_word, span, verdict_word};
use maud::{Markup, html};

/// More grants than this are counted, not shown.
const GRANTS_MAX: usize = 60;

pub fn holders(model: &Model, links: &Links) -> Markup {
    html! {
        section id="holders" {
            h2 { "Who held the lock when" }
            p.lead {
                "By the lock server's own record, in seconds since the arm began, to within "
                (model.main().map_or_else(String::new, |main| span(main.scene.epsilon)))
                "."
            }
            @match model.main() {
                Some(main) if !main.scene.tenures.is_empty() => (grants(main, links)),
                _ => p { "The record shows no grant." },
            }
        }
    }
}

fn grants(arm: &ArmModel, links: &Links) -> Markup {
    let tenures = &arm.scene.tenures;
    let free = free_before(&arm.scene);
    html! {
        table.grants {
            thead {
                tr {
                    th scope="col" { "from" } th scope="col" { "to" } th scope="col" { "holder" }
                    th scope="col" { "fencing token" } th scope="col" { "how it ended" }
                    th scope="col" { "believed to hold until" }
                }
            }
            tbody {
                @for (tenure, free) in tenures.iter().zip(&free).take(GRANTS_MAX) {
                    @if let Some(since) = free {
                        tr.free { td { (at_ms(*since)) } td { (at_ms(tenure.from)) } td colspan="4" { "nobody" } }
                    }
                    (grant(arm, tenure, links))
                }
            }
        }
        @if tenures.len() > GRANTS_MAX {
            p { "and " (tenures.len() - GRANTS_MAX) " more grants; the raw timeline has them." }
        }
    }
}

/// Since when the lock was free before each grant, where it was for longer than the record blurs.
fn free_before(scene: &Scene) -> Vec<Option<u64>> {
    let mut held_until: Option<u64> = None;
    let free = scene.tenures.iter().map(|tenure| {
        let since =
            held_until.filter(|until| tenure.from > until.saturating_add(2 * scene.epsilon));
        held_until = held_until.max(Some(tenure.until));
        since
    });
    free.collect()
}

fn grant(arm: &ArmModel, tenure: &Tenure, links: &Links) -> Markup {
    let ended = match tenure.ended {
        _ if tenure.key_taken.is_some() => "the key was taken away before its time",
        Ended::Released => "released",
        Ended::Expired => "the lease ran out",
        Ended::Open => "the record ends first",
    };
    let seq = tenure.key_taken.map(|(_, seq)| seq).or(tenure.ended_by);
    html! {
        tr {
            td { (links.link(arm, &at_ms(tenure.from), tenure.granted_by)) }
            td { (at_ms(tenure.until)) }
            td { b { (tenure.worker.as_deref().unwrap_or("unknown")) }
                @if tenure.by_client { small { "by its own account" } } }
            td { @match tenure.fencing { Some(token) => (token), None => "none" } }
            td { @match seq { Some(seq) => (links.link(arm, ended, seq)), None => (ended) } }
            td { (belief(&arm.scene, tenure)) }
        }
    }
}

fn belief(scene: &Scene, tenure: &Tenure) -> Markup {
    let belief = scene
        .beliefs
        .iter()
        .find(|belief| Some(&belief.grant) == tenure.grant.as_ref());
    html! {
        @if let Some(belief) = belief {
            (at_ms(belief.until))
            @if tenure.ended != Ended::Released && belief.until > tenure.until.saturating_add(scene.epsilon) {
                span.late { " " (span(belief.until - tenure.until)) " after its lease ended" }
            }
        } @else { "—" }
    }
}

pub fn controls(model: &Model, links: &Links) -> Markup {
    let controls = model.arms.get(1..).unwrap_or_default();
    html! {
        section id="controls" {
            h2 { "Controls" }
            p.lead { "The same drill with one protection removed. A control must go red for its own reason; else the drill proves nothing." }
            @if controls.is_empty() { p { "This drill has no control." } }
            @for control in controls { (card(control, links)) }
        }
    }
}

fn card(control: &ArmModel, links: &Links) -> Markup {
    let (class, answer) = match (control.result.red_as_required, control.result.verdict) {
        (Some(true), _) => ("good", "red, as required".to_owned()),
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
                    code { (change.to) } " instead of " code { (change.from) }
                    ". It must violate " code { (change.check) } ", witnessed by " b { (change.by) } "." }
            }
            @if control.result.red_as_required == Some(true) {
                p { "Protection of the work: " b { (protection_word(control.result.protection)) } ". "
                    (links.sentence(control, &protection::why(control))) "." }
            } @else { p { (control.result.why) } }
            (reds(control, links))
            @if !control.scene.is_empty() { (figures::small(control, links)) }
            @if !control.result.checks.is_empty() {
                details { summary { "Every check of this control" } (checks::table(control, links)) }
            }
        }
    }
}

fn reds(control: &ArmModel, links: &Links) -> Markup {
    html! {
        ul.reds {
            @for finding in violated(control) {
                li { code { (finding.check) } ": " (finding.why) ". " (links.events(control, &finding.events)) }
            }
        }
    }
}

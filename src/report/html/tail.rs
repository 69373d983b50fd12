//! The end of the page: what the run did not test, and what ran.

use super::links::Links;
use crate::lock::backends;
use crate::plan::{Persist, Plan};
use crate::report::model::Model;
use crate::report::story::{next, untested};
use crate::report::words::millis;
use maud::{Markup, html};

pub fn untested(model: &Model, links: &Links) -> Markup {
    links.begin_section();
    html! {
        section id="untested" {
            h2 { "What this run did not test" }
            ul { @for line in untested::untested(model) { li { (links.explain(&line)) } } }
        }
    }
}

/// What the lock's server keeps over a restart.
fn on_disk(model: &Model, plan: &Plan) -> &'static str {
    let redis = plan.lock.backend.starts_with("redis");
    match plan.lock.persist {
        _ if model.fact("given_server").is_some() => "what its owner has set",
        Persist::None => "nothing (lock.persist = none)",
        Persist::Everysec => {
            "about once a second (lock.persist = everysec: appendonly yes, appendfsync everysec)"
        }
        Persist::Always if redis => {
            "each command before it is answered (lock.persist = always: appendonly yes, appendfsync always)"
        }
        Persist::Always => "each change before it is answered (lock.persist = always)",
    }
}

/// That the machine had more to do than it has processors, and what that means here.
fn busy(model: &Model) -> Option<String> {
    let processors: f64 = model.fact("processors")?.parse().ok()?;
    let told = model.fact("load_1m")?;
    let load: f64 = told.parse().ok()?;
    (load > processors).then(|| {
        format!(
            "This machine was busy when the run began: over the minute before, {told} processes ran or waited for one of its {processors} processors on average (load_1m). Waits and answers may have taken longer than on a quiet machine; which came first does not depend on that."
        )
    })
}

pub fn what_ran(model: &Model) -> Markup {
    html! {
        section id="ran" {
            h2 { "What ran" }
            p { "Run it again: " code.command { (next::command(model)) } }
            dl.facts {
                @if let Some(plan) = model.plan() {
                    dt { "lock" }
                    dd { (plan.lock.backend) ", lease " (millis(plan.lock.lease_ms)) ", "
                        @match plan.lock.renew_ms {
                            Some(renew) => { "renewed every " (millis(renew)) },
                            None => "no renewal by timer",
                        }
                        "; its server keeps on disk: " (on_disk(model, plan))
                        @if plan.lock.copies > 0 { ", a grant counts only when " (plan.lock.copies) " of its replicas are known to have it" }
                        @if let Some(flaw) = &plan.lock.flaw { ", with the built-in defect " code { (flaw) } }
                    }
                    @if let Some(kind) = backends::named(&plan.lock.backend) {
                        dt { "what such a lock promises" } dd { (kind.capabilities.told()) }
                    }
                    dt { "key" } dd { code { (plan.lock.key) } }
                    dt { "store" }
                    dd { (plan.store.kind) ", fence " (crate::report::words::fence_word(plan.store.fence))
                        @if plan.store.seal { ", sealed on entry" }
                        @if plan.store.once { ", one write a fencing token" } }
                    dt { "seed" } dd { (plan.seed) }
                }
                @for fact in &model.facts {
                    @if fact.name != "command" { dt { (fact.name) } dd { (fact.value) } }
                }
            }
            @if let Some(busy) = busy(model) { p { (busy) } }
            @for arm in &model.arms {
                @if !arm.result.earlier_attempts.is_empty() {
                    p { "Executions of " code { (arm.result.arm) } " before the one told here:" }
                    ol { @for attempt in &arm.result.earlier_attempts { li { (attempt) } } }
                }
            }
            p { "Beside this file: "
                code { "plan.json" } ", " code { "timeline.jsonl" } ", " code { "results.json" } ". "
                "Judge the record again with " code { "lockdrill recheck" } "; the timeline, not the seed, is the authority." }
        }
    }
}

//! Who held the lock when.

use super::links::Links;
use crate::report::model::{ArmModel, Model};
use crate::report::scene::Scene;
use crate::report::scene::tenure::{Ended, Tenure};
use crate::report::sentence::capital;
use crate::report::story::holding::{free_before, still_entitled};
use crate::report::story::notes;
use crate::report::words::{at_ms, span};
use maud::{Markup, html};

/// More grants than this are counted, not shown.
const GRANTS_MAX: usize = 60;

pub fn holders(model: &Model, links: &Links) -> Markup {
    html! {
        section id="holders" {
            h2 { "Who held the lock when" }
            p.lead {
                "By the lock server's own record, in seconds since the arm began: when the server did it, by its own clock"
                @if let Some(main) = model.main() { (within(&main.scene)) }
                ". A line of the raw timeline bears the time at which the lab read it, which is later."
            }
            @match model.main() {
                Some(main) if !main.scene.tenures.is_empty() => (grants(main, links)),
                _ => p { "The record shows no grant." },
            }
        }
    }
}

/// How closely the times are known: by the clock alone, and where a release was seen only by its
/// effect, between its request and when that was read.
fn within(scene: &Scene) -> String {
    let widest = scene.tenures.iter().map(|tenure| tenure.blur).max();
    let widest = widest.unwrap_or(0).max(scene.epsilon);
    format!(", known to within {}", span(widest))
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
                @if let Some(first) = tenures.first() { (beginning(first)) }
                @for (index, (tenure, free)) in tenures.iter().zip(&free).enumerate().take(GRANTS_MAX) {
                    (gap(&tenures[..index], tenure, *free))
                    (grant(arm, tenure, links))
                }
                (ending(&arm.scene))
            }
        }
        @if let Some(note) = notes::stopped_believer(&arm.scene) { p.aside { (capital(&note)) "." } }
        @if tenures.len() > GRANTS_MAX {
            p { "and " (tenures.len() - GRANTS_MAX) " more grants; the raw timeline has them." }
        }
    }
}

/// What lies between a grant and those before it: nobody's time, a key that is gone while its
/// holder is still entitled, or less than the record can tell.
fn gap(before: &[Tenure], next: &Tenure, free: Option<u64>) -> Markup {
    let last = before.iter().map(|tenure| tenure.until).max();
    let Some(since) = free
        .or(last)
        .filter(|since| at_ms(*since) != at_ms(next.from) && *since < next.from)
    else {
        return html! {};
    };
    let still = before.iter().rfind(|other| other.entitled > next.from);
    let told = match (free, still.and_then(|other| other.worker.as_deref())) {
        (_, Some(still)) => format!("no key, while {still} was still entitled"),
        (Some(_), None) => "nobody".to_owned(),
        (None, None) => "changes hands, closer than the record can tell".to_owned(),
    };
    html! {
        tr.free { td data-of="from" { (at_ms(since)) } td data-of="to" { (at_ms(next.from)) } td colspan="4" { (told) } }
    }
}

/// Before the first grant nobody held it.
fn beginning(first: &Tenure) -> Markup {
    html! {
        tr.free { td data-of="from" { (at_ms(0)) } td data-of="to" { (at_ms(first.from)) } td colspan="4" { "nobody" } }
    }
}

/// What lies between the last key and the end of the record: first the rest of a promise whose key
/// is gone, then nobody's time. The record says nothing beyond.
fn ending(scene: &Scene) -> Markup {
    let last = scene.tenures.iter().map(|tenure| tenure.until).max();
    let stays = scene
        .tenures
        .last()
        .is_some_and(|tenure| tenure.endless && tenure.ended == Ended::Open);
    let all = scene.tenures.len() <= GRANTS_MAX;
    let (Some(last), true) = (last, all) else {
        return html! {};
    };
    let ends = scene.ends;
    let still = still_entitled(scene, last).filter(|_| !stays && ends > last);
    let free = still.map_or(last, |still| still.entitled.min(ends));
    html! {
        @if let Some(still) = still {
            tr.free { td data-of="from" { (at_ms(last)) } td data-of="to" { (at_ms(free)) } td colspan="4" {
                "no key, while " (still.who()) " was still entitled"
                @if free == ends { "; the record ends at " (at_ms(ends)) }
            } }
        }
        @if ends > free && !stays {
            tr.free { td data-of="from" { (at_ms(free)) } td data-of="to" { (at_ms(ends)) } td colspan="4" { "nobody; the record ends at " (at_ms(ends)) } }
        } @else if still.is_none() {
            tr.free { td data-of="from" { (at_ms(ends)) } td {} td colspan="4" { "the record ends" } }
        }
    }
}

fn grant(arm: &ArmModel, tenure: &Tenure, links: &Links) -> Markup {
    let ended = match (tenure.taken(), tenure.ended) {
        (Some(how), _) if tenure.endless => format!("key without a lease {how}"),
        (Some(how), _) => format!("key {how}; entitled until {}", at_ms(tenure.entitled)),
        (None, Ended::Released) => "released".to_owned(),
        (None, _) if tenure.endless => "a key without a lease: it never ends".to_owned(),
        (None, Ended::Expired) => "the lease ran out".to_owned(),
        (None, Ended::Open) => "its lease still runs when the record ends".to_owned(),
    };
    let seq = tenure
        .key_taken
        .map(|taken| taken.event)
        .or(tenure.ended_by);
    html! {
        tr {
            td data-of="from" { (links.link(arm, &at_ms(tenure.from), tenure.granted_by)) }
            td data-of="to" { (at_ms(tenure.until)) }
            td data-of="holder" { b { (tenure.worker.as_deref().unwrap_or("unknown")) }
                @if tenure.by_client { small { "by its own account" } } }
            td data-of="fencing token" { @match tenure.fencing { Some(token) => (token), None => "none" } }
            td data-of="how it ended" { @match seq { Some(seq) => (links.link(arm, &ended, seq)), None => (ended) } }
            td data-of="believed to hold until" { (belief(&arm.scene, tenure)) }
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
            @if belief.died { small { " then its process was gone" } }
            @if tenure.ended != Ended::Released && belief.until > tenure.entitled.saturating_add(scene.epsilon) {
                span.late { " " (span(belief.until - tenure.entitled)) " after its lease ended" }
            }
        } @else if tenure.unheard { "never: it was not told of the grant" } @else { "—" }
    }
}

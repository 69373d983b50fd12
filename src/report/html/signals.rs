//! The seven signals that an operator of a lock watches, as this run's main arm shows them.

use super::links::Links;
use crate::report::model::Model;
use crate::report::signals;
use maud::{Markup, html};

pub fn section(model: &Model, links: &Links) -> Markup {
    let Some(record) = model.main().and_then(|main| main.record.as_ref()) else {
        return html! {};
    };
    links.begin_section();
    html! {
        section id="signals" {
            h2 { "The seven signals of the lock" }
            dl.facts {
                @for signal in signals::of(&record.history) {
                    dt { (links.explain(signal.name)) } dd { (links.explain(&signal.value)) " " small { "Look first at: " (signal.look_first) "." } }
                }
            }
        }
    }
}

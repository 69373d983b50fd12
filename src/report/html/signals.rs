//! The seven signals that an operator of a lock watches, as this run's main arm shows them: each in
//! figures, as a picture, and with where to look first; and how near the run came to losing its lock.

use super::links::Links;
use crate::report::charts::{paint_svg, signal};
use crate::report::model::Model;
use crate::report::signals;
use crate::report::story::near;
use maud::{Markup, html};

pub fn section(model: &Model, links: &Links) -> Markup {
    let Some((main, record)) = model
        .main()
        .and_then(|main| Some((main, main.record.as_ref()?)))
    else {
        return html! {};
    };
    links.begin_section();
    let nowhere = |_: u64| None;
    html! {
        section id="near" {
            h2 { "How near it was" }
            p.lead { "Figures of this run: they describe it and bound nothing." }
            dl.facts {
                @for (question, told) in near::told(&record.history, &main.scene) {
                    dt { (question) } dd { (links.sentence(main, &told.capital())) "." }
                }
            }
        }
        section id="signals" {
            h2 { "The seven signals of the lock, and what stayed unknown" }
            p.lead { "What to watch of a lock in service, as this run shows it; the red mark on a line of durations is the lease." }
            dl.facts.signals {
                @for signal in signals::of(&record.history, &main.scene) {
                    dt { (links.explain(signal.name)) }
                    dd {
                        (links.explain(&signal.value)) " " small { "Look first at: " (signal.look_first) "." }
                        @if let Some(picture) = signal::draw(&signal) { (paint_svg::inline(&picture, "signal", &nowhere)) }
                    }
                }
            }
        }
    }
}

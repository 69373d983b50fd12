//! Pictures on the page: inline SVG, once wide and once for phones, the style sheet shows one.

use super::links::Links;
use crate::report::charts::swimlane::Legend;
use crate::report::charts::{ALL, paint_svg, swimlane};
use crate::report::model::{ArmModel, Model};
use crate::report::scene::Scene;
use crate::report::story::moment;
use crate::report::words::at_ms;
use maud::{Markup, html};

pub fn timeline(model: &Model, links: &Links) -> Markup {
    html! {
        section id="picture" {
            h2 { "What happened" }
            p.lead { "Time runs from left to right, in seconds since the arm began. Rest on a mark for its story, or touch it: its story then stands below the picture, with the way to its event. Without the script each mark leads to its event at once." }
            @if let Some(main) = model.main() {
                (both(main, &main.scene, links, Legend::All))
                (enlarged(main, links, &main.scene, "The decisive moment"))
            }
        }
    }
}

/// The decisive moment of an arm: what it is, and a close look where that shows more; the legend
/// beyond that of `above`.
fn enlarged(arm: &ArmModel, links: &Links, above: &Scene, heading: &str) -> Markup {
    let Some(moment) = moment::of(arm) else {
        return html! {
            p.lead { "No moment stands out: nothing was broken, and nothing came late or out of order." }
        };
    };
    let heading = if moment.decides {
        heading
    } else {
        "A moment to look at"
    };
    let told = format!("{} s, when {}", at_ms(moment.at), moment.what);
    match moment.near {
        Some(scene) => {
            let legend = Legend::Beyond(Box::new(above.clone()));
            html! {
                h4 { (heading) ": " (told) " (shown from " (at_ms(scene.from)) " to " (at_ms(scene.to)) " s)" }
                (both(arm, &scene, links, legend))
            }
        }
        None => html! { p.lead { (heading) ": " (told) "." } },
    }
}

/// A control's pictures; of the legend only what that of the main arm does not have.
pub fn small(arm: &ArmModel, main: Option<&ArmModel>, links: &Links) -> Markup {
    let above = main.map_or_else(Scene::default, |main| main.scene.clone());
    let heading = if arm.result.red_as_required == Some(true) {
        "What its witness did"
    } else {
        "The decisive moment"
    };
    html! {
        (both(arm, &arm.scene, links, Legend::Beyond(Box::new(above))))
        (enlarged(arm, links, &arm.scene, heading))
    }
}

fn both(arm: &ArmModel, scene: &Scene, links: &Links, legend: Legend) -> Markup {
    let href = |seq| links.href(arm, seq);
    let draw = |narrow| {
        swimlane::draw(
            scene,
            &swimlane::Options {
                narrow,
                legend: legend.clone(),
                heading: None,
            },
        )
    };
    html! {
        figure {
            (paint_svg::inline(&draw(false), "wide", &href))
            (paint_svg::inline(&draw(true), "narrow", &href))
        }
    }
}

pub fn charts(model: &Model, links: &Links) -> Markup {
    let Some(main) = model.main() else {
        return html! {};
    };
    let drawn: Vec<_> = ALL
        .iter()
        .filter_map(|chart| Some((chart, (chart.draw)(&main.scene)?)))
        .collect();
    let href = |seq| links.href(main, seq);
    html! {
        @if !drawn.is_empty() {
            section id="charts" {
                h2 { "Numbers behind it" }
                div.charts {
                    @for (chart, picture) in &drawn {
                        figure {
                            figcaption { b { (chart.title) } " " (chart.reads) }
                            (paint_svg::inline(picture, "chart", &href))
                        }
                    }
                }
            }
        }
    }
}

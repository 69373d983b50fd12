//! Pictures on the page: inline SVG, once wide and once for phones, the style sheet shows one.

use super::links::Links;
use crate::report::charts::{ALL, paint_svg, swimlane};
use crate::report::model::{ArmModel, Model};
use crate::report::scene::Scene;
use crate::report::story::protection;
use maud::{Markup, html};

pub fn timeline(model: &Model, links: &Links) -> Markup {
    html! {
        section id="picture" {
            h2 { "What happened" }
            p.lead { "Time runs from left to right. Rest on a mark for its story; follow it to its event." }
            @if let Some(main) = model.main() {
                (both(main, &main.scene, links, false))
                @if let Some(moment) = moment(&main.scene) {
                    h3 { "The decisive moment, enlarged" }
                    (both(main, &moment, links, true))
                }
            }
        }
    }
}

/// The time around the write that tells most, if so much happens there that the whole picture
/// cannot show it.
fn moment(scene: &Scene) -> Option<Scene> {
    const CROWD: usize = 4;
    let write = protection::most_telling(scene)?;
    let whole = scene.to.saturating_sub(scene.from);
    let around = |part: u64| {
        let half = (whole / part).max(4_000_000);
        let at = write.at();
        scene.between(at.saturating_sub(half), at.saturating_add(half))
    };
    let near = around(80);
    let crowd = near.writes.len() + near.losses.len() + near.server.len() + near.parks.len();
    (crowd >= CROWD && whole > 200_000_000).then(|| around(40))
}

/// A control's picture, without the legend.
pub fn small(arm: &ArmModel, links: &Links) -> Markup {
    both(arm, &arm.scene, links, true)
}

fn both(arm: &ArmModel, scene: &Scene, links: &Links, plain: bool) -> Markup {
    let href = |seq| links.href(arm, seq);
    let draw = |narrow| {
        swimlane::draw(
            scene,
            &swimlane::Options {
                narrow,
                plain,
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

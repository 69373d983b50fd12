//! Fencing tokens over time at the store: which it accepted, which it refused, and the highest it
//! had accepted. A sound store never accepts below that line.
//!
//! A row a token, in the order of the numbers: a lock whose tokens leap by ten thousand million
//! shows its two grants as clearly as one that counts by ones.

use super::Chart;
use super::ink::Ink;
use super::picture::{Form, Picture};
use super::plot::{Panel, RankAxis, TimeAxis};
use super::swimlane::{seal_form, store_forms, write_note};
use crate::report::scene::Scene;
use crate::report::scene::writes::{Fate, WriteMark};

/// The entry of the list.
pub const CHART: Chart = Chart {
    file: "fencing.png",
    title: "Fencing tokens at the store",
    reads: "A row a fencing token, the highest on top. ● accepted, ✕ refused, ◆ seal; the line is the highest accepted so far. An accepted write below the line, or on it under a token that another grant has used, is damage: it carries a !",
    draw,
};

/// More points than this are thinned out evenly.
const POINTS_MAX: usize = 1500;

fn draw(scene: &Scene) -> Option<Picture> {
    let mut points: Vec<(&WriteMark, u64)> = scene
        .writes
        .iter()
        .filter(|write| write.applied.is_some())
        .filter_map(|write| Some((write, write.fencing?)))
        .collect();
    if points.is_empty() {
        return None;
    }
    points.sort_by_key(|(write, _)| write.at());
    let ranks = RankAxis::over(points.iter().map(|(_, token)| *token));
    let panel = Panel::of_height(ranks.height()).labelled(ranks.width());
    let marks = points.iter().map(|(point, _)| point.at());
    let times = TimeAxis::of_marks((scene.from, scene.to), panel.area, marks);
    let mut picture = panel.begin("Fencing tokens over time at the store");
    times.draw(&mut picture, panel.area.y, panel.bottom());
    let ranks = ranks.at(panel.area);
    ranks.draw(&mut picture);
    highest(&mut picture, &points, (&times, &ranks));
    let step = points.len().div_ceil(POINTS_MAX).max(1);
    for (write, token) in points.iter().step_by(step) {
        point(&mut picture, write, (times.x(write.at()), ranks.y(*token)));
    }
    Some(picture)
}

fn highest(
    picture: &mut Picture,
    points: &[(&WriteMark, u64)],
    (times, ranks): (&TimeAxis, &RankAxis),
) {
    let mut line: Vec<(f64, f64)> = Vec::new();
    let mut best = None;
    for (write, token) in points {
        if write.fate != Fate::Accepted || best.is_some_and(|best| best >= *token) {
            continue;
        }
        let (x, y) = (times.x(write.at()), ranks.y(*token));
        line.extend(line.last().map(|(_, before)| (x, *before)));
        line.push((x, y));
        best = Some(*token);
    }
    line.extend(line.last().map(|(_, y)| (times.left + times.width, *y)));
    if line.len() > 1 {
        picture.add(Form::Path(line, Ink::Muted, 1.4));
    }
}

fn point(picture: &mut Picture, write: &WriteMark, (x, y): (f64, f64)) {
    let note = write_note(write);
    if write.seal {
        let ink = if write.fate == Fate::Rejected {
            Ink::Rejected
        } else {
            Ink::Accepted
        };
        picture.mark(seal_form((x, y), ink), note, write.event);
        return;
    }
    for form in store_forms(write, (x, y)) {
        picture.mark(form, note.clone(), write.event);
    }
}

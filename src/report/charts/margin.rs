//! How much of the lease was left when each renewal was sent: how near the lock came to losing
//! its lease without anybody noticing.

use super::Chart;
use super::ink::Ink;
use super::picture::{Anchor, Form, Picture, Words};
use super::plot::{Panel, TimeAxis, ValueAxis};
use crate::report::scene::Scene;
use crate::report::scene::marks::Renewal;
use crate::report::words::at;

/// The entry of the list.
pub const CHART: Chart = Chart {
    file: "margin.png",
    title: "Lease left at each renewal",
    reads: "● the renewal worked, ✕ it did not. Below zero the lease had ended before the renewal was sent.",
    draw,
};

/// More points than this are thinned out evenly.
const POINTS_MAX: usize = 1500;

fn draw(scene: &Scene) -> Option<Picture> {
    let points: Vec<(&Renewal, f64)> = scene
        .renewals
        .iter()
        .filter_map(|renewal| Some((renewal, renewal.margin? as f64 / 1e6)))
        .collect();
    if points.is_empty() {
        return None;
    }
    let panel = Panel::default();
    let marks = points.iter().map(|(point, _)| point.sent);
    let times = TimeAxis::of_marks((scene.from, scene.to), panel.area, marks);
    let margins = points.iter().map(|(_, margin)| *margin);
    let values = ValueAxis::over(margins.chain([0.0]), panel.area.y, panel.area.h);
    let mut picture = panel.begin("Lease left at each renewal");
    times.draw(&mut picture, panel.area.y, panel.bottom());
    values.draw(&mut picture, (panel.area.x, panel.right()), " ms", true);
    zero(&mut picture, &panel, values.y(0.0));
    let step = points.len().div_ceil(POINTS_MAX).max(1);
    for (renewal, margin) in points.iter().step_by(step) {
        let (x, y) = (times.x(renewal.sent), values.y(*margin));
        let form = if renewal.ok {
            Form::Disc(x, y, 4.0, Ink::Lease(0))
        } else {
            Form::Cross(x, y, 4.5, Ink::Rejected)
        };
        let note = format!(
            "{} sent a renewal at {} with {margin:.0} ms of its lease left; it {}",
            renewal.worker,
            at(renewal.sent),
            if renewal.ok { "worked" } else { "did not work" }
        );
        picture.mark(form, note, renewal.event);
    }
    Some(picture)
}

fn zero(picture: &mut Picture, panel: &Panel, y: f64) {
    let line = vec![(panel.area.x, y), (panel.right(), y)];
    picture.add(Form::Path(line, Ink::Alarm, 1.4));
    picture.add(Form::Text(Words {
        x: panel.right(),
        y: y - 4.0,
        size: 11.0,
        bold: false,
        anchor: Anchor::End,
        ink: Ink::Alarm,
        text: "lease over".to_owned(),
    }));
}

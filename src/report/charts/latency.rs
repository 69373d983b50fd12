//! How long acquisitions waited and renewals took: every value of a few, else the shape of the
//! distribution with its percentiles, on a logarithmic axis.

use super::Chart;
use super::ink::Ink;
use super::picture::{Anchor, Area, Form, Picture, Words};
use super::plot::{LogAxis, Panel};
use crate::report::scene::Scene;
use crate::report::words::{count, span};
use hdrhistogram::Histogram;

/// The entry of the list.
pub const CHART: Chart = Chart {
    file: "latency.png",
    title: "Waits for the lock, and renewals",
    reads: "How long each took, on a logarithmic axis; of many, the bar spans the middle half, the line all, ticks mark the 50th, 90th and 99th percentile.",
    draw,
};

/// So few values are drawn one by one.
const FEW: usize = 24;

/// Height of one row in pixels.
const ROW: f64 = 74.0;

fn draw(scene: &Scene) -> Option<Picture> {
    let renewals: Vec<u64> = scene
        .renewals
        .iter()
        .filter(|renewal| renewal.ok)
        .filter_map(|renewal| Some(renewal.answered?.saturating_sub(renewal.sent)))
        .collect();
    let rows: Vec<_> = [
        ("wait", &scene.waits, Ink::Lease(0)),
        ("renewal", &renewals, Ink::Lease(1)),
    ]
    .into_iter()
    .filter(|(_, values, _)| !values.is_empty())
    .collect();
    let all = rows
        .iter()
        .flat_map(|(_, values, _)| values.iter().copied());
    let axis_of = |panel: &Panel| LogAxis::over(all.clone(), panel.area.x, panel.area.w);
    let panel = Panel::of_height(rows.len() as f64 * ROW);
    let axis = axis_of(&panel)?;
    let mut picture = panel.begin("How long acquisitions waited and renewals took");
    axis.draw(&mut picture, panel.area.y, panel.bottom());
    for (index, (name, values, ink)) in rows.into_iter().enumerate() {
        let row = Row {
            middle: panel.area.y + ROW * (index as f64 + 0.5) + 8.0,
            ink,
            axis: &axis,
        };
        row.name(&mut picture, panel.area.x, (name, values.len()));
        if values.len() <= FEW {
            row.each(&mut picture, name, values);
        } else {
            row.shape(&mut picture, name, values);
        }
    }
    Some(picture)
}

struct Row<'a> {
    middle: f64,
    ink: Ink,
    axis: &'a LogAxis,
}

impl Row<'_> {
    fn name(&self, picture: &mut Picture, left: f64, (name, n): (&str, usize)) {
        picture.add(Form::Text(Words {
            x: left + 4.0,
            y: self.middle - 22.0,
            size: 11.5,
            bold: true,
            anchor: Anchor::Start,
            ink: Ink::Text,
            text: count(n, name),
        }));
    }

    fn each(&self, picture: &mut Picture, name: &str, values: &[u64]) {
        for value in values {
            let form = Form::Disc(self.axis.x(*value), self.middle, 4.5, self.ink);
            picture.note(form, format!("{name}: {}", span(*value)));
        }
    }

    fn shape(&self, picture: &mut Picture, name: &str, values: &[u64]) {
        // Three digits; it grows as it must, and a value that it cannot hold counts as its largest.
        let Ok(mut histogram) = Histogram::<u64>::new(3) else {
            return;
        };
        for value in values {
            if histogram.record(*value).is_err() {
                histogram.saturating_record(*value);
            }
        }
        let at = |quantile| self.axis.x(histogram.value_at_quantile(quantile));
        let whole = vec![(at(0.0), self.middle), (at(1.0), self.middle)];
        picture.add(Form::Path(whole, self.ink, 1.4));
        let half = Area {
            x: at(0.25),
            y: self.middle - 7.0,
            w: (at(0.75) - at(0.25)).max(2.0),
            h: 14.0,
        };
        picture.note(
            Form::Fill(half, self.ink),
            format!(
                "{name}: half of all between {} and {}",
                span(histogram.value_at_quantile(0.25)),
                span(histogram.value_at_quantile(0.75))
            ),
        );
        let mut free_from = f64::NEG_INFINITY;
        for (quantile, label) in [
            (0.5, "50 %"),
            (0.9, "90 %"),
            (0.99, "99 %"),
            (1.0, "longest"),
        ] {
            let value = span(histogram.value_at_quantile(quantile));
            free_from = self.tick(
                picture,
                (at(quantile), free_from),
                &format!("{label} {value}"),
            );
        }
    }

    /// A tick with its label, if there is room; returns from where the next label may begin.
    fn tick(&self, picture: &mut Picture, (x, free_from): (f64, f64), text: &str) -> f64 {
        let form = Form::Path(
            vec![(x, self.middle - 10.0), (x, self.middle + 10.0)],
            Ink::Text,
            1.6,
        );
        picture.note(form, text.to_owned());
        let words = Words {
            x,
            y: self.middle + 23.0,
            size: 10.5,
            bold: false,
            anchor: Anchor::Middle,
            ink: Ink::Muted,
            text: text.to_owned(),
        };
        let area = words.area();
        if area.x < free_from || area.x < 0.0 || area.x + area.w > picture.width {
            return free_from;
        }
        picture.add(Form::Text(words));
        area.x + area.w + 6.0
    }
}

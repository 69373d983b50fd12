//! The legend: only what the picture shows, flowing over as many rows as it needs.

use super::samples::ALL;
use super::{Canvas, Legend, Options};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Form, Words, text_width, wrap};
use crate::report::scene::Scene;

impl Canvas<'_> {
    /// Draws the legend from `y` down and returns where it ends.
    pub(super) fn legend(&mut self, y: f64, which: &Legend) -> f64 {
        let told: Vec<&str> = match which {
            Legend::Beyond(scene) => shown(scene),
            Legend::All | Legend::None => Vec::new(),
        };
        let mut entries = ALL.to_vec();
        entries
            .retain(|entry| self.shown.contains(&entry.meaning) && !told.contains(&entry.meaning));
        if entries.is_empty() {
            return y - 6.0;
        }
        let left = if self.narrow { 10.0 } else { self.axis.left };
        let right = self.picture.width - 10.0;
        let (mut x, mut y) = (left, y + 10.0);
        for entry in entries {
            let lines = wrap(entry.meaning, right - left - 26.0, 11.5);
            let widths = lines.iter().map(|line| text_width(line, 11.5, false));
            let width = 26.0 + widths.fold(0.0, f64::max);
            if x > left && x + width > right {
                x = left;
                y += 21.0;
            }
            for form in (entry.sample)(x, y) {
                self.picture.add(form);
            }
            for (n, text) in lines.into_iter().enumerate() {
                // Nothing stands beside an entry of several lines.
                y += if n == 0 { 0.0 } else { 15.0 };
                self.picture.add(Form::Text(Words {
                    x: x + 25.0,
                    y: y + 4.0,
                    size: 11.5,
                    bold: false,
                    anchor: Anchor::Start,
                    ink: Ink::Text,
                    text,
                }));
            }
            x += width + 14.0;
        }
        y + 18.0
    }
}

/// What a picture of this scene shows, by its meaning.
fn shown(scene: &Scene) -> Vec<&'static str> {
    let mut canvas = Canvas::new(scene, &Options::default());
    if !scene.is_empty() {
        canvas.draw();
    }
    canvas.shown
}

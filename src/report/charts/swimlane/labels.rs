//! Labels in the picture: where there is room, and some of them wherever they must be read.

use super::Canvas;
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Form, Words};

impl Canvas<'_> {
    /// Places a small label at the first free of these places, or leaves it out and says so.
    pub(super) fn label(
        &mut self,
        text: &str,
        ink: Ink,
        bold: bool,
        places: &[(f64, f64, Anchor)],
    ) -> bool {
        let words = small(text, ink, bold);
        let bounds = self.plot();
        match self.shelf.place(&words, places, bounds) {
            Some(words) => {
                self.picture.add(Form::Text(words));
                true
            }
            None => false,
        }
    }

    /// The longest of these labels for which there is room; if there is none the shortest, at the
    /// first place inside the picture, on a ground of its own: this label must be read.
    pub(super) fn must_label(&mut self, texts: &[&str], ink: Ink, places: &[(f64, f64, Anchor)]) {
        if texts.iter().any(|text| self.label(text, ink, true, places)) {
            return;
        }
        let (Some(text), Some((x, y, anchor))) = (texts.last(), places.first()) else {
            return;
        };
        let words = Words {
            x: *x,
            y: *y,
            anchor: *anchor,
            ..small(text, ink, true)
        };
        self.shelf.take(words.area());
        self.picture.add(Form::Fill(words.area(), Ink::Page));
        self.picture.add(Form::Text(words));
    }

    pub(super) fn text(&mut self, x: f64, y: f64, text: &str) {
        self.picture.add(Form::Text(Words {
            x,
            y,
            size: 12.0,
            bold: false,
            anchor: Anchor::Start,
            ink: Ink::Muted,
            text: text.to_owned(),
        }));
    }
}

pub(super) fn small(text: &str, ink: Ink, bold: bool) -> Words {
    Words {
        x: 0.0,
        y: 0.0,
        size: 11.0,
        bold,
        anchor: Anchor::Start,
        ink,
        text: text.to_owned(),
    }
}

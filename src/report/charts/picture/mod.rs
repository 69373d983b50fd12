//! A picture before it is painted: shapes in pixels, with the ink by role and not by colour.
//!
//! What a shape means to a reader (`note`) and which event it stands for (`event`) travel with
//! it: the SVG painter makes tooltips and links of them, the PNG painter leaves them out.

mod fit;

pub use fit::{Lies, Shelf, inside, text_width, touch, wrap};

use super::ink::Ink;

/// Shapes on a canvas; later ones lie on top.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Width in CSS pixels.
    pub width: f64,
    /// Height in CSS pixels.
    pub height: f64,
    /// What it shows, in one sentence, for readers who cannot see it.
    pub label: String,
    /// The shapes.
    pub shapes: Vec<Shape>,
}

/// One shape.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Its form.
    pub form: Form,
    /// What it means: the tooltip.
    pub note: Option<String>,
    /// Place in the timeline of the event that it stands for.
    pub event: Option<u64>,
}

/// A rectangle by its upper left corner and size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width, ≥ 0.
    pub w: f64,
    /// Height, ≥ 0.
    pub h: f64,
}

/// Where a text stands in relation to its x.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
}

/// The forms.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// A filled rectangle.
    Fill(Area, Ink),
    /// The outline of a rectangle; dashed or not.
    Outline(Area, Ink, bool),
    /// Diagonal strokes inside a rectangle.
    Hatch(Area, Ink),
    /// A straight or broken line through points.
    Path(Vec<(f64, f64)>, Ink, f64),
    /// A filled polygon.
    Polygon(Vec<(f64, f64)>, Ink),
    /// A filled disc: centre and radius.
    Disc(f64, f64, f64, Ink),
    /// A ring filled with the page: centre and radius.
    Ring(f64, f64, f64, Ink),
    /// An ✕: centre and half its size.
    Cross(f64, f64, f64, Ink),
    /// A line of text on its baseline.
    Text(Words),
}

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    /// Where, in relation to `anchor`.
    pub x: f64,
    /// Baseline.
    pub y: f64,
    /// Font size in CSS pixels.
    pub size: f64,
    /// Bold.
    pub bold: bool,
    /// Alignment.
    pub anchor: Anchor,
    /// Colour by role.
    pub ink: Ink,
    /// The text.
    pub text: String,
}

impl Picture {
    /// An empty canvas.
    pub fn new(width: f64, height: f64, label: impl Into<String>) -> Self {
        Picture {
            width,
            height,
            label: label.into(),
            shapes: Vec::new(),
        }
    }

    /// The same picture, its shapes moved down by `dy` pixels.
    #[must_use]
    pub fn moved(mut self, dy: f64) -> Self {
        let down = |points: &mut Vec<(f64, f64)>| points.iter_mut().for_each(|(_, y)| *y += dy);
        for shape in &mut self.shapes {
            match &mut shape.form {
                Form::Fill(area, _) | Form::Outline(area, _, _) | Form::Hatch(area, _) => {
                    area.y += dy;
                }
                Form::Path(points, _, _) | Form::Polygon(points, _) => down(points),
                Form::Disc(_, y, _, _) | Form::Ring(_, y, _, _) | Form::Cross(_, y, _, _) => {
                    *y += dy;
                }
                Form::Text(words) => words.y += dy,
            }
        }
        self
    }

    /// Adds a form that means nothing by itself.
    pub fn add(&mut self, form: Form) {
        self.shapes.push(Shape {
            form,
            note: None,
            event: None,
        });
    }

    /// Adds a form that stands for an event.
    pub fn mark(&mut self, form: Form, note: String, event: u64) {
        self.shapes.push(Shape {
            form,
            note: Some(note),
            event: Some(event),
        });
    }

    /// Adds a form with a tooltip alone.
    pub fn note(&mut self, form: Form, note: String) {
        self.shapes.push(Shape {
            form,
            note: Some(note),
            event: None,
        });
    }
}

/// The strokes of a hatch: 45° lines seven pixels apart, cut at the edges.
pub fn hatch_lines(area: Area) -> Vec<((f64, f64), (f64, f64))> {
    const GAP: f64 = 7.0;
    const LINES_MAX: usize = 400;
    let Area { x, y, w, h } = area;
    let mut lines = Vec::new();
    let mut offset = GAP / 2.0;
    while offset < w + h && lines.len() < LINES_MAX {
        // From the lower or right edge up to the right or upper edge: x + y is constant.
        let from_x = (offset - h).max(0.0);
        let to_x = offset.min(w);
        lines.push((
            (x + from_x, y + offset - from_x),
            (x + to_x, y + offset - to_x),
        ));
        offset += GAP;
    }
    lines
}

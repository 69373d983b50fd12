//! Text that fits: how wide it is, where it breaks, and where a label has room.

use super::{Anchor, Area, Form, Shape, Words};
use crate::report::charts::ink::Ink;

/// The width of a text in the embedded font, in pixels: an estimate on the wide side, so that
/// labels which fit by it never touch.
pub fn text_width(text: &str, size: f64, bold: bool) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'l' | 'j' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | 'I' => 0.33,
            'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.41,
            'm' | 'w' | 'M' | 'W' | '—' | '…' => 0.95,
            'A'..='Z' => 0.71,
            _ => 0.63,
        })
        .sum();
    ems * size * if bold { 1.12 } else { 1.0 }
}

/// Breaks a line at spaces so that each part fits.
pub fn wrap(line: &str, width: f64, size: f64) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        match parts.last_mut() {
            Some(last)
                if text_width(last, size, false) + text_width(word, size, false) + size * 0.33
                    <= width =>
            {
                last.push(' ');
                last.push_str(word);
            }
            _ => parts.push(word.to_owned()),
        }
    }
    parts
}

/// What a label may lie on. It never lies on another text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lies {
    /// On nothing but ground.
    Free,
    /// On a bar of its own colour.
    OnBar,
    /// On lines that run behind everything; it needs a ground of its own.
    OverLines,
    /// On marks as well: it must be read.
    Anywhere,
}

/// What lies where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    /// A line behind everything.
    Line,
    /// A bar.
    Bar,
    /// A mark.
    Mark,
    /// A text.
    Text,
}

/// What the shapes of a picture cover: a label is only placed where it can be read. One without
/// room is left out; the tooltip of its shape still tells.
#[derive(Debug)]
pub struct Shelf {
    columns: Vec<Vec<(Area, Layer)>>,
}

/// Width of a column in pixels.
const COLUMN: f64 = 48.0;

/// Two texts stand at least this far apart from left to right.
const BETWEEN: f64 = 4.0;

impl Shelf {
    /// Over these shapes; the first `behind` of them run behind the others.
    pub fn over(shapes: &[Shape], width: f64, behind: usize) -> Self {
        let columns = (width.max(1.0) / COLUMN).ceil() as usize + 1;
        let mut shelf = Shelf {
            columns: vec![Vec::new(); columns],
        };
        for (index, shape) in shapes.iter().enumerate() {
            for (area, layer) in covered(&shape.form) {
                let line = index < behind && layer == Layer::Mark;
                shelf.take(area, if line { Layer::Line } else { layer });
            }
        }
        shelf
    }

    fn range(&self, area: Area) -> std::ops::RangeInclusive<usize> {
        let last = self.columns.len() - 1;
        let column = |x: f64| ((x / COLUMN).max(0.0) as usize).min(last);
        column(area.x)..=column(area.x + area.w)
    }

    fn take(&mut self, area: Area, layer: Layer) {
        for column in self.range(area) {
            self.columns[column].push((area, layer));
        }
    }

    /// The text can stand here, inside `bounds`, on what it may lie on; it then has the place.
    pub fn place(&mut self, words: &Words, lies: Lies, bounds: Area) -> bool {
        let area = words.area();
        let wide = Area {
            x: area.x - BETWEEN,
            w: area.w + 2.0 * BETWEEN,
            ..area
        };
        let stands = |(other, layer): &(Area, Layer)| match (layer, lies) {
            (Layer::Text, _) => touch(wide, *other),
            (Layer::Line, Lies::Free) | (Layer::Bar, Lies::Free | Lies::OverLines) => {
                touch(area, *other)
            }
            (Layer::Mark, Lies::Free | Lies::OnBar | Lies::OverLines) => touch(area, *other),
            _ => false,
        };
        let mut columns = self.range(wide);
        let free = inside(area, bounds) && !columns.any(|n| self.columns[n].iter().any(stands));
        if free {
            self.take(area, Layer::Text);
        }
        free
    }
}

/// The areas that a form covers; a ground covers nothing.
fn covered(form: &Form) -> Vec<(Area, Layer)> {
    const SMALL: f64 = 22.0;
    match form {
        Form::Fill(_, ink) | Form::Hatch(_, ink) | Form::Path(_, ink, _) if ink.is_ground() => {
            Vec::new()
        }
        Form::Fill(area, Ink::Lease(_)) => vec![(*area, Layer::Bar)],
        Form::Fill(area, _) | Form::Hatch(area, _) => vec![(*area, Layer::Mark)],
        Form::Outline(area, _, _) if area.w <= SMALL && area.h <= SMALL => {
            vec![(*area, Layer::Mark)]
        }
        Form::Outline(Area { x, y, w, h }, _, _) => {
            let (right, low) = (x + w, y + h);
            let corners = [(*x, *y), (right, *y), (right, low), (*x, low), (*x, *y)];
            strokes(&corners, 1.0)
        }
        Form::Path(points, _, width) => strokes(points, *width),
        Form::Polygon(points, _) => vec![(around(points, 0.0), Layer::Mark)],
        Form::Disc(x, y, r, _) | Form::Ring(x, y, r, _) | Form::Cross(x, y, r, _) => {
            vec![(around(&[(*x, *y)], r + 1.0), Layer::Mark)]
        }
        Form::Text(words) => vec![(words.area(), Layer::Text)],
    }
}

fn strokes(points: &[(f64, f64)], width: f64) -> Vec<(Area, Layer)> {
    let sides = points.windows(2);
    sides
        .map(|side| (around(side, width / 2.0), Layer::Mark))
        .collect()
}

/// The smallest area that holds these points, and this much more on each side.
fn around(points: &[(f64, f64)], more: f64) -> Area {
    let fold = |least: fn(f64, f64) -> f64, from: f64, of: fn(&(f64, f64)) -> f64| {
        points.iter().map(of).fold(from, least)
    };
    let (x, y) = (
        fold(f64::min, f64::INFINITY, |point| point.0) - more,
        fold(f64::min, f64::INFINITY, |point| point.1) - more,
    );
    Area {
        x,
        y,
        w: fold(f64::max, f64::NEG_INFINITY, |point| point.0) + more - x,
        h: fold(f64::max, f64::NEG_INFINITY, |point| point.1) + more - y,
    }
}

impl Words {
    /// What it covers.
    pub fn area(&self) -> Area {
        let w = text_width(&self.text, self.size, self.bold);
        let x = match self.anchor {
            Anchor::Start => self.x,
            Anchor::Middle => self.x - w / 2.0,
            Anchor::End => self.x - w,
        };
        Area {
            x,
            y: self.y - self.size * 0.85,
            w,
            h: self.size * 1.1,
        }
    }
}

/// One area lies in another.
pub fn inside(inner: Area, outer: Area) -> bool {
    inner.x >= outer.x
        && inner.y >= outer.y
        && inner.x + inner.w <= outer.x + outer.w
        && inner.y + inner.h <= outer.y + outer.h
}

/// Two areas have a point in common that is not on their edge.
pub fn touch(a: Area, b: Area) -> bool {
    a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}

//! Text that fits: how wide it is, where it breaks, and where a label has room.

use super::{Anchor, Area, Words};

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

/// Places labels so that none lies over another; a label without room is left out (its shape's
/// tooltip still tells).
#[derive(Debug, Default)]
pub struct Shelf {
    taken: Vec<Area>,
}

impl Shelf {
    /// Marks an area as taken.
    pub fn take(&mut self, area: Area) {
        self.taken.push(area);
    }

    /// The first of these places at which the text touches nothing and stays inside `bounds`.
    pub fn place(
        &mut self,
        words: &Words,
        places: &[(f64, f64, Anchor)],
        bounds: Area,
    ) -> Option<Words> {
        places.iter().find_map(|(x, y, anchor)| {
            let placed = Words {
                x: *x,
                y: *y,
                anchor: *anchor,
                ..words.clone()
            };
            let area = placed.area();
            let free = inside(area, bounds) && !self.taken.iter().any(|other| touch(area, *other));
            free.then(|| {
                self.taken.push(area);
                placed
            })
        })
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

fn inside(inner: Area, outer: Area) -> bool {
    inner.x >= outer.x
        && inner.y >= outer.y
        && inner.x + inner.w <= outer.x + outer.w
        && inner.y + inner.h <= outer.y + outer.h
}

fn touch(a: Area, b: Area) -> bool {
    a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}

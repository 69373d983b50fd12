//! A picture as PNG: drawn three times too large with plotters and scaled down, because its
//! bitmap back end draws small circles and text roughly; with the embedded font, so that a bare
//! container draws the same picture.
//!
//! The trap: a font family that was not registered makes every text call fail.

use super::ink::{Ink, Tone};
use super::picture::{Anchor, Area, Form, Picture, Words, hatch_lines};
use crate::report::error::ReportError;
use image::{ImageOutputFormat, RgbImage};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};
use std::io::Cursor;
use std::sync::OnceLock;

mod shrink;

use shrink::{OVERSAMPLE, shrunk};

const NORMAL: &[u8] = include_bytes!("../../../assets/lockdrill-sans.ttf");
const BOLD: &[u8] = include_bytes!("../../../assets/lockdrill-sans-bold.ttf");
const FAMILY: &str = "sans-serif";

/// plotters sizes a font by its line height, style sheets by its em: DejaVu's line is 1.164 em.
const LINE_PER_EM: f64 = 1.164;

/// Larger pictures are refused: nobody looks at them, and the bitmap would not fit in memory.
const PIXELS_MAX: f64 = 7_000_000.0;

/// Paints a picture `scale` output pixels per CSS pixel.
///
/// # Errors
/// When the picture is too large or the drawing library fails.
pub fn paint(picture: &Picture, scale: f64) -> Result<Vec<u8>, ReportError> {
    let failed = |error: &dyn std::fmt::Display| ReportError::draw("picture", error);
    register_fonts()?;
    let (width, height) = (picture.width * scale, picture.height * scale);
    if !(width >= 1.0 && height >= 1.0 && width * height <= PIXELS_MAX) {
        return Err(failed(&format!(
            "{width:.0}×{height:.0} pixels is out of range"
        )));
    }
    let (wide, high) = (width.round() as u32, height.round() as u32);
    let (large_wide, large_high) = (wide * OVERSAMPLE, high * OVERSAMPLE);
    // The page is white: filling it by the drawing library costs as much as all the rest.
    let mut pixels = vec![255_u8; large_wide as usize * large_high as usize * 3];
    {
        let root =
            BitMapBackend::with_buffer(&mut pixels, (large_wide, large_high)).into_drawing_area();
        let brush = Brush {
            root: &root,
            zoom: scale * f64::from(OVERSAMPLE),
        };
        brush.draw(picture).map_err(|error| failed(&error))?;
        root.present().map_err(|error| failed(&error))?;
    }
    let small = RgbImage::from_raw(wide, high, shrunk(&pixels, wide as usize))
        .ok_or_else(|| failed(&"the bitmap has a wrong size"))?;
    let mut bytes = Cursor::new(Vec::new());
    small
        .write_to(&mut bytes, ImageOutputFormat::Png)
        .map_err(|error| failed(&error))?;
    Ok(bytes.into_inner())
}

fn register_fonts() -> Result<(), ReportError> {
    static DONE: OnceLock<bool> = OnceLock::new();
    let done = DONE.get_or_init(|| {
        register_font(FAMILY, FontStyle::Normal, NORMAL).is_ok()
            && register_font(FAMILY, FontStyle::Bold, BOLD).is_ok()
    });
    if *done {
        Ok(())
    } else {
        Err(ReportError::draw(
            "picture",
            "the embedded font is not a font",
        ))
    }
}

type Canvas<'a> = DrawingArea<BitMapBackend<'a>, plotters::coord::Shift>;
type Drawn<'a> = Result<(), DrawingAreaErrorKind<<BitMapBackend<'a> as DrawingBackend>::ErrorType>>;

struct Brush<'r, 'a> {
    root: &'r Canvas<'a>,
    zoom: f64,
}

impl<'a> Brush<'_, 'a> {
    fn draw(&self, picture: &Picture) -> Drawn<'a> {
        picture
            .shapes
            .iter()
            .try_for_each(|shape| self.form(&shape.form))
    }

    fn form(&self, form: &Form) -> Drawn<'a> {
        match form {
            Form::Fill(area, ink) => self.fill(*area, *ink),
            Form::Outline(area, ink, dashed) => self.outline(*area, *ink, *dashed),
            Form::Hatch(area, ink) => hatch_lines(*area)
                .iter()
                .try_for_each(|(from, to)| self.line(&[*from, *to], *ink, 1.2)),
            Form::Path(points, ink, width) => self.line(points, *ink, *width),
            Form::Polygon(points, ink) => self.polygon(points, *ink),
            Form::Disc(x, y, r, ink) => self.disc((*x, *y), *r, *ink),
            Form::Ring(x, y, r, ink) => {
                self.disc((*x, *y), r + 0.9, *ink)?;
                self.disc((*x, *y), r - 0.9, Ink::Page)
            }
            Form::Cross(x, y, r, ink) => {
                self.line(&[(x - r, y - r), (x + r, y + r)], *ink, 2.6)?;
                self.line(&[(x - r, y + r), (x + r, y - r)], *ink, 2.6)
            }
            Form::Text(words) => self.text(words),
        }
    }

    fn at(&self, (x, y): (f64, f64)) -> (i32, i32) {
        (
            (x * self.zoom).round() as i32,
            (y * self.zoom).round() as i32,
        )
    }

    fn fill(&self, area: Area, ink: Ink) -> Drawn<'a> {
        let ends = [
            self.at((area.x, area.y)),
            self.at((area.x + area.w, area.y + area.h)),
        ];
        self.root.draw(&Rectangle::new(ends, tone(ink).filled()))
    }

    fn polygon(&self, points: &[(f64, f64)], ink: Ink) -> Drawn<'a> {
        let points: Vec<_> = points.iter().map(|point| self.at(*point)).collect();
        self.root.draw(&Polygon::new(points, tone(ink).filled()))
    }

    fn line(&self, points: &[(f64, f64)], ink: Ink, width: f64) -> Drawn<'a> {
        let points: Vec<_> = points.iter().map(|point| self.at(*point)).collect();
        let width = (width * self.zoom).round().max(1.0) as u32;
        self.root
            .draw(&PathElement::new(points, tone(ink).stroke_width(width)))
    }

    fn outline(&self, area: Area, ink: Ink, dashed: bool) -> Drawn<'a> {
        let mut points = corners(area).to_vec();
        points.push(points[0]);
        if !dashed {
            return self.line(&points, ink, 1.0);
        }
        points
            .windows(2)
            .flat_map(|side| dashes(side[0], side[1]))
            .try_for_each(|(from, to)| self.line(&[from, to], ink, 1.0))
    }

    fn disc(&self, centre: (f64, f64), r: f64, ink: Ink) -> Drawn<'a> {
        let r = (r * self.zoom).round().max(1.0) as i32;
        self.root
            .draw(&Circle::new(self.at(centre), r, tone(ink).filled()))
    }

    fn text(&self, words: &Words) -> Drawn<'a> {
        let style = if words.bold {
            FontStyle::Bold
        } else {
            FontStyle::Normal
        };
        let side = match words.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let colour = tone(words.ink);
        let font = (FAMILY, words.size * LINE_PER_EM * self.zoom, style)
            .into_text_style(self.root)
            .color(&colour)
            .pos(Pos::new(side, VPos::Top));
        // plotters puts the baseline half a line below the top.
        let top = words.y - words.size * LINE_PER_EM / 2.0;
        let at = self.at((words.x, top));
        self.root.draw(&Text::new(words.text.clone(), at, font))
    }
}

fn corners(area: Area) -> [(f64, f64); 4] {
    let Area { x, y, w, h } = area;
    [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]
}

fn dashes(from: (f64, f64), to: (f64, f64)) -> Vec<((f64, f64), (f64, f64))> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).clamp(1e-6, 50_000.0);
    let point = |along: f64| {
        let part = (along / length).min(1.0);
        (from.0 + dx * part, from.1 + dy * part)
    };
    let mut cuts = Vec::new();
    let mut along = 0.0;
    while along < length {
        cuts.push((point(along), point(along + 4.0)));
        along += 7.0;
    }
    cuts
}

fn tone(ink: Ink) -> RGBAColor {
    let Tone(r, g, b, alpha) = ink.light();
    RGBColor(r, g, b).mix(f64::from(alpha) / 100.0)
}

//! Pictures as files of their own: `timeline.svg` and `timeline.png`, the swim lanes of the main
//! arm with the verdict and the reason above them, and a PNG of each chart.

use super::charts::ink::Ink;
use super::charts::picture::Anchor;
use super::charts::picture::{Form, Picture, Words, wrap};
use super::charts::{Chart, paint_png, paint_svg, swimlane};
use super::error::ReportError;
use super::html;
use super::model::{ArmModel, Model};
use super::story::protection;
use super::words::{protection_word, verdict_word};
use super::{Writer, put};
use std::path::PathBuf;

/// Output pixels per CSS pixel: 1120 become 1600.
const SCALE: f64 = 1600.0 / 1120.0;

/// The writer of the SVG.
pub(super) struct Svg;

/// The writer of the PNG.
pub(super) struct Png;

/// Output pixels per CSS pixel of a chart: 470 become 752.
const CHART_SCALE: f64 = 1.6;

/// The writer of one chart's PNG.
pub(super) struct ChartPng(pub &'static Chart);

impl Writer for ChartPng {
    fn name(&self) -> &'static str {
        self.0.file
    }

    fn write(&self, model: &Model) -> Result<Option<PathBuf>, ReportError> {
        let drawn = model.main().and_then(|main| (self.0.draw)(&main.scene));
        let path = model.dir.join(self.name());
        let Some(picture) = drawn else {
            // A run that is drawn again may have had more to show before.
            return match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(ReportError::write(&path)(error))
                }
                Ok(()) | Err(_) => Ok(None),
            };
        };
        put(
            &path,
            &paint_png::paint(&titled(picture, self.0), CHART_SCALE)?,
        )?;
        Ok(Some(path))
    }
}

/// A chart below its heading and how to read it.
fn titled(picture: Picture, chart: &Chart) -> Picture {
    const MARGIN: f64 = 12.0;
    let words = |y, size, bold, text: &str| {
        Form::Text(Words {
            x: MARGIN,
            y,
            size,
            bold,
            anchor: Anchor::Start,
            ink: Ink::Text,
            text: text.to_owned(),
        })
    };
    let mut page = Picture::new(picture.width, 0.0, picture.label.clone());
    let mut y = 22.0;
    page.add(words(y, 13.0, true, chart.title));
    for line in wrap(chart.reads, picture.width - 2.0 * MARGIN, 10.5) {
        y += 15.0;
        page.add(words(y, 10.5, false, &line));
    }
    y += 10.0;
    page.height = y + picture.height + 8.0;
    page.shapes.extend(picture.moved(y).shapes);
    page
}

impl Writer for Svg {
    fn name(&self) -> &'static str {
        "timeline.svg"
    }

    fn write(&self, model: &Model) -> Result<Option<PathBuf>, ReportError> {
        let Some(main) = model.main() else {
            return Ok(None);
        };
        let there = |seq| {
            main.place(seq)?;
            Some(format!("{}#{}", html::FILE, main.anchor(seq)))
        };
        let text = paint_svg::standalone(&picture(model, main), &there);
        let path = model.dir.join(self.name());
        put(&path, text.as_bytes())?;
        Ok(Some(path))
    }
}

impl Writer for Png {
    fn name(&self) -> &'static str {
        "timeline.png"
    }

    fn write(&self, model: &Model) -> Result<Option<PathBuf>, ReportError> {
        let Some(main) = model.main() else {
            return Ok(None);
        };
        let bytes = paint_png::paint(&picture(model, main), SCALE)?;
        let path = model.dir.join(self.name());
        put(&path, &bytes)?;
        Ok(Some(path))
    }
}

fn picture(model: &Model, main: &ArmModel) -> Picture {
    let heading = format!(
        "{}: {} — protection of the work: {}",
        model.result.drill,
        verdict_word(model.result.verdict),
        protection_word(model.result.protection)
    );
    let why = format!("{}.", protection::why(main).plain());
    let options = swimlane::Options {
        heading: Some((heading, vec![why])),
        ..swimlane::Options::default()
    };
    swimlane::draw(&main.scene, &options)
}

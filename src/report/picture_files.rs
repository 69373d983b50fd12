//! `timeline.svg` and `timeline.png`: the swim lanes of the main arm as files of their own, with
//! the verdict and the reason above them.

use super::charts::picture::Picture;
use super::charts::{paint_png, paint_svg, swimlane};
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

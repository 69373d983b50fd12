//! Pictures: one figure a file, each a pure function from a scene to a [`picture::Picture`].
//! Two painters turn a picture into SVG or PNG, so both always show the same.

pub mod fencing;
pub mod ink;
pub mod latency;
pub mod margin;
pub mod paint_png;
pub mod paint_svg;
pub mod picture;
pub mod plot;
pub mod signal;
pub mod swimlane;

use crate::report::scene::Scene;
use picture::Picture;

/// One chart beside the swim lanes.
pub struct Chart {
    /// Name of its picture file in a run directory.
    pub file: &'static str,
    /// What it shows, as a heading.
    pub title: &'static str,
    /// How to read it, in one sentence.
    pub reads: &'static str,
    /// Draws it; none if there is nothing to draw.
    pub draw: fn(&Scene) -> Option<Picture>,
}

/// Every chart, in the order of the page.
pub const ALL: &[&Chart] = &[&fencing::CHART, &margin::CHART, &latency::CHART];

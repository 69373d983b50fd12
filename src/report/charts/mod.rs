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
pub mod swimlane;

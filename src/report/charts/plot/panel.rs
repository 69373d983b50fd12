//! The frame of every chart beside the swim lanes, so that all have one size.

use crate::report::charts::picture::{Area, Picture};

/// Where a chart beside the swim lanes draws.
#[derive(Debug, Clone, Copy)]
pub struct Panel {
    /// Inside the axes.
    pub area: Area,
}

impl Default for Panel {
    fn default() -> Self {
        Panel::of_height(170.0)
    }
}

impl Panel {
    const WIDTH: f64 = 470.0;

    /// A panel whose axes enclose this height.
    pub fn of_height(h: f64) -> Self {
        Panel {
            area: Area {
                x: 62.0,
                y: 8.0,
                w: Panel::WIDTH - 62.0 - 22.0,
                h,
            },
        }
    }

    /// The same with room at the left for labels of this width.
    #[must_use]
    pub fn labelled(mut self, width: f64) -> Self {
        // However long the labels are, half of the panel is left for what they label.
        let left = (width + 12.0).clamp(40.0, Panel::WIDTH / 2.0);
        self.area.w += self.area.x - left;
        self.area.x = left;
        self
    }

    /// An empty picture of the right size.
    pub fn begin(&self, label: &str) -> Picture {
        Picture::new(Panel::WIDTH, self.bottom() + 26.0, label)
    }

    /// The x of the right edge.
    pub fn right(&self) -> f64 {
        self.area.x + self.area.w
    }

    /// The y of the lower edge.
    pub fn bottom(&self) -> f64 {
        self.area.y + self.area.h
    }
}

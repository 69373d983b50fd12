//! The swim-lane picture: a lane a worker with its lease bars, a lane a server, a lane for the
//! store, faults shaded across. One layout for wide pages and PNG, one for phones.

mod bars;
mod frame;
mod legend;
mod points;
mod server;
mod shade;
mod store;

use super::ink::Ink;
use super::picture::{Anchor, Area, Form, Picture, Shelf, Words};
use super::plot::TimeAxis;
use crate::report::scene::Scene;

/// What to draw beside the lanes.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// For a phone: 380 pixels wide, lane names above their lanes.
    pub narrow: bool,
    /// Heading and lines below it, for files that stand alone.
    pub heading: Option<(String, Vec<String>)>,
    /// Leave out the legend (a page shows it once).
    pub plain: bool,
}

/// Draws a scene; an empty one yields a picture that says so.
pub fn draw(scene: &Scene, options: &Options) -> Picture {
    let mut canvas = Canvas::new(scene, options);
    if scene.is_empty() {
        canvas.text(canvas.axis.left, canvas.top + 20.0, "nothing was recorded");
        return canvas.finish(options);
    }
    canvas.lanes();
    canvas.faults();
    canvas.bars();
    canvas.server_points();
    canvas.worker_points();
    canvas.store_points();
    canvas.stalls();
    canvas.lane_names();
    canvas.finish(options)
}

/// A picture in the making.
struct Canvas<'s> {
    scene: &'s Scene,
    picture: Picture,
    shelf: Shelf,
    axis: TimeAxis,
    narrow: bool,
    /// Upper edge of the first lane.
    top: f64,
    /// Marks nearer to each other than this many pixels are drawn as one.
    merge: f64,
}

/// Heights in pixels.
const BAR: f64 = 20.0;
const LANE: f64 = 70.0;
const SIDE_LANE: f64 = 46.0;
/// In a narrow picture each lane begins with its name.
const NAME: f64 = 18.0;
/// At most about this many marks, however long the record is.
const MARKS_MAX: usize = 1200;

impl Canvas<'_> {
    /// An instant lies inside the picture.
    fn shows(&self, at: u64) -> bool {
        self.axis.from <= at && at <= self.axis.to
    }

    fn rows(&self) -> usize {
        self.scene.workers.len() + self.scene.servers.len() + 1
    }

    /// Upper edge of the n-th lane.
    fn lane_top(&self, row: usize) -> f64 {
        let workers = row.min(self.scene.workers.len());
        let name = if self.narrow { NAME * row as f64 } else { 0.0 };
        self.top + workers as f64 * LANE + (row - workers) as f64 * SIDE_LANE + name
    }

    /// Where the lane's content begins, below its name.
    fn content_top(&self, row: usize) -> f64 {
        self.lane_top(row) + if self.narrow { NAME } else { 0.0 }
    }

    fn bottom(&self) -> f64 {
        self.lane_top(self.rows())
    }

    fn store_row(&self) -> usize {
        self.rows() - 1
    }

    fn bar_top(&self, row: usize) -> f64 {
        self.content_top(row) + 18.0
    }

    /// The line on which a worker's marks stand.
    fn mark_line(&self, row: usize) -> f64 {
        self.content_top(row) + 54.0
    }

    /// The line on which a server's or the store's marks stand.
    fn side_line(&self, row: usize) -> f64 {
        self.content_top(row) + 30.0
    }

    fn plot(&self) -> Area {
        Area {
            x: self.axis.left,
            y: self.top,
            w: self.axis.width,
            h: self.bottom() - self.top,
        }
    }

    /// Places a small label at the first free of these places, or leaves it out.
    fn label(&mut self, text: &str, ink: Ink, bold: bool, places: &[(f64, f64, Anchor)]) {
        let words = Words {
            x: 0.0,
            y: 0.0,
            size: 11.0,
            bold,
            anchor: Anchor::Start,
            ink,
            text: text.to_owned(),
        };
        let bounds = self.plot();
        if let Some(words) = self.shelf.place(&words, places, bounds) {
            self.picture.add(Form::Text(words));
        }
    }

    fn text(&mut self, x: f64, y: f64, text: &str) {
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

/// Marks of one kind on one line, merged where they would lie on each other.
struct Group<'t, T> {
    x: f64,
    first: &'t T,
    count: usize,
}

fn merge<'t, T>(items: impl IntoIterator<Item = (f64, &'t T)>, gap: f64) -> Vec<Group<'t, T>> {
    let mut sorted: Vec<(f64, &T)> = items.into_iter().collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut groups: Vec<Group<'_, T>> = Vec::new();
    for (x, item) in sorted {
        match groups.last_mut() {
            Some(last) if x - last.x < gap => last.count += 1,
            _ => groups.push(Group {
                x,
                first: item,
                count: 1,
            }),
        }
    }
    groups
}

/// ` (and 11 more)` for a merged mark.
fn more(count: usize) -> String {
    if count > 1 {
        format!(" (and {} more here)", count - 1)
    } else {
        String::new()
    }
}

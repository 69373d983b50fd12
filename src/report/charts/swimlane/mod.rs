//! The swim-lane picture: a lane a worker with its lease bars, a lane a server, a lane for the
//! store, faults shaded across. One layout for wide pages and PNG, one for phones.

mod bars;
mod beside;
mod frame;
mod labels;
mod legend;
mod points;
mod renewals;
mod samples;
mod server;
mod shade;
mod store;

pub(super) use store::{store_forms, write_note};

use super::ink::Ink;
use super::picture::{Area, Picture, Shelf, Words};
use super::plot::TimeAxis;
use crate::report::scene::Scene;
use crate::report::scene::writes::{Fate, WriteMark};

/// What to draw beside the lanes.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// For a phone: 380 pixels wide, lane names above their lanes.
    pub narrow: bool,
    /// Heading and lines below it, for files that stand alone.
    pub heading: Option<(String, Vec<String>)>,
    /// Which part of the legend to draw.
    pub legend: Legend,
}

/// Which part of the legend a picture carries: a page tells each meaning once.
#[derive(Debug, Clone, Default)]
pub enum Legend {
    /// Whatever the picture shows.
    #[default]
    All,
    /// What the picture shows and this one, which stands before it on the page, does not.
    Beyond(Box<Scene>),
    /// Nothing.
    None,
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
    canvas.deaths();
    canvas.server_points();
    canvas.worker_points();
    canvas.store_points();
    canvas.beside_points();
    canvas.stalls();
    canvas.numbers();
    canvas.lane_names();
    canvas.finish(options)
}

/// A picture in the making.
struct Canvas<'s> {
    scene: &'s Scene,
    picture: Picture,
    shelf: Shelf,
    /// Texts that are drawn over everything else, each with its ground.
    on_top: Vec<(Words, Ink)>,
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
/// The store's lane has two lines: in order above, refused and harmful below.
const STORE_LANE: f64 = 62.0;
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
        self.lane_top(self.store_row()) + self.lane_height(self.store_row())
    }

    fn lane_height(&self, row: usize) -> f64 {
        let name = if self.narrow { NAME } else { 0.0 };
        let workers = self.scene.workers.len();
        name + match row {
            _ if row < workers => LANE,
            _ if row == self.store_row() => STORE_LANE,
            _ => SIDE_LANE,
        }
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

    /// The line on which a server's marks stand.
    fn side_line(&self, row: usize) -> f64 {
        self.content_top(row) + 24.0
    }

    /// The line of the store's lane on which a write stands: nothing that was refused or does harm
    /// may lie under a write that was accepted in order.
    fn store_line(&self, write: &WriteMark) -> f64 {
        let top = self.content_top(self.store_row());
        if write.fate == Fate::Accepted && write.harm().is_none() {
            top + 17.0
        } else {
            top + 44.0
        }
    }

    fn plot(&self) -> Area {
        Area {
            x: self.axis.left,
            y: self.top,
            w: self.axis.width,
            h: self.bottom() - self.top,
        }
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

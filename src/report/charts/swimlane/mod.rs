//! The swim-lane picture: a lane a worker with its lease bars, a lane a server, a lane for the
//! store, faults shaded across. One layout for wide pages and PNG, one for phones.

mod bars;
mod beside;
mod fault_words;
mod frame;
mod group;
mod instants;
mod labels;
mod legend;
mod points;
mod reigns;
mod renewals;
mod samples;
mod samples_of_work;
mod server;
mod shade;
mod stems;
mod store;
mod strip;
mod unheard;

pub(super) use store::{seal_form, store_forms, write_note};

use super::ink::Ink;
use super::picture::{Area, Picture};
use super::plot::TimeAxis;
use crate::report::scene::Scene;
use crate::report::scene::beside::BesideMark;
use crate::report::scene::writes::{Fate, WriteMark};
use group::{Group, merge, more};
use labels::Wanted;
use samples::Entry;

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
    canvas.draw();
    canvas.labels();
    canvas.finish(options)
}

/// A picture in the making.
struct Canvas<'s> {
    scene: &'s Scene,
    picture: Picture,
    /// Labels that want a place.
    wanted: Vec<Wanted>,
    /// Washes over the lanes, which a label's ground must not blank out.
    tints: Vec<(Area, Ink)>,
    /// So many of the shapes run behind all others.
    behind: usize,
    /// What was drawn, by its meaning in the legend.
    shown: Vec<&'static str>,
    axis: TimeAxis,
    narrow: bool,
    /// Upper edge of the first lane.
    top: f64,
    /// Marks nearer to each other than this many pixels are drawn as one.
    merge: f64,
}

/// Heights in pixels.
const BAR: f64 = 20.0;
const LANE: f64 = 74.0;
const SIDE_LANE: f64 = 56.0;
/// In a narrow picture each lane begins with its name.
const NAME: f64 = 18.0;
/// At most about this many marks, however long the record is.
const MARKS_MAX: usize = 1200;

impl Canvas<'_> {
    /// Everything but labels and legend; the last lies on top.
    fn draw(&mut self) {
        self.lanes();
        self.faults();
        self.servers_down();
        self.stems();
        self.behind = self.picture.shapes.len();
        self.bars();
        self.deaths();
        self.server_points();
        self.reigns();
        self.worker_points();
        self.store_points();
        self.beside_points();
        self.stalls();
        self.lane_names();
    }

    /// The legend has this entry.
    fn show(&mut self, entry: Entry) {
        if !self.shown.contains(&entry.meaning) {
            self.shown.push(entry.meaning);
        }
    }

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
            _ if row == self.store_row() => self.store_height(),
            _ => SIDE_LANE,
        }
    }

    fn store_row(&self) -> usize {
        self.rows() - 1
    }

    fn bar_top(&self, row: usize) -> f64 {
        self.content_top(row) + 19.0
    }

    /// The line on which a worker's marks stand.
    fn mark_line(&self, row: usize) -> f64 {
        self.content_top(row) + 58.0
    }

    /// The line on which a server's marks stand.
    fn side_line(&self, row: usize) -> f64 {
        self.content_top(row) + 28.0
    }

    /// The line of the store's lane on which a write stands: nothing that was refused or does harm
    /// may lie under a write that was accepted in order.
    fn store_line(&self, write: &WriteMark) -> f64 {
        let upper = self.read_line() + if self.has_reads() { 20.0 } else { 0.0 };
        if in_order(write) { upper } else { upper + 31.0 }
    }

    /// The line of the store's lane on which reads stand, above all writes.
    fn read_line(&self) -> f64 {
        self.content_top(self.store_row()) + 15.0
    }

    fn has_reads(&self) -> bool {
        self.scene.beside.iter().any(BesideMark::is_read)
    }

    fn store_height(&self) -> f64 {
        let reads = if self.has_reads() { 20.0 } else { 0.0 };
        let mut reached = self
            .scene
            .writes
            .iter()
            .filter(|write| write.applied.is_some());
        let lower = if reached.any(|write| !in_order(write)) {
            31.0
        } else {
            8.0
        };
        15.0 + reads + lower + 16.0
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

/// The store took it, as it should have.
fn in_order(write: &WriteMark) -> bool {
    write.fate == Fate::Accepted && write.marked().is_none()
}

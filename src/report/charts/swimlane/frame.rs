//! What frames the swim lanes: heading, lanes with their names, time axis.

use super::instants::instants;
use super::samples::STRETCHED;
use super::{Canvas, Legend, MARKS_MAX, Options, strip};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form, Picture, Words, text_width, wrap};
use crate::report::charts::plot::TimeAxis;
use crate::report::scene::Scene;
use crate::report::words::at;

const WIDE: f64 = 1120.0;
const NARROW: f64 = 380.0;

impl<'s> Canvas<'s> {
    pub(super) fn new(scene: &'s Scene, options: &Options) -> Self {
        let width = if options.narrow { NARROW } else { WIDE };
        let names = scene
            .workers
            .iter()
            .chain(&scene.servers)
            .map(String::as_str);
        let longest = names
            .chain(["store", "faults"])
            .map(|name| text_width(&shorten(name), 13.0, true))
            .fold(0.0, f64::max);
        let (left, right) = if options.narrow {
            (10.0, 14.0)
        } else {
            (longest + 26.0, 22.0)
        };
        let mut canvas = Canvas {
            scene,
            picture: Picture::new(width, 0.0, label(scene)),
            wanted: Vec::new(),
            tints: Vec::new(),
            behind: 0,
            shown: Vec::new(),
            axis: TimeAxis::stretched(
                (scene.from, scene.to),
                left,
                width - left - right,
                instants(scene),
            ),
            narrow: options.narrow,
            top: 6.0,
            merge: gap(scene, width),
        };
        canvas.heading(options);
        let (_, lines) = strip::slots(scene, &canvas.axis);
        canvas.top += lines as f64 * strip::LINE;
        canvas
    }

    fn heading(&mut self, options: &Options) {
        let Some((heading, lines)) = &options.heading else {
            return;
        };
        let mut y = 30.0;
        self.picture.add(Form::Text(Words {
            x: 20.0,
            y,
            size: 18.0,
            bold: true,
            anchor: Anchor::Start,
            ink: Ink::Text,
            text: heading.clone(),
        }));
        let room = self.picture.width - 40.0;
        for line in lines.iter().flat_map(|line| wrap(line, room, 12.5)) {
            y += 20.0;
            self.picture.add(Form::Text(Words {
                x: 20.0,
                y,
                size: 12.5,
                bold: false,
                anchor: Anchor::Start,
                ink: Ink::Muted,
                text: line,
            }));
        }
        self.top = y + 18.0;
    }

    pub(super) fn lanes(&mut self) {
        for row in 0..self.rows() {
            let area = self.lane(row);
            if row % 2 == 0 {
                self.picture.add(Form::Fill(area, Ink::Band));
            }
        }
        let (top, bottom) = (self.top, self.bottom());
        self.axis.draw(&mut self.picture, top, bottom);
        if !self.axis.stretches().is_empty() {
            self.show(STRETCHED);
        }
    }

    fn lane(&self, row: usize) -> Area {
        let (x, w) = if self.narrow {
            (0.0, self.picture.width)
        } else {
            (self.axis.left, self.axis.width)
        };
        Area {
            x,
            y: self.lane_top(row),
            w,
            h: self.lane_height(row),
        }
    }

    /// Lane names lie on top of everything, in a narrow picture on a ground of their own.
    pub(super) fn lane_names(&mut self) {
        if !self.narrow && !self.scene.faults.is_empty() {
            let words = Words {
                y: self.top - strip::LINE / 2.0 + 4.5,
                text: "faults".to_owned(),
                ..self.lane_name(self.store_row())
            };
            self.picture.add(Form::Text(words));
        }
        for row in 0..self.rows() {
            let words = self.lane_name(row);
            if self.narrow {
                let ground = self.ground(words.y);
                let Area { x, y, w, h } = words.area();
                let area = Area {
                    x: x - 4.0,
                    y: y - 1.0,
                    w: w + 6.0,
                    h: h + 2.0,
                };
                self.picture.add(Form::Fill(area, ground));
            }
            self.picture.add(Form::Text(words));
        }
    }

    /// The ground of the lane at this height.
    pub(super) fn ground(&self, y: f64) -> Ink {
        let row = (0..self.rows()).rfind(|row| self.lane_top(*row) <= y);
        if row.is_some_and(|row| row % 2 == 0) {
            Ink::Band
        } else {
            Ink::Page
        }
    }

    fn lane_name(&self, row: usize) -> Words {
        let area = self.lane(row);
        let workers = self.scene.workers.len();
        let servers = self.scene.servers.len();
        let text = match row.checked_sub(workers) {
            None => shorten(&self.scene.workers[row]),
            Some(server) if server < servers => shorten(&self.scene.servers[server]),
            Some(_) => "store".to_owned(),
        };
        let (x, y, anchor) = if self.narrow {
            (self.axis.left, area.y + 14.0, Anchor::Start)
        } else {
            let middle = area.y + area.h / 2.0;
            (self.axis.left - 12.0, middle + 4.5, Anchor::End)
        };
        Words {
            x,
            y,
            size: 13.0,
            bold: row < workers,
            anchor,
            ink: Ink::Text,
            text,
        }
    }

    pub(super) fn finish(mut self, options: &Options) -> Picture {
        let bottom = if self.scene.is_empty() {
            self.top + 40.0
        } else {
            self.bottom()
        };
        let mut y = bottom + 26.0;
        if !matches!(options.legend, Legend::None) && !self.scene.is_empty() {
            y = self.legend(y + 6.0, &options.legend);
        }
        self.picture.height = y;
        self.picture
    }
}

fn label(scene: &Scene) -> String {
    format!(
        "Swim lanes of {} from {} to {}: lease bars, writes, faults, the server and the store. The table below tells the same.",
        scene.workers.join(", "),
        at(scene.from),
        at(scene.to)
    )
}

/// The more marks there are, the further apart they must be to be drawn singly.
fn gap(scene: &Scene, width: f64) -> f64 {
    let marks =
        scene.renewals.len() + 3 * scene.writes.len() + scene.server.len() + scene.parks.len();
    let rows = 3.0 * (scene.workers.len() + 2) as f64;
    let crowded = if marks > MARKS_MAX {
        rows * width / MARKS_MAX as f64
    } else {
        0.0
    };
    crowded.max(2.5)
}

/// A name that fits into the gutter.
fn shorten(name: &str) -> String {
    const MAX: usize = 18;
    if name.chars().count() <= MAX {
        return name.to_owned();
    }
    name.chars().take(MAX - 1).chain(['…']).collect()
}

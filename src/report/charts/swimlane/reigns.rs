//! Which of several servers is the primary, and from when: a rail along the foot of its lane.

use super::labels::Rank;
use super::samples::REIGN;
use super::{Canvas, SIDE_LANE};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form};
use crate::report::scene::server::Reign;
use crate::report::words::at;

/// Height of the rail in pixels.
const RAIL: f64 = 4.0;

impl Canvas<'_> {
    pub(super) fn reigns(&mut self) {
        let scene = self.scene;
        for reign in &scene.reigns {
            let place = scene.servers.iter().position(|name| *name == reign.server);
            let seen = reign.from < self.axis.to && reign.to > self.axis.from;
            if let (Some(place), true) = (place, seen) {
                self.reign(reign, scene.workers.len() + place);
            }
        }
    }

    fn reign(&mut self, reign: &Reign, row: usize) {
        let (x, end) = (self.axis.x(reign.from), self.axis.x(reign.to));
        let y = self.content_top(row) + SIDE_LANE - RAIL - 2.0;
        let area = Area {
            x,
            y,
            w: (end - x).max(2.0),
            h: RAIL,
        };
        let (note, label) = words(reign, self.scene.ends);
        self.picture
            .mark(Form::Fill(area, Ink::Muted), note, reign.event);
        self.show(REIGN);
        if reign.took_over && self.shows(reign.from) {
            let head = vec![(x, y - 10.0), (x + 7.0, y - 5.0), (x, y)];
            self.picture.add(Form::Polygon(head, Ink::Muted));
        }
        let places = [
            (x + 10.0, y - 3.0, Anchor::Start),
            (x - 4.0, y + RAIL, Anchor::End),
            (x + 10.0, y - 16.0, Anchor::Start),
            (end - 4.0, y - 3.0, Anchor::End),
        ];
        let must = reign.took_over;
        let short = if must { "took over" } else { "primary" };
        let texts = [label.as_str(), short];
        self.ask(Rank::Fate, &texts, (Ink::Text, false), &places, must);
    }
}

/// Its story, and its label. That a server took over is known from its own word, a little later.
fn words(reign: &Reign, ends: u64) -> (String, String) {
    let (server, from) = (&reign.server, at(reign.from));
    let until = match reign.to {
        to if to < ends => format!("until {}", at(to)),
        _ => "to the end of the record".to_owned(),
    };
    if reign.took_over {
        (
            format!(
                "{server} had taken over by {from}: it is the primary, by its own word, {until}"
            ),
            format!("took over by {from}"),
        )
    } else {
        (
            format!("{server} is the primary, by its own word, {until}"),
            "primary".to_owned(),
        )
    }
}

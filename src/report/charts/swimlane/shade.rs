//! What lies over lanes: processes that are gone, and the stalls of the host.

use super::labels::Rank;
use super::samples::{DEATH, DOWN, STALL};
use super::{Canvas, LANE};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form};
use crate::report::words::{at, span};

impl Canvas<'_> {
    /// A worker's lane ends with its process, if it was killed and never came back.
    pub(super) fn deaths(&mut self) {
        for death in &self.scene.deaths {
            let Some(row) = self
                .scene
                .lane(&death.worker)
                .filter(|_| self.shows(death.at))
            else {
                continue;
            };
            let (x, y) = (self.axis.x(death.at), self.content_top(row));
            let note = format!(
                "the process of {} was gone at {}",
                death.worker,
                at(death.at)
            );
            let line = vec![(x, y + 4.0), (x, y + LANE - 4.0)];
            self.picture
                .mark(Form::Path(line, Ink::Muted, 3.0), note.clone(), death.event);
            let rest = Area {
                x,
                y: self.mark_line(row) - 7.0,
                w: (self.axis.left + self.axis.width - x).max(1.0),
                h: 14.0,
            };
            self.picture.note(Form::Hatch(rest, Ink::Grid), note);
            let places = [
                (x + 6.0, rest.y + 11.0, Anchor::Start),
                (x - 6.0, rest.y + 11.0, Anchor::End),
            ];
            self.label(Rank::Fate, "process gone", Ink::Muted, &places);
            self.show(DEATH);
        }
    }

    /// A server's lane is hatched while its process was gone.
    pub(super) fn servers_down(&mut self) {
        let scene = self.scene;
        for (server, from, to) in &scene.down {
            let place = scene.servers.iter().position(|name| name == server);
            let (Some(place), true) = (place, *from < scene.to && *to > scene.from) else {
                continue;
            };
            self.show(DOWN);
            let row = scene.workers.len() + place;
            // One that never came back is gone to the end of the record.
            let to = Some(*to).filter(|to| *to < scene.ends);
            let x = self.axis.x(*from);
            let end = to.map_or(self.axis.left + self.axis.width, |to| self.axis.x(to));
            let y = self.content_top(row);
            let area = Area {
                x,
                y: y + 2.0,
                w: (end - x).max(2.0),
                h: self.lane_top(row) + self.lane_height(row) - y - 4.0,
            };
            let until = to.map_or("the end".to_owned(), at);
            let note = format!("{server} did not run from {} to {until}", at(*from));
            self.picture.note(Form::Hatch(area, Ink::Grid), note);
            // Away from what the server did just before.
            let middle = area.y + area.h / 2.0 + 4.0;
            let places = [
                (x + area.w / 2.0, middle, Anchor::Middle),
                (x + area.w - 6.0, middle, Anchor::End),
                (x + 6.0, area.y + area.h - 6.0, Anchor::Start),
            ];
            self.label(Rank::Fate, "does not run", Ink::Muted, &places);
        }
    }

    /// Host stalls along the foot of the picture: too small to matter, or the reason for doubt.
    pub(super) fn stalls(&mut self) {
        let y = self.bottom() - 6.0;
        let seen = self
            .scene
            .stalls
            .iter()
            .filter(|(from, to)| *to >= self.scene.from && *from <= self.scene.to);
        let at_x = seen.map(|stall| (self.axis.x(stall.0), stall));
        for group in super::merge(at_x, self.merge) {
            let (from, to) = *group.first;
            let w = (self.axis.x(to) - group.x).max(1.5);
            let note = format!(
                "the host kept the lab from running for {} at {}{}",
                span(to - from),
                at(from),
                super::more(group.count)
            );
            let area = Area {
                x: group.x,
                y,
                w,
                h: 6.0,
            };
            self.picture.note(Form::Fill(area, Ink::Stall), note);
            self.show(STALL);
        }
    }
}

//! Marks on a worker's lane: writes asked for, losses told, points at which the worker waits for a
//! fault.

use super::labels::Rank;
use super::store::{WRITE_INKS, write_ink, write_note};
use super::{BAR, Canvas, merge, more, samples};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form};
use crate::report::story::points::{armed, ready};
use crate::report::words::at;

impl Canvas<'_> {
    pub(super) fn worker_points(&mut self) {
        for row in 0..self.scene.workers.len() {
            self.losses(row);
            self.sent_on(row);
            self.parks(row);
            self.asked_writes(row);
        }
    }

    fn losses(&mut self, row: usize) {
        let y = self.bar_top(row);
        let own = self
            .scene
            .losses
            .iter()
            .filter(|loss| loss.worker == self.scene.workers[row]);
        for group in merge(
            own.map(|loss| (self.axis.x(loss.at), loss)),
            self.merge.max(6.0),
        ) {
            let x = group.x;
            let flag = vec![(x, y - 9.0), (x + 11.0, y - 4.5), (x, y)];
            let form = Form::Polygon(flag, Ink::Alarm);
            let note = format!(
                "{} is told at {} that the lock is lost: {}{}",
                group.first.worker,
                at(group.first.at),
                group.first.reason,
                more(group.count)
            );
            let pole = vec![(x, y - 9.0), (x, y + BAR + 4.0)];
            self.picture.add(Form::Path(pole, Ink::Alarm, 1.8));
            self.picture.mark(form, note, group.first.event);
            let places = [
                (x + 14.0, y - 2.0, Anchor::Start),
                (x + 6.0, y + 14.0, Anchor::Start),
                (x - 6.0, y - 4.0, Anchor::End),
            ];
            let texts = ["told: lock lost", "lost"];
            self.ask(Rank::Fate, &texts, (Ink::Alarm, false), &places, false);
            self.show(samples::LOST);
        }
    }

    /// A held request goes on its way, above the bar of its worker.
    fn sent_on(&mut self, row: usize) {
        let y = self.bar_top(row) - 8.0;
        let scene = self.scene;
        let own = scene.frames.iter();
        for held in own.filter(|held| held.worker == scene.workers[row]) {
            if !self.shows(held.at) {
                continue;
            }
            let x = self.axis.x(held.at);
            let note = format!(
                "the held {} of {} is sent on at {}",
                held.what,
                held.worker,
                at(held.at)
            );
            self.picture.mark(sent_on_form(x, y), note, held.event);
            let text = format!("held {} sent on", held.what);
            let places = [
                (x + 9.0, y + 4.0, Anchor::Start),
                (x - 9.0, y + 4.0, Anchor::End),
                (x - 9.0, y + 42.0, Anchor::End),
            ];
            self.ask(
                Rank::Finding,
                &[&text, "sent on"],
                (Ink::FaultEdge, true),
                &places,
                true,
            );
            self.show(samples::SENT_ON);
        }
    }

    fn parks(&mut self, row: usize) {
        let y = self.mark_line(row);
        let own = self
            .scene
            .parks
            .iter()
            .filter(|park| park.awaited && park.worker == self.scene.workers[row]);
        for group in merge(
            own.map(|park| (self.axis.x(park.from), park)),
            self.merge.max(6.0),
        ) {
            let x = group.x;
            let note = format!(
                "{} waits for the lab at {} from {}{}",
                group.first.worker,
                group.first.point,
                at(group.first.from),
                more(group.count)
            );
            for form in park_forms((x, y)) {
                self.picture.mark(form, note.clone(), group.first.event);
            }
            self.show(samples::WAITS);
            let point = &group.first.point;
            let own = format!("{}.", group.first.worker);
            let point = point.strip_prefix(&own).unwrap_or(point);
            let write = group.first.point.strip_suffix(".armed");
            let mut writes = self.scene.writes.iter();
            let compared = writes.any(|one| Some(&*one.write) == write && one.compared.is_some());
            let text = match point.strip_suffix(".armed") {
                Some(step) if compared => format!("compared, ready to send {}", armed(step)),
                Some(step) => ready(step),
                None => format!("waits at {point}"),
            };
            self.label(
                Rank::Hint,
                &text,
                Ink::FaultEdge,
                &[
                    (x + 8.0, y + 4.0, Anchor::Start),
                    (x - 8.0, y + 4.0, Anchor::End),
                    (x + 8.0, y + 14.0, Anchor::Start),
                    (x - 8.0, y + 14.0, Anchor::End),
                    (x - 8.0, y - 8.0, Anchor::End),
                ],
            );
        }
    }

    /// A small mark where the worker asked.
    fn asked_writes(&mut self, row: usize) {
        let y = self.mark_line(row);
        let worker = &self.scene.workers[row];
        for ink in WRITE_INKS {
            let own =
                self.scene.writes.iter().filter(|write| {
                    write.worker == *worker && write_ink(write) == ink && !write.seal
                });
            for group in merge(
                own.map(|write| (self.axis.x(write.at()), write)),
                self.merge.max(4.0),
            ) {
                let x = group.x;
                let note = format!("{}{}", write_note(group.first), more(group.count));
                let form = Form::Ring(x, y, 3.5, ink);
                self.picture.mark(form, note, group.first.event);
                self.show(match group.first.applied {
                    Some(_) => samples::ASKED,
                    None => samples::UNKNOWN,
                });
            }
        }
    }
}

/// Two upright strokes: it stands still.
pub(super) fn park_forms((x, y): (f64, f64)) -> [Form; 2] {
    [-2.5, 2.5].map(|dx| {
        let bar = Area {
            x: x + dx - 1.2,
            y: y - 5.0,
            w: 2.4,
            h: 10.0,
        };
        Form::Fill(bar, Ink::FaultEdge)
    })
}

/// A held request that goes on its way: a point to the right.
pub(super) fn sent_on_form(x: f64, y: f64) -> Form {
    Form::Polygon(
        vec![(x - 5.0, y - 5.0), (x + 5.0, y), (x - 5.0, y + 5.0)],
        Ink::FaultEdge,
    )
}

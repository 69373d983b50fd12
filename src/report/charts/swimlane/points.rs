//! Single marks: writes with their stems to the store, losses told, points where a worker waits,
//! what the server did.

use super::{BAR, Canvas, merge, more};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form};
use crate::report::scene::marks::{ServerKind, ServerMark};
use crate::report::scene::tenure::Ended;
use crate::report::scene::writes::{Fate, WriteMark};
use crate::report::words::at;

/// How large a mark is: half its width in pixels.
const R: f64 = 5.0;

impl Canvas<'_> {
    pub(super) fn worker_points(&mut self) {
        for row in 0..self.scene.workers.len() {
            self.losses(row);
            self.parks(row);
            self.asked_writes(row);
        }
    }

    /// Keeps labels off the lines that run from a worker's write down to the store.
    pub(super) fn reserve_stems(&mut self) {
        let store = self.side_line(self.store_row());
        for write in &self.scene.writes {
            let Some(row) = self.scene.lane(&write.worker) else {
                continue;
            };
            if write.applied.is_some() && !write.seal {
                let y = self.mark_line(row);
                self.shelf.take(Area {
                    x: self.axis.x(write.at()) - 1.5,
                    y,
                    w: 3.0,
                    h: store - y,
                });
            }
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
            self.shelf.take(Area {
                x: x - 2.0,
                y: y - 10.0,
                w: 14.0,
                h: 12.0,
            });
            let places = [
                (x + 14.0, y + 0.5, Anchor::Start),
                (x + 6.0, y + 14.0, Anchor::Start),
                (x - 6.0, y - 4.0, Anchor::End),
            ];
            self.label("Lost told", Ink::Alarm, false, &places);
        }
    }

    fn parks(&mut self, row: usize) {
        let y = self.mark_line(row);
        let own = self
            .scene
            .parks
            .iter()
            .filter(|park| park.worker == self.scene.workers[row]);
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
            for dx in [-2.5, 2.5] {
                let bar = Area {
                    x: x + dx - 1.2,
                    y: y - 5.0,
                    w: 2.4,
                    h: 10.0,
                };
                self.picture.mark(
                    Form::Fill(bar, Ink::FaultEdge),
                    note.clone(),
                    group.first.event,
                );
            }
            self.shelf.take(Area {
                x: x - 4.0,
                y: y - 6.0,
                w: 8.0,
                h: 12.0,
            });
            if !group.first.awaited {
                continue;
            }
            let point = group
                .first
                .point
                .strip_prefix(&format!("{}.", group.first.worker));
            let text = format!("waits at {}", point.unwrap_or(&group.first.point));
            self.label(
                &text,
                Ink::FaultEdge,
                false,
                &[
                    (x + 8.0, y + 4.0, Anchor::Start),
                    (x - 8.0, y + 4.0, Anchor::End),
                ],
            );
        }
    }

    /// A small mark where the worker asked, and a stem to the store.
    fn asked_writes(&mut self, row: usize) {
        let (y, store) = (self.mark_line(row), self.side_line(self.store_row()));
        let worker = &self.scene.workers[row];
        for fate in [Fate::Accepted, Fate::Rejected, Fate::Unknown] {
            let own = self
                .scene
                .writes
                .iter()
                .filter(|write| write.worker == *worker && write.fate == fate && !write.seal);
            for group in merge(
                own.map(|write| (self.axis.x(write.at()), write)),
                self.merge.max(4.0),
            ) {
                let x = group.x;
                let note = format!("{}{}", write_note(group.first), more(group.count));
                if group.first.applied.is_some() {
                    let width = if fate == Fate::Rejected { 1.4 } else { 1.0 };
                    self.picture
                        .add(Form::Path(vec![(x, y), (x, store)], fate_ink(fate), width));
                }
                let form = match fate {
                    Fate::Accepted => Form::Ring(x, y, 3.5, Ink::Accepted),
                    Fate::Rejected => Form::Cross(x, y, 4.0, Ink::Rejected),
                    Fate::Unknown => Form::Ring(x, y, 3.5, Ink::Unknown),
                };
                self.shelf.take(Area {
                    x: x - 5.0,
                    y: y - 5.0,
                    w: 10.0,
                    h: 10.0,
                });
                self.picture.mark(form, note, group.first.event);
            }
        }
    }

    pub(super) fn store_points(&mut self) {
        let y = self.side_line(self.store_row());
        let reached = self
            .scene
            .writes
            .iter()
            .filter(|write| write.applied.is_some());
        let (seals, writes): (Vec<_>, Vec<_>) = reached
            .map(|write| (self.axis.x(write.at()), write))
            .partition(|(_, write)| write.seal);
        for group in merge(seals, self.merge.max(4.0)) {
            let x = group.x;
            let ink = fate_ink(group.first.fate);
            let note = format!("{}{}", write_note(group.first), more(group.count));
            let form = Form::Polygon(
                vec![(x, y - 5.0), (x + 4.0, y), (x, y + 5.0), (x - 4.0, y)],
                ink,
            );
            self.picture.mark(form, note, group.first.event);
            self.shelf.take(Area {
                x: x - 4.0,
                y: y - 5.0,
                w: 8.0,
                h: 10.0,
            });
        }
        for fate in [Fate::Accepted, Fate::Rejected, Fate::Unknown] {
            let own = writes
                .iter()
                .filter(|(_, write)| write.fate == fate)
                .copied();
            for group in merge(own, self.merge.max(5.0)) {
                self.store_point(&group, y);
            }
        }
    }

    fn store_point(&mut self, group: &super::Group<'_, WriteMark>, y: f64) {
        let (x, write) = (group.x, group.first);
        let form = match write.fate {
            Fate::Accepted => Form::Disc(x, y, R, Ink::Accepted),
            Fate::Rejected => Form::Cross(x, y, R, Ink::Rejected),
            Fate::Unknown => Form::Ring(x, y, R, Ink::Unknown),
        };
        self.picture.mark(
            form,
            format!("{}{}", write_note(write), more(group.count)),
            write.event,
        );
        self.shelf.take(Area {
            x: x - R - 1.0,
            y: y - R - 1.0,
            w: 2.0 * R + 2.0,
            h: 2.0 * R + 2.0,
        });
        if let (Some(token), 1) = (write.fencing, group.count) {
            let places = [
                (x + 9.0, y + 4.0, Anchor::Start),
                (x - 9.0, y + 4.0, Anchor::End),
                (x + 8.0, y - 7.0, Anchor::Start),
                (x - 8.0, y - 7.0, Anchor::End),
            ];
            self.label(&token.to_string(), fate_ink(write.fate), true, &places);
        }
    }

    pub(super) fn server_points(&mut self) {
        for index in 0..self.scene.servers.len() {
            let row = self.scene.workers.len() + index;
            let y = self.side_line(row);
            let own = || {
                self.scene
                    .server
                    .iter()
                    .filter(|mark| mark.server == self.scene.servers[index])
            };
            let extended = own().filter(|mark| mark.kind == ServerKind::Extended);
            let ticks = merge(
                extended.map(|mark| (self.axis.x(mark.at), mark)),
                self.merge,
            );
            for group in ticks {
                let form = Form::Path(
                    vec![(group.x, y - 4.0), (group.x, y + 4.0)],
                    Ink::Muted,
                    1.8,
                );
                let note = format!(
                    "the server moved the deadline at {}{}",
                    at(group.first.at),
                    more(group.count)
                );
                self.picture.mark(form, note, group.first.event);
                self.shelf.take(Area {
                    x: group.x - 2.0,
                    y: y - 5.0,
                    w: 4.0,
                    h: 10.0,
                });
            }
            // A grant must not vanish behind the removal that comes just before it.
            for kind in [ServerKind::Deleted, ServerKind::Flushed, ServerKind::Grant] {
                let marks = own().filter(|mark| mark.kind == kind);
                let at_x = marks.map(|mark| (self.axis.x(mark.at), mark));
                for group in merge(at_x, self.merge.min(8.0)) {
                    self.server_point(&group, y);
                }
            }
        }
    }

    fn server_point(&mut self, group: &super::Group<'_, ServerMark>, y: f64) {
        let (x, mark) = (group.x, group.first);
        let tenure = |by: &dyn Fn(&crate::report::scene::tenure::Tenure) -> bool| {
            self.scene.tenures.iter().position(by)
        };
        let (form, text) = match mark.kind {
            ServerKind::Grant => {
                let index = tenure(&|tenure| tenure.granted_by == mark.event);
                let ink = index.map_or(Ink::Muted, Ink::lease);
                let token = index
                    .and_then(|index| self.scene.tenures[index].fencing)
                    .or(mark.fencing);
                let up = vec![(x - 6.0, y + 1.0), (x, y - 10.0), (x + 6.0, y + 1.0)];
                (
                    Form::Polygon(up, ink),
                    token.map_or_else(|| "grant".to_owned(), |token| format!("grant {token}")),
                )
            }
            ServerKind::Deleted => {
                let ended = tenure(&|tenure| tenure.ended_by == Some(mark.event));
                let text = match ended.map(|index| self.scene.tenures[index].ended) {
                    Some(Ended::Released) => "released",
                    Some(Ended::Expired | Ended::Open) => "expired",
                    None => "deleted",
                };
                let down = vec![(x - 5.0, y + 2.0), (x, y + 12.0), (x + 5.0, y + 2.0)];
                (Form::Polygon(down, Ink::Muted), text.to_owned())
            }
            ServerKind::Flushed => (Form::Cross(x, y, R, Ink::Alarm), "flushed".to_owned()),
            ServerKind::Extended => return,
        };
        let note = format!(
            "{}: {text} at {}{}",
            mark.server,
            at(mark.at),
            more(group.count)
        );
        self.picture.mark(form, note, mark.event);
        self.shelf.take(Area {
            x: x - 6.0,
            y: y - 10.0,
            w: 12.0,
            h: 22.0,
        });
        // A grant's mark points up and its label is above the line, all others below.
        let line = if mark.kind == ServerKind::Grant {
            y - 1.0
        } else {
            y + 10.0
        };
        let places = [
            (x + 9.0, line, Anchor::Start),
            (x - 9.0, line, Anchor::End),
            (x, y - 13.0, Anchor::Middle),
            (x + 2.0, y - 13.0, Anchor::Start),
            (x - 2.0, y - 13.0, Anchor::End),
        ];
        self.label(&text, Ink::Muted, false, &places);
    }
}

fn fate_ink(fate: Fate) -> Ink {
    match fate {
        Fate::Accepted => Ink::Accepted,
        Fate::Rejected => Ink::Rejected,
        Fate::Unknown => Ink::Unknown,
    }
}

fn write_note(write: &WriteMark) -> String {
    let what = if write.seal { "seal" } else { "write" };
    let token = write
        .fencing
        .map_or_else(String::new, |token| format!(" with fencing token {token}"));
    match (write.fate, write.applied) {
        (Fate::Accepted, _) => format!(
            "{what} {}{token} accepted at {}",
            write.write,
            at(write.at())
        ),
        (Fate::Rejected, _) => format!(
            "{what} {}{token} rejected at {}{}",
            write.write,
            at(write.at()),
            write
                .highest
                .map_or_else(String::new, |highest| format!("; the store knew {highest}")),
        ),
        (Fate::Unknown, Some(_)) => format!("{what} {}{token}: outcome unknown", write.write),
        (Fate::Unknown, None) => format!(
            "{what} {}{token} asked at {} never reached the store",
            write.write,
            at(write.asked)
        ),
    }
}

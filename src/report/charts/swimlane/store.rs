//! Marks on the store's lane: what reached it and what it did with it.

use super::{Canvas, merge, more};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form};
use crate::report::scene::writes::{Fate, WriteMark};
use crate::report::words::at;

/// How large a mark is: half its width in pixels.
const R: f64 = 5.0;

impl Canvas<'_> {
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
}

pub(super) fn fate_ink(fate: Fate) -> Ink {
    match fate {
        Fate::Accepted => Ink::Accepted,
        Fate::Rejected => Ink::Rejected,
        Fate::Unknown => Ink::Unknown,
    }
}

pub(super) fn write_note(write: &WriteMark) -> String {
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

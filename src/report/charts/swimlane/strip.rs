//! The strip above the lanes: every fault by name, with whom it hit, on a line of its own where
//! several come at once, so that none hides another.

use super::Canvas;
use super::fault_words::{fault_note, title};
use super::labels::small;
use super::samples::{FAULT, FAULT_ONCE};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form, Words};
use crate::report::charts::plot::TimeAxis;
use crate::report::scene::Scene;
use crate::report::scene::faults::FaultMark;

/// Height of a line of the strip.
pub(super) const LINE: f64 = 20.0;

/// More lines than this are not drawn; a fault that finds none is told by its tooltip alone.
const LINES_MAX: usize = 8;

/// Where a fault stands in the strip.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    /// Lines below it.
    above: usize,
    /// Its name; none if there is no room.
    words: Option<Words>,
    from: f64,
    to: f64,
    lasts: bool,
}

/// A place for each fault, in their order, and how many lines there are: the last fault chooses
/// first, or the first one if more of them then find room for their names.
pub(super) fn slots(scene: &Scene, axis: &TimeAxis) -> (Vec<Slot>, usize) {
    let nameless = |found: &(Vec<Slot>, usize)| {
        let bare = found.0.iter().filter(|slot| slot.words.is_none());
        bare.count()
    };
    let found = slots_from(scene, axis, false);
    if nameless(&found) == 0 {
        return found;
    }
    let other = slots_from(scene, axis, true);
    if nameless(&other) < nameless(&found) {
        other
    } else {
        found
    }
}

fn slots_from(scene: &Scene, axis: &TimeAxis, first_first: bool) -> (Vec<Slot>, usize) {
    let mut slots: Vec<(usize, Slot)> = Vec::new();
    let edge = |fault: &FaultMark| axis.x(fault.stands());
    let mut order: Vec<usize> = (0..scene.faults.len()).collect();
    order.sort_by(|a, b| edge(&scene.faults[*b]).total_cmp(&edge(&scene.faults[*a])));
    if first_first {
        order.reverse();
    }
    for index in order {
        let fault = &scene.faults[index];
        let from = edge(fault);
        let end = axis.x(fault.over().unwrap_or(scene.to));
        let to = if fault.lasts {
            end.max(from + 2.0)
        } else {
            from
        };
        let wanted = names(fault, (from, to));
        let lines = (0..LINES_MAX).flat_map(|above| wanted.iter().map(move |words| (above, words)));
        let mut tried = lines.map(|(above, words)| Slot {
            above,
            words: words.clone(),
            from,
            to,
            lasts: fault.lasts,
        });
        let slot = tried.find(|slot| slot.fits(axis, &slots));
        let bare = Slot {
            above: 0,
            words: None,
            from,
            to,
            lasts: fault.lasts,
        };
        slots.push((index, slot.unwrap_or(bare)));
    }
    slots.sort_by_key(|(index, _)| *index);
    let lines = slots.iter().map(|(_, slot)| slot.above + 1).max();
    (
        slots.into_iter().map(|(_, slot)| slot).collect(),
        lines.unwrap_or(0),
    )
}

/// Its name inside its span if that is long enough, right of it, left of it.
fn names(fault: &FaultMark, (from, to): (f64, f64)) -> Vec<Option<Words>> {
    let words = small(&title(fault), Ink::FaultEdge, true);
    let w = words.area().w;
    let mut places = vec![(to + 9.0, Anchor::Start), (from - 9.0, Anchor::End)];
    if fault.lasts && w + 12.0 <= to - from {
        places = vec![(from + 6.0, Anchor::Start)];
    }
    let places = places.into_iter().map(|(x, anchor)| {
        let words = words.clone();
        Some(Words { x, anchor, ..words })
    });
    places.collect()
}

impl Slot {
    /// From where to where its line is taken.
    fn reach(&self) -> (f64, f64) {
        let own = (self.from - 6.0, self.to + 6.0);
        self.words.as_ref().map_or(own, |words| {
            let area = words.area();
            (own.0.min(area.x), own.1.max(area.x + area.w))
        })
    }

    /// The line that runs down from this one would cross the name of the other.
    fn crosses(&self, below: &Slot) -> bool {
        let name = below.words.as_ref().map(Words::area);
        let through = |area: Area| area.x - 3.0 < self.from && self.from < area.x + area.w + 3.0;
        !self.lasts && self.above > below.above && name.is_some_and(through)
    }

    fn fits(&self, axis: &TimeAxis, others: &[(usize, Slot)]) -> bool {
        let (from, to) = self.reach();
        let leaves = |area: Area| area.x < axis.left || area.x + area.w > axis.left + axis.width;
        if self.words.as_ref().map(Words::area).is_some_and(leaves) {
            return false;
        }
        others.iter().all(|(_, other)| {
            let (begin, end) = other.reach();
            let apart = self.above != other.above || to + 6.0 < begin || end + 6.0 < from;
            apart && !self.crosses(other) && !other.crosses(self)
        })
    }
}

impl Canvas<'_> {
    pub(super) fn faults(&mut self) {
        let (slots, _) = slots(self.scene, &self.axis);
        for (fault, slot) in self.scene.faults.iter().zip(&slots) {
            self.fault(fault, slot);
        }
        for slot in slots {
            let y = self.line_top(&slot) + 12.5;
            if let Some(words) = slot.words {
                self.picture.add(Form::Text(Words { y, ..words }));
            }
        }
    }

    fn line_top(&self, slot: &Slot) -> f64 {
        self.top - (slot.above as f64 + 1.0) * LINE
    }

    /// The lane of whom it hit.
    fn hit(&self, fault: &FaultMark) -> Option<Area> {
        let servers = &self.scene.servers;
        let row = match (&fault.worker, &fault.server) {
            (Some(worker), _) => self.scene.lane(worker)?,
            (None, Some(name)) => {
                let place = servers.iter().position(|server| server == name)?;
                self.scene.workers.len() + place
            }
            (None, None) => return None,
        };
        let y = self.content_top(row);
        let h = self.lane_top(row) + self.lane_height(row) - y;
        Some(Area {
            y,
            h,
            ..self.plot()
        })
    }

    /// A window over all lanes, darker on the lane that was hit; or a line with a head where
    /// nothing lasts.
    fn fault(&mut self, fault: &FaultMark, slot: &Slot) {
        let event = fault.events.first().copied().unwrap_or(0);
        let note = fault_note(fault, self.scene.to);
        let (x, w) = (slot.from, slot.to - slot.from);
        let y = self.line_top(slot);
        let hit = self.hit(fault);
        if fault.lasts {
            self.show(FAULT);
            let h = self.bottom() - y;
            let all = Area { x, y, w, h };
            self.picture.add(Form::Fill(all, Ink::FaultWash));
            self.tints.push((all, Ink::FaultWash));
            let named = Area {
                y: y + 1.0,
                h: LINE - 5.0,
                ..all
            };
            let whole = Area {
                y: self.top,
                h: self.bottom() - self.top,
                ..all
            };
            let own = hit.map_or(whole, |hit| Area { x, w, ..hit });
            self.tints.push((own, Ink::Fault));
            for area in [named, own] {
                self.picture
                    .mark(Form::Fill(area, Ink::Fault), note.clone(), event);
                self.picture.add(Form::Outline(area, Ink::FaultEdge, true));
            }
            return;
        }
        self.show(FAULT_ONCE);
        let (top, low) = hit.map_or((self.top, self.bottom()), |hit| (hit.y, hit.y + hit.h));
        let thin = vec![(x, y + 4.0), (x, top)];
        self.picture.add(Form::Path(thin, Ink::FaultEdge, 1.0));
        let line = Form::Path(vec![(x, top), (x, low)], Ink::FaultEdge, 2.0);
        self.picture.mark(line, note.clone(), event);
        let head = vec![(x - 5.0, y + 4.0), (x + 5.0, y + 4.0), (x, y + 13.0)];
        self.picture
            .mark(Form::Polygon(head, Ink::FaultEdge), note, event);
    }
}

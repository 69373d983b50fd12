//! What lies over all lanes: faults, shaded, and the stalls of the host.

use super::{Canvas, LANE};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form};
use crate::report::scene::marks::FaultMark;
use crate::report::words::{at, span};

impl Canvas<'_> {
    pub(super) fn faults(&mut self) {
        for fault in &self.scene.faults {
            self.fault(fault);
        }
    }

    fn fault(&mut self, fault: &FaultMark) {
        let from = self.axis.x(fault.effective);
        let end = fault.healed.or(fault.removed).unwrap_or(self.scene.to);
        let w = (self.axis.x(end) - from).max(2.0);
        let lane = fault
            .worker
            .as_deref()
            .and_then(|worker| self.scene.lane(worker));
        let all = Area {
            x: from,
            y: self.top,
            w,
            h: self.bottom() - self.top,
        };
        let own = match lane {
            Some(row) => Area {
                y: self.content_top(row),
                h: LANE,
                ..all
            },
            None => all,
        };
        self.picture.add(Form::Fill(all, Ink::FaultWash));
        let event = fault.events.first().copied().unwrap_or(0);
        self.picture
            .mark(Form::Fill(own, Ink::Fault), fault_note(fault, end), event);
        self.picture.add(Form::Outline(own, Ink::FaultEdge, true));
        for x in [from, from + w] {
            self.shelf.take(Area {
                x: x - 1.0,
                w: 2.0,
                ..own
            });
        }
        let y = own.y + 12.5;
        let text = format!("{}: {}", fault.name, fault.kind);
        let right = from + w;
        self.label(
            &text,
            Ink::FaultEdge,
            true,
            &[
                (from + 6.0, y, Anchor::Start),
                (right - 4.0, y, Anchor::End),
                (right + 4.0, y, Anchor::Start),
                (from - 4.0, y, Anchor::End),
            ],
        );
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
        }
    }
}

fn fault_note(fault: &FaultMark, end: u64) -> String {
    let whom = fault
        .worker
        .as_deref()
        .map_or_else(String::new, |worker| format!(" of {worker}"));
    let until = fault.healed.or(fault.removed);
    format!(
        "{}: {}{whom}, from {} to {} ({})",
        fault.name,
        fault.kind,
        at(fault.effective),
        until.map_or_else(|| "the end".to_owned(), at),
        span(end.saturating_sub(fault.effective)),
    )
}

//! What lies over all lanes: faults, shaded, and the stalls of the host.

use super::{Canvas, LANE};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form};
use crate::report::scene::faults::FaultMark;
use crate::report::words::{at, span};

impl Canvas<'_> {
    pub(super) fn faults(&mut self) {
        for fault in &self.scene.faults {
            self.fault(fault);
        }
    }

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
            self.label("process gone", Ink::Muted, false, &places);
        }
    }

    fn fault(&mut self, fault: &FaultMark) {
        let from = self.axis.x(fault.effective);
        let end = fault.over().unwrap_or(self.scene.to);
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
        self.fault_mark(fault, (all, own), end);
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

    /// A window, over all lanes and on its own; or a line with a head where nothing lasts.
    fn fault_mark(&mut self, fault: &FaultMark, (all, own): (Area, Area), end: u64) {
        let event = fault.events.first().copied().unwrap_or(0);
        let note = fault_note(fault, end);
        if fault.lasts {
            self.picture.add(Form::Fill(all, Ink::FaultWash));
            self.picture.mark(Form::Fill(own, Ink::Fault), note, event);
            self.picture.add(Form::Outline(own, Ink::FaultEdge, true));
            return;
        }
        let (x, y) = (own.x, own.y);
        let line = Form::Path(vec![(x, y), (x, y + own.h)], Ink::FaultEdge, 2.0);
        self.picture.mark(line, note.clone(), event);
        let head = vec![(x - 5.0, y), (x + 5.0, y), (x, y + 7.0)];
        let head = Form::Polygon(head, Ink::FaultEdge);
        self.picture.mark(head, note, event);
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
    if !fault.lasts {
        let (name, kind) = (&fault.name, &fault.kind);
        return format!("{name}: {kind}{whom}, at {}", at(fault.effective));
    }
    let until = fault.over();
    format!(
        "{}: {}{whom}, from {} to {} ({})",
        fault.name,
        fault.kind,
        at(fault.effective),
        until.map_or_else(|| "the end".to_owned(), at),
        span(end.saturating_sub(fault.effective)),
    )
}

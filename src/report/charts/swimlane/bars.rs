//! Lease bars, belief beyond entitlement, and what hangs on a bar: the lease's end, a lost key.

use super::labels::Rank;
use super::unheard::NEVER_TOLD;
use super::{BAR, Canvas, samples};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form, text_width};
use crate::report::scene::tenure::{Ended, Tenure};
use crate::report::words::{at, stretch_of};
use std::collections::HashMap;

impl Canvas<'_> {
    pub(super) fn bars(&mut self) {
        // Where many short leases lie on each other, only some are drawn.
        let mut taken: HashMap<usize, f64> = HashMap::new();
        for (index, tenure) in self.scene.tenures.iter().enumerate() {
            let lane = tenure
                .worker
                .as_deref()
                .map(|worker| self.scene.lane(worker));
            let (Some(Some(row)), true) = (lane, self.touches(tenure)) else {
                continue;
            };
            let (from, to) = (self.axis.x(tenure.from), self.axis.x(tenure.until));
            self.promise(index, row);
            let before = taken.get(&row).copied().unwrap_or(f64::NEG_INFINITY);
            if to - before < self.merge {
                continue;
            }
            taken.insert(row, to);
            self.bar(index, (row, from, to));
        }
        self.late_beliefs();
        self.renewals();
    }

    fn touches(&self, tenure: &Tenure) -> bool {
        tenure.entitled >= self.axis.from && tenure.from <= self.axis.to
    }

    /// What the server had promised beyond the end of a key that something else took: an outline.
    fn promise(&mut self, index: usize, row: usize) {
        let tenure = &self.scene.tenures[index];
        if tenure.key_taken.is_none() || tenure.entitled <= tenure.until {
            return;
        }
        let (x, end) = (self.axis.x(tenure.until), self.axis.x(tenure.entitled));
        if end - x < 1.0 {
            return;
        }
        let area = Area {
            x,
            y: self.bar_top(row),
            w: end - x,
            h: BAR,
        };
        let form = Form::Outline(area, Ink::lease(index), true);
        self.picture.mark(form, bar_note(tenure), tenure.granted_by);
        self.show(samples::TAKEN);
        self.goes_on(index, row);
    }

    fn bar(&mut self, index: usize, (row, x, end): (usize, f64, f64)) {
        let tenure = &self.scene.tenures[index];
        let w = (end - x).max(1.0);
        let area = Area {
            x,
            y: self.bar_top(row),
            w,
            h: BAR,
        };
        let ink = Ink::lease(index);
        self.picture
            .mark(Form::Fill(area, ink), bar_note(tenure), tenure.granted_by);
        if let Some(taken) = tenure.key_taken.filter(|taken| self.shows(taken.at)) {
            let x = self.axis.x(taken.at);
            let form = Form::Path(
                vec![(x, area.y - 3.0), (x, area.y + BAR + 3.0)],
                Ink::Alarm,
                2.0,
            );
            self.picture.mark(
                form,
                format!(
                    "the key was {} at {}",
                    tenure.taken().unwrap_or_default(),
                    at(taken.at)
                ),
                taken.event,
            );
            self.show(samples::TAKEN);
        }
        self.show(samples::BAR);
        self.number(tenure, (x, area.y, w), ink);
        self.never_told(tenure, (x, area.y, w));
        if tenure.key_taken.is_none() {
            self.goes_on(index, row);
        }
    }

    /// A head to the right where a lease goes on beyond what the record, or this picture, shows.
    fn goes_on(&mut self, index: usize, row: usize) {
        let tenure = &self.scene.tenures[index];
        let beyond = tenure.runs_on(self.scene.ends);
        if !beyond && tenure.entitled <= self.axis.to {
            return;
        }
        let (x, y) = (self.axis.x(tenure.entitled), self.bar_top(row));
        let head = vec![(x, y), (x + 9.0, y + BAR / 2.0), (x, y + BAR)];
        self.picture.mark(
            Form::Polygon(head, Ink::lease(index)),
            bar_note(tenure),
            tenure.granted_by,
        );
        self.show(samples::GOES_ON);
        if beyond {
            let places = [
                (x, y + BAR + 13.0, Anchor::End),
                (x - 6.0, y + 14.0, Anchor::End),
            ];
            let text = match tenure.unheard {
                true => format!("{NEVER_TOLD}, lease goes on"),
                false => "lease goes on".to_owned(),
            };
            self.label(Rank::Fate, &text, Ink::Text, &places);
        }
    }

    /// The grant's fencing token on its bar, where nothing crosses it; else all the same, on a
    /// ground of its own; on a bar that is too narrow above or below it, if there is room.
    fn number(&mut self, tenure: &Tenure, (x, top, w): (f64, f64, f64), ink: Ink) {
        let Some(token) = tenure.fencing else { return };
        let full = format!("fencing token {token}");
        let full = match (tenure.endless, tenure.unheard) {
            (_, true) => format!("{full}, {NEVER_TOLD}"),
            (true, false) => format!("{full}, no lease"),
            (false, false) => full,
        };
        let short = token.to_string();
        let fits = |text: &String| text_width(text, 11.0, true) + 4.0 <= w;
        let y = top + 14.0;
        let on = [
            (x + 6.0, y, Anchor::Start),
            (x + w / 2.0, y, Anchor::Middle),
            (x + w - 6.0, y, Anchor::End),
        ];
        let beside = [
            (x + w / 2.0, top - 3.0, Anchor::Middle),
            (x, top - 3.0, Anchor::Start),
            (x + w, top - 3.0, Anchor::End),
            (x + w / 2.0, top + BAR + 11.0, Anchor::Middle),
            (x + w + 5.0, y, Anchor::Start),
            (x - 5.0, y, Anchor::End),
        ];
        let mut texts = vec![full, short];
        // The short one always stands last: it is what may stand beside the bar.
        texts.retain(fits);
        if texts.is_empty() {
            self.ask(
                Rank::Grant,
                &[&token.to_string()],
                (Ink::Text, true),
                &beside,
                false,
            );
        } else {
            self.ask_on_bar(&texts, ink, &on, &beside);
        }
    }

    fn late_beliefs(&mut self) {
        let by_grant = self.scene.by_grant();
        for belief in &self.scene.beliefs {
            let tenure = by_grant.get(&belief.grant).copied();
            let entitled_until = tenure.map_or(belief.from, |tenure| tenure.entitled);
            let released = tenure.is_some_and(|tenure| tenure.ended == Ended::Released);
            if released || belief.until <= entitled_until {
                continue;
            }
            let Some(row) = self.scene.lane(&belief.worker) else {
                continue;
            };
            let x = self.axis.x(entitled_until);
            let w = self.axis.x(belief.until) - x;
            if w < 1.0 {
                continue;
            }
            let area = Area {
                x,
                y: self.bar_top(row),
                w,
                h: BAR,
            };
            let note = format!(
                "{} still believes that it holds after its lease has ended: {}",
                belief.worker,
                stretch_of(entitled_until, belief.until)
            );
            let event = tenure.map_or(0, |tenure| tenure.ended_by.unwrap_or(tenure.granted_by));
            self.picture
                .mark(Form::Fill(area, Ink::LateWash), note.clone(), event);
            self.picture.note(Form::Hatch(area, Ink::Late), note);
            self.picture.add(Form::Outline(area, Ink::Late, false));
            self.show(samples::LATE);
            if !self.shows(entitled_until) {
                continue;
            }
            let edge = vec![(x, area.y - 4.0), (x, area.y + BAR + 4.0)];
            self.picture.add(Form::Path(edge, Ink::Alarm, 2.0));
            let y = area.y + BAR + 14.0;
            let text = format!("lease ended {}", at(entitled_until));
            let places = [(x + 5.0, y, Anchor::Start), (x - 3.0, y, Anchor::End)];
            self.label(Rank::Hint, &text, Ink::Alarm, &places);
        }
    }
}

fn bar_note(tenure: &Tenure) -> String {
    let who = tenure.who();
    let ended = match (tenure.taken(), tenure.ended) {
        (Some(how), _) if tenure.endless => {
            format!("when the key, which had no lease, was {how}")
        }
        (Some(how), _) => format!(
            "when the key was {how}; {who} was entitled until {}",
            at(tenure.entitled)
        ),
        (None, Ended::Released) => "then it was released".to_owned(),
        (None, _) if tenure.endless => "a key without a lease, which never ends".to_owned(),
        (None, Ended::Expired) => "then the lease ran out".to_owned(),
        (None, Ended::Open) => "where the record ends and its lease still runs".to_owned(),
    };
    format!(
        "{who} holds the key{} {}, {ended}{}",
        tenure
            .fencing
            .map_or_else(String::new, |token| format!(" with fencing token {token}")),
        stretch_of(tenure.from, tenure.until),
        if tenure.unheard {
            "; the server granted it, and its worker never heard of it"
        } else if tenure.by_client {
            "; by the client's account, no server was observed"
        } else {
            ""
        },
    )
}

//! Marks on the store's lane: what reached it and what it did with it. A write that was accepted
//! in order stands on the upper line; what was refused, and what should have been, on the lower.

use super::labels::Rank;
use super::{Canvas, in_order, merge, more, samples};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Form, Words};
use crate::report::scene::writes::{Fate, Harm, WriteMark};
use crate::report::words::{at, span};

/// How large a mark is: half its width in pixels.
const R: f64 = 5.0;

/// How large the mark of a harmful write is.
const HARM_R: f64 = 7.0;

/// Every colour that a write may have; the last are drawn on top.
pub(super) const WRITE_INKS: [Ink; 5] = [
    Ink::Accepted,
    Ink::Unknown,
    Ink::Rejected,
    Ink::FaultEdge,
    Ink::Alarm,
];

impl Canvas<'_> {
    pub(super) fn store_points(&mut self) {
        let reached = self
            .scene
            .writes
            .iter()
            .filter(|write| write.applied.is_some());
        let (seals, writes): (Vec<_>, Vec<_>) = reached
            .map(|write| (self.axis.x(write.at()), write))
            .partition(|(_, write)| write.seal);
        for group in merge(seals, self.merge.max(4.0)) {
            self.seal(&group);
        }
        let mut groups = Vec::new();
        for ink in WRITE_INKS {
            let own = writes
                .iter()
                .filter(|(_, write)| write_ink(write) == ink)
                .copied();
            groups.extend(merge(own, self.merge.max(5.0)));
        }
        for group in &groups {
            self.store_mark(group);
        }
        // The most telling marks choose the places of their labels first.
        for group in groups.iter().rev() {
            self.store_label(group);
        }
    }

    fn seal(&mut self, group: &super::Group<'_, WriteMark>) {
        let (x, y) = (group.x, self.store_line(group.first));
        let note = format!("{}{}", write_note(group.first), more(group.count));
        let form = seal_form((x, y), write_ink(group.first));
        self.picture.mark(form, note, group.first.event);
        self.show(match group.first.fate {
            Fate::Rejected => samples::SEAL_REFUSED,
            Fate::Accepted | Fate::Unknown => samples::SEAL,
        });
    }

    fn store_mark(&mut self, group: &super::Group<'_, WriteMark>) {
        let (x, write) = (group.x, group.first);
        let y = self.store_line(write);
        let note = format!("{}{}", write_note(write), more(group.count));
        for form in store_forms(write, (x, y)) {
            self.picture.mark(form, note.clone(), write.event);
        }
        self.show(match (write.marked(), write.fate) {
            (Some(Harm::Stale), _) => samples::STALE,
            (Some(Harm::Borrowed), _) => samples::BORROWED,
            (Some(Harm::Late), _) => samples::LATE_WRITE,
            (None, Fate::Accepted) => samples::ACCEPTED,
            (None, Fate::Rejected) => samples::REJECTED,
            (None, Fate::Unknown) => samples::UNKNOWN,
        });
    }

    fn store_label(&mut self, group: &super::Group<'_, WriteMark>) {
        let (x, write) = (group.x, group.first);
        let y = self.store_line(write);
        if group.count != 1 || (write.fencing.is_none() && !write.is_lockless()) {
            return;
        }
        let token = write
            .fencing
            .map_or_else(|| "no token".to_owned(), |token| token.to_string());
        let beside = [
            (x + 10.0, y + 4.0, Anchor::Start),
            (x - 10.0, y + 4.0, Anchor::End),
        ];
        let below = [
            (x, y + 18.0, Anchor::Middle),
            (x - 3.0, y + 18.0, Anchor::Start),
            (x + 3.0, y + 18.0, Anchor::End),
        ];
        if in_order(write) {
            let places = [below[0], beside[0], beside[1], below[1], below[2]];
            let told = (Ink::Accepted, true);
            self.ask(Rank::Accepted, &[&token], told, &places, false);
            return;
        }
        let long = match (write.marked(), write.fate) {
            (Some(Harm::Stale), _) => format!("{token} accepted, stale"),
            (Some(Harm::Borrowed), _) => format!("{token} accepted, borrowed"),
            (Some(Harm::Late), _) => format!("{token} accepted, late"),
            (None, Fate::Rejected) => format!("{token} refused"),
            (None, Fate::Unknown) => format!("{token} unknown"),
            (None, Fate::Accepted) => return,
        };
        // Beside a mark at the right edge the label stands on its left.
        let right = self.axis.left + self.axis.width;
        let (first, second) = if x > right - 40.0 { (1, 0) } else { (0, 1) };
        let places = [beside[first], beside[second], below[0], below[1], below[2]];
        let texts = [long.as_str(), token.as_str()];
        self.ask(
            Rank::Finding,
            &texts,
            (write_ink(write), true),
            &places,
            true,
        );
    }
}

/// A seal: a diamond.
pub(in crate::report::charts) fn seal_form((x, y): (f64, f64), ink: Ink) -> Form {
    let corners = vec![(x, y - 5.5), (x + 4.5, y), (x, y + 5.5), (x - 4.5, y)];
    Form::Polygon(corners, ink)
}

/// What a write looks like at the store: a disc, a cross, a ring; a harmful one a large disc with
/// a letter, so that it cannot be taken for a good one.
pub(in crate::report::charts) fn store_forms(write: &WriteMark, at: (f64, f64)) -> Vec<Form> {
    let (x, y) = at;
    match (write.marked(), write.fate) {
        (Some(harm), _) => harm_forms(harm, at).to_vec(),
        (None, Fate::Accepted) => vec![Form::Disc(x, y, R, Ink::Accepted)],
        (None, Fate::Rejected) => vec![Form::Cross(x, y, R, Ink::Rejected)],
        (None, Fate::Unknown) => vec![Form::Ring(x, y, R, Ink::Unknown)],
    }
}

/// A write that was accepted and should not have been.
pub(super) fn harm_forms(harm: Harm, (x, y): (f64, f64)) -> [Form; 2] {
    let (ink, letter) = match harm {
        Harm::Stale => (Ink::Alarm, "!"),
        Harm::Borrowed => (Ink::Alarm, "B"),
        Harm::Late => (Ink::FaultEdge, "L"),
    };
    let words = Words {
        x,
        y: y + 4.0,
        size: 11.0,
        bold: true,
        anchor: Anchor::Middle,
        ink: Ink::Page,
        text: letter.to_owned(),
    };
    [Form::Disc(x, y, HARM_R, ink), Form::Text(words)]
}

/// The colour of a write and of its stem.
pub(super) fn write_ink(write: &WriteMark) -> Ink {
    match (write.marked(), write.fate) {
        (Some(Harm::Stale | Harm::Borrowed), _) => Ink::Alarm,
        (Some(Harm::Late), _) => Ink::FaultEdge,
        (None, Fate::Accepted) => Ink::Accepted,
        (None, Fate::Rejected) => Ink::Rejected,
        (None, Fate::Unknown) => Ink::Unknown,
    }
}

pub(in crate::report::charts) fn write_note(write: &WriteMark) -> String {
    let what = if write.seal { "seal" } else { "write" };
    let token = write
        .fencing
        .map_or_else(String::new, |token| format!(" with fencing token {token}"));
    let head = format!("{what} {}{token}", write.write);
    let knew = match (&write.twin, write.highest) {
        (Some(twin), _) => {
            format!("; the store had taken {twin} of another grant with the same token")
        }
        (None, Some(highest)) => format!("; the store knew {highest}"),
        (None, None) => String::new(),
    };
    match (write.fate, write.applied) {
        (Fate::Accepted, _) => {
            let told = match write.marked() {
                Some(Harm::Stale) if write.harm().is_none() => {
                    " under a fencing token that another grant has used, too, whose write was refused for it".to_owned()
                }
                Some(Harm::Stale) => format!(" although it was stale{knew}"),
                Some(Harm::Borrowed) => " although its fencing token was borrowed".to_owned(),
                Some(Harm::Late) => format!(
                    ", {} after its writer's lease had ended",
                    span(write.late.unwrap_or(0))
                ),
                None => String::new(),
            };
            format!("{head} accepted at {}{told}", at(write.at()))
        }
        (Fate::Rejected, _) => format!("{head} refused at {}{knew}", at(write.at())),
        (Fate::Unknown, Some(_)) => format!("{head}: what became of it is not on the record"),
        (Fate::Unknown, None) => {
            format!(
                "{head} asked at {} never reached the store",
                at(write.asked)
            )
        }
    }
}

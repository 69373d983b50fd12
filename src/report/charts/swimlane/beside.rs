//! Marks of what happens beside the writes: an eye-shaped square for a read, with a stem to the
//! store; an envelope for a publication; a flag for a fencing token drawn without the lock.

use super::labels::Rank;
use super::{Canvas, merge, more, samples};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form};
use crate::report::scene::beside::{BesideMark, Deed, Queued};
use crate::report::scene::writes::Fate;
use crate::report::words::{at, span};

impl Canvas<'_> {
    pub(super) fn beside_points(&mut self) {
        for row in 0..self.scene.workers.len() {
            let own = self.scene.beside.iter();
            let own = own.filter(|mark| mark.worker == self.scene.workers[row]);
            let own: Vec<_> = own.map(|mark| (self.axis.x(mark.at), mark)).collect();
            for kind in KINDS {
                let marks = own.iter().filter(|(_, mark)| kind(mark)).copied();
                for group in merge(marks, self.merge.max(6.0)) {
                    self.beside_mark(row, &group);
                }
            }
        }
    }

    fn beside_mark(&mut self, row: usize, group: &super::Group<'_, BesideMark>) {
        let (x, y, mark) = (group.x, self.mark_line(row), group.first);
        let note = format!("{}{}", beside_note(mark), more(group.count));
        let ink = beside_ink(mark);
        if matches!(mark.deed, Deed::Read(_)) {
            let line = self.read_line();
            for form in beside_forms(mark, (x, line)) {
                self.picture.mark(form, note.clone(), mark.event);
            }
        }
        for form in beside_forms(mark, (x, y)) {
            self.picture.mark(form, note.clone(), mark.event);
        }
        self.show(match (&mark.deed, mark.fate) {
            (Deed::Read(_), _) if mark.is_harmful() => samples::READ_LATE,
            (Deed::Read(_), Fate::Rejected) => samples::READ_REFUSED,
            (Deed::Read(_), _) => samples::READ,
            (Deed::Published(_, Queued::Again), _) => samples::PUBLISHED_AGAIN,
            (Deed::Published(_, Queued::Known), _) => samples::PUBLISHED_KNOWN,
            (Deed::Published(..), _) => samples::PUBLISHED,
            (Deed::Drew(_), _) => samples::DRAWN,
        });
        let text = match (&mark.deed, mark.fate) {
            (Deed::Read(_), Fate::Rejected) => "read refused".to_owned(),
            (Deed::Read(_), _) if mark.is_harmful() => "read answered, too late".to_owned(),
            (Deed::Drew(token), _) => format!("draws {token} without the lock"),
            (Deed::Published(job, Queued::First), _) => format!("{job} published"),
            (Deed::Published(job, Queued::Known), _) => format!("{job} known, kept once"),
            (Deed::Published(job, Queued::Again), _) => format!("{job} published again"),
            (Deed::Read(_), _) => return,
        };
        let places = [
            (x + 10.0, y + 4.0, Anchor::Start),
            (x - 10.0, y + 4.0, Anchor::End),
            (x + 9.0, y + 14.0, Anchor::Start),
            (x - 9.0, y + 14.0, Anchor::End),
            (x + 9.0, y - 8.0, Anchor::Start),
            (x - 9.0, y - 8.0, Anchor::End),
        ];
        let told = mark.is_harmful() || mark.fate == Fate::Rejected;
        let rank = if told { Rank::Finding } else { Rank::Hint };
        self.ask(rank, &[&text], (ink, mark.is_harmful()), &places, told);
    }
}

const KINDS: [fn(&BesideMark) -> bool; 4] = [
    |mark| matches!(mark.deed, Deed::Read(_)) && mark.stale.is_none(),
    |mark| matches!(mark.deed, Deed::Published(..)),
    |mark| matches!(mark.deed, Deed::Drew(_)),
    |mark| matches!(mark.deed, Deed::Read(_)) && mark.stale.is_some(),
];

pub(super) fn beside_ink(mark: &BesideMark) -> Ink {
    match (mark.is_harmful(), mark.fate) {
        (true, _) => Ink::Alarm,
        (false, Fate::Accepted) => Ink::Accepted,
        (false, Fate::Rejected) => Ink::Rejected,
        (false, Fate::Unknown) => Ink::Unknown,
    }
}

fn beside_forms(mark: &BesideMark, at: (f64, f64)) -> Vec<Form> {
    let ink = beside_ink(mark);
    match mark.deed {
        Deed::Read(_) => read_forms(ink, mark.is_harmful(), mark.fate, at),
        Deed::Published(_, Queued::Known) => envelope(Ink::Muted, at),
        Deed::Published(..) => envelope(ink, at),
        Deed::Drew(_) => drawn(at),
    }
}

/// A square: open if the read was answered in time, filled if too late, crossed if refused.
pub(super) fn read_forms(ink: Ink, harmful: bool, fate: Fate, (x, y): (f64, f64)) -> Vec<Form> {
    let area = Area {
        x: x - 4.5,
        y: y - 4.5,
        w: 9.0,
        h: 9.0,
    };
    let square = match harmful {
        true => Form::Fill(area, ink),
        false => Form::Outline(area, ink, false),
    };
    let cross = (fate == Fate::Rejected).then_some(Form::Cross(x, y, 4.5, ink));
    [Form::Fill(area, Ink::Page), square]
        .into_iter()
        .chain(cross)
        .collect()
}

pub(super) fn envelope(ink: Ink, (x, y): (f64, f64)) -> Vec<Form> {
    let area = Area {
        x: x - 6.5,
        y: y - 4.5,
        w: 13.0,
        h: 9.0,
    };
    let flap = vec![(x - 6.5, y - 4.5), (x, y + 1.0), (x + 6.5, y - 4.5)];
    vec![
        Form::Fill(area, Ink::Page),
        Form::Outline(area, ink, false),
        Form::Path(flap, ink, 1.3),
    ]
}

/// A triangle that points up: the number rises, and nobody granted it.
pub(super) fn drawn((x, y): (f64, f64)) -> Vec<Form> {
    let up = vec![(x - 5.0, y + 5.0), (x, y - 6.0), (x + 5.0, y + 5.0)];
    vec![Form::Polygon(up, Ink::Alarm)]
}

fn beside_note(mark: &BesideMark) -> String {
    let (step, when) = (&mark.step, at(mark.at));
    let token = mark
        .fencing
        .map_or_else(String::new, |token| format!(" with fencing token {token}"));
    match (&mark.deed, mark.fate) {
        (Deed::Read(_), Fate::Rejected) => format!("read {step}{token} refused at {when}"),
        (Deed::Read(shown), _) => {
            let shown = shown.as_deref().unwrap_or("nothing");
            let late = mark.stale.map_or_else(String::new, |late| {
                format!(", {} after its reader's lease had ended", span(late))
            });
            format!("read {step}{token} was shown {shown} at {when}{late}")
        }
        (Deed::Published(job, queued), _) => {
            let so = match queued {
                Queued::First => "",
                Queued::Known => "; the queue knew it already and kept it once",
                Queued::Again => "; the queue had it already and took it once more",
            };
            format!("{step} published {job} at {when}{so}")
        }
        (Deed::Drew(token), _) => {
            format!(
                "{step} drew fencing token {token} from the lock's counter at {when}, without the lock"
            )
        }
    }
}

//! Labels in the picture: all are placed when every mark is drawn, the most telling first, each at
//! the first place where it can be read. Some are left out if there is none, others must be read.

use super::Canvas;
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form, Lies, Shelf, Words};

/// How much a label tells; the first choose their places first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The fencing token of a grant, on its bar.
    Grant,
    /// What the store should not have done, or refused.
    Finding,
    /// What a worker is told, and what becomes of it.
    Fate,
    /// What the store accepted.
    Accepted,
    /// What the server did.
    Server,
    /// All others.
    Hint,
}

/// A label that wants a place.
pub(super) struct Wanted {
    rank: Rank,
    /// Where it may stand and on what, the best first.
    choices: Vec<(Words, Lies)>,
    /// Its ground, where it needs one.
    ground: Option<Ink>,
}

type Place = (f64, f64, Anchor);

impl Canvas<'_> {
    /// Asks for a small label at the first free of these places.
    pub(super) fn label(&mut self, rank: Rank, text: &str, ink: Ink, places: &[Place]) {
        self.ask(rank, &[text], (ink, false), places, false);
    }

    /// The longest of these labels for which there is room. One that `must` be read lies on marks
    /// rather than nowhere.
    pub(super) fn ask(
        &mut self,
        rank: Rank,
        texts: &[&str],
        (ink, bold): (Ink, bool),
        places: &[Place],
        must: bool,
    ) {
        let mut choices = Vec::new();
        let ways = [Lies::Free, Lies::OverLines];
        for lies in ways {
            for text in texts {
                choices.extend(at_each(&small(text, ink, bold), places, lies));
            }
        }
        if let (true, Some(shortest)) = (must, texts.last()) {
            choices.extend(at_each(&small(shortest, ink, bold), places, Lies::Anywhere));
        }
        self.wanted.push(Wanted {
            rank,
            choices,
            ground: None,
        });
    }

    /// A number on a bar of this colour, or beside it.
    pub(super) fn ask_on_bar(
        &mut self,
        texts: &[String],
        bar: Ink,
        on: &[Place],
        beside: &[Place],
    ) {
        let mut choices = Vec::new();
        for text in texts {
            choices.extend(at_each(&small(text, Ink::OnLease, true), on, Lies::OnBar));
        }
        if let Some(short) = texts.last() {
            let words = small(short, Ink::Text, true);
            choices.extend(at_each(&words, beside, Lies::Free));
            choices.extend(at_each(&words, beside, Lies::OverLines));
            let words = small(short, Ink::OnLease, true);
            choices.extend(at_each(&words, on, Lies::Anywhere));
        }
        self.wanted.push(Wanted {
            rank: Rank::Grant,
            choices,
            ground: Some(bar),
        });
    }

    /// Places what was asked for.
    pub(super) fn labels(&mut self) {
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.sort_by_key(|one| one.rank);
        let bounds = self.plot();
        let shapes = &self.picture.shapes;
        let mut shelf = Shelf::over(shapes, self.picture.width, self.behind);
        for one in wanted {
            let mut choices = one.choices.into_iter();
            let found = choices.find(|(words, lies)| shelf.place(words, *lies, bounds));
            let Some((words, lies)) = found else { continue };
            match lies {
                Lies::Free | Lies::OnBar => {}
                Lies::OverLines | Lies::Anywhere => {
                    let own = one.ground.filter(|_| words.ink == Ink::OnLease);
                    self.ground_of(words.area(), own);
                }
            }
            self.picture.add(Form::Text(words));
        }
    }

    /// The ground below a label: this one, or that of the lane with what is washed over it.
    fn ground_of(&mut self, area: Area, own: Option<Ink>) {
        let ground = own.unwrap_or_else(|| self.ground(area.y + area.h / 2.0));
        self.picture.add(Form::Fill(area, ground));
        if own.is_some() {
            return;
        }
        for (wash, ink) in &self.tints {
            let (x, y) = (area.x.max(wash.x), area.y.max(wash.y));
            let w = (area.x + area.w).min(wash.x + wash.w) - x;
            let h = (area.y + area.h).min(wash.y + wash.h) - y;
            if w > 0.0 && h > 0.0 {
                self.picture.add(Form::Fill(Area { x, y, w, h }, *ink));
            }
        }
    }

    pub(super) fn text(&mut self, x: f64, y: f64, text: &str) {
        self.picture.add(Form::Text(Words {
            x,
            y,
            size: 12.0,
            bold: false,
            anchor: Anchor::Start,
            ink: Ink::Muted,
            text: text.to_owned(),
        }));
    }
}

fn at_each(words: &Words, places: &[Place], lies: Lies) -> impl Iterator<Item = (Words, Lies)> {
    let places = places.to_vec();
    let words = words.clone();
    places.into_iter().map(move |(x, y, anchor)| {
        let words = words.clone();
        (
            Words {
                x,
                y,
                anchor,
                ..words
            },
            lies,
        )
    })
}

pub(super) fn small(text: &str, ink: Ink, bold: bool) -> Words {
    Words {
        x: 0.0,
        y: 0.0,
        size: 11.0,
        bold,
        anchor: Anchor::Start,
        ink,
        text: text.to_owned(),
    }
}

//! The matrix as a picture: a sign, the word for what saved the work, and how often, a cell.

use super::{Cell, Matrix, State};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form, Picture, Words, text_width, wrap};

const MARGIN: f64 = 16.0;
const ROW: f64 = 19.0;
const COLUMN: f64 = 116.0;
const SIZE: f64 = 10.5;
const SMALL: f64 = 9.0;

/// More drills than this are not drawn: the page has them all.
const ROWS_MAX: usize = 120;

/// More back ends than this are not drawn.
const COLUMNS_MAX: usize = 16;

/// The purple of a limit.
const LIMIT: Ink = Ink::Lease(2);

/// Draws it.
pub fn picture(matrix: &Matrix) -> Picture {
    let mut shown = matrix.shown();
    shown.truncate(COLUMNS_MAX);
    let rows = &matrix.drills[..matrix.drills.len().min(ROWS_MAX)];
    let names = rows.iter().map(|row| text_width(&row.drill, SIZE, false));
    let left = MARGIN + names.fold(60.0, f64::max) + 14.0;
    let width = (left + COLUMN * shown.len() as f64 + MARGIN).max(560.0);
    let mut page = Picture::new(width, 0.0, label(matrix, &shown));
    let mut y = heading(&mut page, matrix);
    for (place, at) in shown.iter().enumerate() {
        let x = left + COLUMN * place as f64;
        page.add(words(
            (x, y),
            (SIZE, true),
            Ink::Text,
            &matrix.locks[*at].name,
        ));
    }
    y += 8.0;
    for (number, row) in rows.iter().enumerate() {
        if number % 2 == 0 {
            let band = Area {
                x: MARGIN / 2.0,
                y,
                w: width - MARGIN,
                h: ROW,
            };
            page.add(Form::Fill(band, Ink::Band));
        }
        let line = y + ROW - 5.5;
        page.add(words((MARGIN, line), (SIZE, false), Ink::Text, &row.drill));
        for (place, at) in shown.iter().enumerate() {
            let x = left + COLUMN * place as f64;
            cell(&mut page, (x, y + ROW / 2.0), &row.cells[*at]);
        }
        y += ROW;
    }
    if rows.len() < matrix.drills.len() {
        y += 16.0;
        let more = format!("and {} more drills", matrix.drills.len() - rows.len());
        page.add(words((MARGIN, y), (SMALL, false), Ink::Muted, &more));
    }
    page.height = legend(&mut page, y + 22.0) + 8.0;
    page
}

/// For those who cannot see it.
fn label(matrix: &Matrix, shown: &[usize]) -> String {
    let sums = shown.iter().map(|at| {
        let name = &matrix.locks[*at].name;
        format!("{name}: {}", super::text::sums(matrix, *at))
    });
    let sums: Vec<String> = sums.collect();
    format!(
        "{} drills on {} back ends. {}",
        matrix.drills.len(),
        shown.len(),
        sums.join("; ")
    )
}

fn words((x, y): (f64, f64), (size, bold): (f64, bool), ink: Ink, text: &str) -> Form {
    Form::Text(Words {
        x,
        y,
        size,
        bold,
        anchor: Anchor::Start,
        ink,
        text: text.to_owned(),
    })
}

/// Title and what it speaks of; returns the baseline of the row of names.
fn heading(page: &mut Picture, matrix: &Matrix) -> f64 {
    let title = "Drills on lock back ends: how each ended, and what saved the work";
    page.add(words((MARGIN, 26.0), (14.0, true), Ink::Text, title));
    let cells = || matrix.drills.iter().flat_map(|row| &row.cells);
    let n: u32 = cells()
        .filter(|cell| cell.is_played())
        .map(|cell| cell.n)
        .sum();
    let nights = cells().filter_map(|cell| cell.night.as_deref());
    let when = match (nights.clone().min(), nights.max()) {
        (Some(first), Some(last)) if first == last => format!(" on {first}"),
        (Some(first), Some(last)) => format!(" from {first} to {last}"),
        _ => String::new(),
    };
    let told = format!(
        "{n} executions{when}, by lockdrill {}. Each cell speaks of its own runs, with the faults shown to have happened in them, and of nothing else; k/n of them ended so.",
        env!("CARGO_PKG_VERSION")
    );
    let mut y = 28.0;
    for line in wrap(&told, page.width - 2.0 * MARGIN, SIZE) {
        y += 16.0;
        page.add(words((MARGIN, y), (SIZE, false), Ink::Muted, &line));
    }
    y + 26.0
}

/// One cell: its left end and the middle of its height.
fn cell(page: &mut Picture, (x, y): (f64, f64), cell: &Cell) {
    sign(page, (x + 6.0, y), cell.state);
    let (ink, text) = match cell.state {
        State::NotApplicable => return,
        State::NotPlayed => (Ink::Muted, cell.state.word()),
        _ => (Ink::Text, cell.saved.as_str()),
    };
    let at = x + 16.0;
    page.add(words((at, y + 3.5), (SMALL, false), ink, text));
    if cell.is_played() {
        let at = at + text_width(text, SMALL, false) + 5.0;
        let rate = format!("{}/{}", cell.k, cell.n);
        page.add(words(
            (at, y + 3.5),
            (SMALL - 1.0, false),
            Ink::Muted,
            &rate,
        ));
    }
}

/// Told apart by shape as well as by colour.
fn sign(page: &mut Picture, (x, y): (f64, f64), state: State) {
    let letter = |ink, text| {
        Form::Text(Words {
            x,
            y: y + 4.0,
            size: 11.0,
            bold: true,
            anchor: Anchor::Middle,
            ink,
            text: str::to_owned(text),
        })
    };
    match state {
        State::Pass => page.add(Form::Path(
            vec![(x - 4.0, y), (x - 1.2, y + 3.4), (x + 4.2, y - 3.8)],
            Ink::Accepted,
            2.2,
        )),
        State::Limit => page.add(letter(LIMIT, "L")),
        State::Fail => page.add(Form::Cross(x, y, 3.6, Ink::Rejected)),
        State::Inconclusive => page.add(letter(Ink::FaultEdge, "?")),
        State::NotApplicable => page.add(Form::Disc(x, y, 1.2, Ink::Muted)),
        State::NotPlayed => page.add(Form::Path(
            vec![(x - 3.5, y), (x + 3.5, y)],
            Ink::Muted,
            1.4,
        )),
    }
}

/// What the signs mean; returns where it ends.
fn legend(page: &mut Picture, mut y: f64) -> f64 {
    let words_of = [
        (State::Pass, "pass: no named check was violated"),
        (
            State::Limit,
            "limit, as the drill's file says beforehand: no pass",
        ),
        (State::Fail, "fail"),
        (State::Inconclusive, "the record cannot tell"),
        (State::NotApplicable, "not applicable"),
        (State::NotPlayed, "not played: no pass"),
    ];
    let mut x = MARGIN;
    for (state, text) in words_of {
        let wide = 16.0 + text_width(text, SMALL, false) + 18.0;
        if x > MARGIN && x + wide > page.width - MARGIN {
            x = MARGIN;
            y += 16.0;
        }
        sign(page, (x + 6.0, y), state);
        page.add(words((x + 16.0, y + 3.5), (SMALL, false), Ink::Muted, text));
        x += wide;
    }
    y + 10.0
}

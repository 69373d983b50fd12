//! The picture of one signal: a row for each of its shapes. Parts of a whole lie side by side in one
//! bar; durations stand as dots on a line from nothing to the longest or to the lease, whichever is
//! longer; a server's line is there while it ran.

use super::ink::Ink;
use super::picture::{Anchor, Area, Form, Picture, Words, text_width};
use crate::report::shape::{Part, Shape, Tone};
use crate::report::signals::Signal;
use crate::report::words::{at, span};

const WIDTH: f64 = 470.0;
const ROW: f64 = 44.0;
const LEFT: f64 = 6.0;
const RIGHT: f64 = WIDTH - 12.0;
const BAR: f64 = 14.0;

/// More dots than this are thinned out evenly; the longest is always there.
const DOTS_MAX: usize = 300;

/// Draws a signal; none if it has nothing to show.
pub fn draw(signal: &Signal) -> Option<Picture> {
    if signal.shapes.is_empty() {
        return None;
    }
    let height = signal.shapes.len() as f64 * ROW;
    let mut picture = Picture::new(WIDTH, height, format!("{}: {}", signal.name, signal.value));
    for (row, shape) in signal.shapes.iter().enumerate() {
        let top = row as f64 * ROW;
        match shape {
            Shape::Parts(parts) => whole(&mut picture, top, parts),
            Shape::Times {
                name,
                values,
                lease,
            } => times(&mut picture, top, (name, values), *lease),
            Shape::Lives {
                server,
                spans,
                window,
            } => lives(&mut picture, top, (server, spans), *window),
        }
    }
    Some(picture)
}

fn words(x: f64, y: f64, anchor: Anchor, ink: Ink, text: String) -> Words {
    Words {
        x,
        y,
        size: 11.0,
        bold: false,
        anchor,
        ink,
        text,
    }
}

fn ink(tone: Tone) -> Ink {
    match tone {
        Tone::Good => Ink::Accepted,
        Tone::Plain => Ink::Lease(0),
        Tone::Doubt => Ink::FaultEdge,
        Tone::Bad => Ink::Alarm,
    }
}

/// Parts as one bar, and below it what each is, in the same order.
fn whole(picture: &mut Picture, top: f64, parts: &[Part]) {
    let all: usize = parts.iter().map(|part| part.count).sum();
    let (mut x, mut label) = (LEFT, LEFT);
    for part in parts {
        let w = ((RIGHT - LEFT) * part.count as f64 / all.max(1) as f64).max(2.0);
        let area = Area {
            x,
            y: top + 6.0,
            w: (w - 1.0).max(1.0),
            h: BAR,
        };
        let told = format!("{} {}", part.count, part.name);
        picture.note(Form::Fill(area, ink(part.tone)), told.clone());
        let from = label.max(x);
        let sample = Area {
            x: from,
            y: top + 28.0,
            w: 8.0,
            h: 8.0,
        };
        picture.add(Form::Fill(sample, ink(part.tone)));
        label = from + 12.0 + text_width(&told, 11.0, false) + 10.0;
        picture.add(Form::Text(words(
            from + 12.0,
            top + 36.0,
            Anchor::Start,
            Ink::Text,
            told,
        )));
        x += w;
    }
}

/// Durations on a line that begins at nothing, and the lease as a mark on it.
fn times(picture: &mut Picture, top: f64, (name, values): (&str, &[u64]), lease: Option<u64>) {
    let longest = values.iter().max().copied().unwrap_or(0);
    let end = lease.unwrap_or(0).max(longest).max(1);
    let x = |ns: u64| LEFT + (RIGHT - LEFT) * ns as f64 / end as f64;
    let middle = top + 13.0;
    picture.add(Form::Path(
        vec![(LEFT, middle), (RIGHT, middle)],
        Ink::Grid,
        1.2,
    ));
    if let Some(lease) = lease {
        let mark = vec![(x(lease), top + 3.0), (x(lease), top + 23.0)];
        picture.note(
            Form::Path(mark, Ink::Alarm, 1.6),
            format!("the lease: {}", span(lease)),
        );
    }
    let step = values.len().div_ceil(DOTS_MAX).max(1);
    let shown = values.iter().step_by(step).chain([&longest]);
    for value in shown {
        let over = lease.is_some_and(|lease| *value > lease);
        let dot = if over { Ink::Alarm } else { Ink::Lease(0) };
        let form = Form::Disc(x(*value), middle, 4.0, dot);
        picture.note(form, format!("{name}: {}", span(*value)));
    }
    let y = top + 36.0;
    picture.add(Form::Text(words(
        LEFT,
        y,
        Anchor::Start,
        Ink::Muted,
        "0".to_owned(),
    )));
    let told = format!("{name}, longest {}", span(longest));
    let lease = lease.map(|lease| (x(lease), format!("lease {}", span(lease))));
    let half = text_width(&told, 11.0, false) / 2.0;
    let at = x(longest).clamp(LEFT + 14.0 + half, RIGHT - half);
    picture.add(Form::Text(words(at, y, Anchor::Middle, Ink::Text, told)));
    if let Some((x, told)) = lease {
        let w = text_width(&told, 11.0, false);
        // Beside the mark, above the line of words, so that the two never meet.
        let (x, anchor) = if x + w + 6.0 > RIGHT {
            (x - 5.0, Anchor::End)
        } else {
            (x + 5.0, Anchor::Start)
        };
        picture.add(Form::Text(words(x, top + 9.5, anchor, Ink::Alarm, told)));
    }
}

/// A server's line while it ran.
fn lives(
    picture: &mut Picture,
    top: f64,
    (server, spans): (&str, &[(u64, u64)]),
    (from, to): (u64, u64),
) {
    let all = to.saturating_sub(from).max(1) as f64;
    let x = |ns: u64| LEFT + (RIGHT - LEFT) * ns.saturating_sub(from) as f64 / all;
    let area = |begin: f64, end: f64| Area {
        x: begin,
        y: top + 6.0,
        w: (end - begin).max(1.0),
        h: BAR,
    };
    picture.note(
        Form::Hatch(area(LEFT, RIGHT), Ink::Alarm),
        format!("{server} did not run"),
    );
    for (begin, end) in spans {
        let area = area(x(*begin), x(*end));
        picture.add(Form::Fill(area, Ink::Page));
        picture.note(
            Form::Fill(area, Ink::Accepted),
            format!("{server} ran from {} to {}", at(*begin), at(*end)),
        );
    }
    let down = all - spans.iter().map(|(begin, end)| end - begin).sum::<u64>() as f64;
    let told = if down >= 1e6 {
        format!("{server}: ran, but for {}", span(down as u64))
    } else {
        format!("{server}: ran all the time")
    };
    let y = top + 36.0;
    picture.add(Form::Text(words(LEFT, y, Anchor::Start, Ink::Text, told)));
    let range = format!("{} to {}", at(from), at(to));
    picture.add(Form::Text(words(RIGHT, y, Anchor::End, Ink::Muted, range)));
}

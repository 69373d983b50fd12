//! Lab time along the bottom. Where more happens at once than the eye could tell apart, the axis is
//! stretched and says so: the order of things is always to be seen, and between such places a
//! second is as long everywhere.

use super::stretch::{self, Instant};
use super::{decimals, round_step};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form, Picture, Words};

/// Pixels between two labels.
const GAP: f64 = 70.0;

/// No tick is finer than this, in seconds: times are told to the thousandth.
const FINEST: f64 = 0.001;

/// Pixels that a mark of a chart must stand behind the one before it.
const MARK: f64 = 11.0;

/// Lab time from left to right.
#[derive(Debug, Clone)]
pub struct TimeAxis {
    /// Lab time at the left edge, ns.
    pub from: u64,
    /// Lab time at the right edge, ns.
    pub to: u64,
    /// Left edge in pixels.
    pub left: f64,
    /// Width in pixels.
    pub width: f64,
    /// Instants with their pixels, ascending in both; between two of them the axis is even.
    knots: Vec<(u64, f64)>,
    /// Pixels of a nanosecond where nothing is stretched.
    scale: f64,
}

impl TimeAxis {
    /// An axis on which a second is as long everywhere.
    pub fn even((from, to): (u64, u64), left: f64, width: f64) -> Self {
        TimeAxis::stretched((from, to), left, width, Vec::new())
    }

    /// An axis below a panel whose marks, one at each of these times, stand apart.
    pub fn of_marks(span: (u64, u64), area: Area, times: impl Iterator<Item = u64>) -> Self {
        let instants = times.map(|at| Instant {
            at,
            row: 0,
            room: MARK,
        });
        TimeAxis::stretched(span, area.x, area.w, instants.collect())
    }

    /// An axis on which these instants stand apart as they ask for, as far as there is room.
    pub fn stretched(
        (from, to): (u64, u64),
        left: f64,
        width: f64,
        instants: Vec<Instant>,
    ) -> Self {
        let to = to.max(from);
        let (mut knots, scale) = stretch::knots((from, to), width, instants);
        knots.iter_mut().for_each(|(_, x)| *x += left);
        TimeAxis {
            from,
            to,
            left,
            width,
            knots,
            scale,
        }
    }

    /// The x of a time; times outside the axis stand at its edge.
    pub fn x(&self, ns: u64) -> f64 {
        let ns = ns.clamp(self.from, self.to);
        let next = self.knots.partition_point(|(at, _)| *at <= ns);
        let before = next.checked_sub(1).and_then(|index| self.knots.get(index));
        match (before, self.knots.get(next)) {
            (Some((at, x)), Some((at_next, x_next))) => {
                let part = (ns - at) as f64 / at_next.saturating_sub(*at).max(1) as f64;
                x + (x_next - x) * part
            }
            (Some((_, x)), None) => *x,
            (None, _) => self.left,
        }
    }

    /// The spans that are stretched at least threefold and wide enough to be seen, as (from, to).
    pub fn stretches(&self) -> Vec<(u64, u64)> {
        const FACTOR: f64 = 3.0;
        const SEEN: f64 = 6.0;
        // What lies between two such spans is no help if it is narrower than this.
        const NEAR: f64 = 30.0;
        let mut spans: Vec<(u64, u64)> = Vec::new();
        for two in self.knots.windows(2) {
            let ((from, x), (to, x_next)) = (two[0], two[1]);
            if x_next - x <= FACTOR * self.scale * to.saturating_sub(from) as f64 {
                continue;
            }
            match spans.last_mut() {
                Some(last) if x - self.x(last.1) < NEAR => last.1 = to,
                _ => spans.push((from, to)),
            }
        }
        spans.retain(|(from, to)| self.x(*to) - self.x(*from) >= SEEN);
        spans
    }

    /// Round times from `from` to `to`, about [`GAP`] pixels apart at this many pixels a second.
    fn round(&self, (from, to): (u64, u64), pixels: f64) -> Vec<(f64, String)> {
        let whole = to.saturating_sub(from).max(1) as f64 / 1e9;
        let step = round_step((GAP / pixels.max(f64::MIN_POSITIVE)).min(whole)).max(FINEST);
        let decimals = decimals(step);
        let first = (from as f64 / 1e9 / step).ceil();
        (0..200)
            .map(|n| (first + f64::from(n)) * step)
            .take_while(|at| *at <= to as f64 / 1e9)
            .map(|at| (self.x((at * 1e9) as u64), format!("{at:.decimals$} s")))
            .collect()
    }

    /// Round times over all, then finer ones where the axis is stretched.
    fn ticks(&self) -> Vec<(f64, String)> {
        let mut ticks = self.round((self.from, self.to), self.scale * 1e9);
        for (from, to) in self.stretches() {
            let seconds = to.saturating_sub(from).max(1) as f64 / 1e9;
            let pixels = (self.x(to) - self.x(from)) / seconds;
            ticks.extend(self.round((from, to), pixels));
        }
        ticks
    }

    /// Draws grid lines from `top` to `bottom`, the times below, and a broad line where the axis
    /// is stretched.
    pub fn draw(&self, picture: &mut Picture, top: f64, bottom: f64) {
        let right = self.left + self.width;
        let mut taken: Vec<(f64, f64)> = Vec::new();
        for (x, text) in self.ticks() {
            let words = Words {
                x,
                y: bottom + 17.0,
                size: 11.0,
                bold: false,
                anchor: Anchor::Middle,
                ink: Ink::Muted,
                text,
            };
            let area = words.area();
            let (begin, end) = (area.x, area.x + area.w);
            let free = taken
                .iter()
                .all(|(a, b)| end + 8.0 < *a || *b + 8.0 < begin);
            if !free || begin < 0.0 || end > right + 1.0 {
                continue;
            }
            taken.push((begin, end));
            picture.add(Form::Path(vec![(x, top), (x, bottom)], Ink::Grid, 1.0));
            picture.add(Form::Text(words));
        }
        let line = |from, to| vec![(from, bottom), (to, bottom)];
        picture.add(Form::Path(line(self.left, right), Ink::Muted, 1.0));
        for (from, to) in self.stretches() {
            let broad = line(self.x(from), self.x(to));
            picture.add(Form::Path(broad, Ink::Muted, 4.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_fall_on_round_numbers() {
        let axis = TimeAxis::even((930_000_000, 6_100_000_000), 100.0, 1000.0);
        let labels: Vec<String> = axis.ticks().into_iter().map(|tick| tick.1).collect();
        assert_eq!(labels.first().map(String::as_str), Some("1.0 s"));
        assert_eq!(labels.get(1).map(String::as_str), Some("1.5 s"));
        assert_eq!(labels.last().map(String::as_str), Some("6.0 s"));
        assert!(axis.stretches().is_empty());
    }

    #[test]
    fn no_tick_is_told_finer_than_a_thousandth() {
        let axis = TimeAxis::even((3_304_700_000, 3_309_800_000), 100.0, 1000.0);
        let labels: Vec<String> = axis.ticks().into_iter().map(|tick| tick.1).collect();
        assert_eq!(labels.first().map(String::as_str), Some("3.305 s"));
        assert_eq!(labels.get(1).map(String::as_str), Some("3.306 s"));
    }

    #[test]
    fn odd_ranges_divide_by_nothing() {
        for (from, to) in [(5, 5), (0, 0), (0, u64::MAX), (7, 3)] {
            let axis = TimeAxis::even((from, to), 0.0, 0.0);
            assert!([0, 5, u64::MAX].iter().all(|at| axis.x(*at).is_finite()));
            assert!(axis.ticks().len() <= 200);
            axis.draw(&mut Picture::new(10.0, 10.0, ""), 0.0, 5.0);
        }
    }
}

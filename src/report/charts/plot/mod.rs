//! Axes that the charts share: lab time along the bottom, values up the side. Ticks fall on round
//! numbers; an empty or single-valued range is widened, never divided by.

use super::ink::Ink;
use super::picture::{Anchor, Form, Picture, Words};

mod log;
mod panel;
mod rank;

pub use log::LogAxis;
pub use panel::Panel;
pub use rank::RankAxis;

/// Lab time from left to right.
#[derive(Debug, Clone, Copy)]
pub struct TimeAxis {
    /// Lab time at the left edge, ns.
    pub from: u64,
    /// Lab time at the right edge, ns.
    pub to: u64,
    /// Left edge in pixels.
    pub left: f64,
    /// Width in pixels.
    pub width: f64,
}

impl TimeAxis {
    /// The x of a time; times outside the axis stand at its edge.
    pub fn x(&self, ns: u64) -> f64 {
        let all = self.to.saturating_sub(self.from).max(1) as f64;
        let part = ns.clamp(self.from, self.to.max(self.from)) - self.from;
        self.left + part as f64 / all * self.width
    }

    /// Round times at least `gap` pixels apart.
    fn ticks(&self, gap: f64) -> Vec<(f64, String)> {
        let seconds = self.to.saturating_sub(self.from).max(1) as f64 / 1e9;
        let step = round_step(seconds * gap / self.width.max(1.0));
        let decimals = decimals(step);
        let first = (self.from as f64 / 1e9 / step).ceil();
        (0..200)
            .map(|n| (first + f64::from(n)) * step)
            .take_while(|at| *at <= self.to as f64 / 1e9)
            .map(|at| (self.x((at * 1e9) as u64), format!("{at:.decimals$} s")))
            .collect()
    }

    /// Draws grid lines from `top` to `bottom` and the times below.
    pub fn draw(&self, picture: &mut Picture, top: f64, bottom: f64) {
        let right = self.left + self.width;
        for (x, label) in self.ticks(70.0) {
            picture.add(Form::Path(vec![(x, top), (x, bottom)], Ink::Grid, 1.0));
            let words = Words {
                x,
                y: bottom + 16.0,
                size: 11.0,
                bold: false,
                anchor: Anchor::Middle,
                ink: Ink::Muted,
                text: label,
            };
            let area = words.area();
            if area.x >= 0.0 && area.x + area.w <= right + 20.0 {
                picture.add(Form::Text(words));
            }
        }
        picture.add(Form::Path(
            vec![(self.left, bottom), (right, bottom)],
            Ink::Muted,
            1.0,
        ));
    }
}

/// Values from bottom to top.
#[derive(Debug, Clone, Copy)]
pub struct ValueAxis {
    /// Value at the bottom.
    pub low: f64,
    /// Value at the top, above `low`.
    pub high: f64,
    /// Top edge in pixels.
    pub top: f64,
    /// Height in pixels.
    pub height: f64,
}

impl ValueAxis {
    /// An axis that shows all of these values with some air; 0 to 1 if there are none.
    pub fn over(values: impl IntoIterator<Item = f64>, top: f64, height: f64) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let range = finite.fold(None, |range: Option<(f64, f64)>, value| {
            Some(range.map_or((value, value), |(low, high)| {
                (low.min(value), high.max(value))
            }))
        });
        let (low, high) = range.unwrap_or((0.0, 1.0));
        let air = ((high - low) * 0.08).max(if high > low { 0.0 } else { 0.5 });
        ValueAxis {
            low: low - air,
            high: high + air,
            top,
            height,
        }
    }

    /// The y of a value; values outside the axis stand at its edge.
    pub fn y(&self, value: f64) -> f64 {
        let all = (self.high - self.low).max(f64::MIN_POSITIVE);
        let part = ((value - self.low) / all).clamp(0.0, 1.0);
        self.top + self.height * (1.0 - part)
    }

    /// Draws the labels left of `left` and the grid from `left` to `right`. `whole` allows whole
    /// numbers only.
    pub fn draw(&self, picture: &mut Picture, (left, right): (f64, f64), unit: &str, whole: bool) {
        let mut step = round_step((self.high - self.low) * 28.0 / self.height.max(1.0));
        if whole {
            step = step.max(1.0);
        }
        let decimals = decimals(step);
        let first = (self.low / step).ceil();
        for n in 0..60 {
            let value = (first + f64::from(n)) * step;
            if value > self.high {
                break;
            }
            let y = self.y(value);
            picture.add(Form::Path(vec![(left, y), (right, y)], Ink::Grid, 1.0));
            // `+ 0.0` turns a negative zero into zero.
            picture.add(Form::Text(Words {
                x: left - 6.0,
                y: y + 4.0,
                size: 11.0,
                bold: false,
                anchor: Anchor::End,
                ink: Ink::Muted,
                text: format!("{:.decimals$}{unit}", value + 0.0),
            }));
        }
    }
}

/// 1, 2 or 5 times a power of ten, not below `least`.
fn round_step(least: f64) -> f64 {
    let least = if least.is_finite() && least > 0.0 {
        least
    } else {
        1.0
    };
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least * 0.999_999)
        .unwrap_or(10.0 * power)
}

fn decimals(step: f64) -> usize {
    (-step.log10().floor()).clamp(0.0, 6.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_fall_on_round_numbers() {
        let axis = TimeAxis {
            from: 930_000_000,
            to: 6_100_000_000,
            left: 100.0,
            width: 1000.0,
        };
        let labels: Vec<String> = axis.ticks(70.0).into_iter().map(|tick| tick.1).collect();
        assert_eq!(labels.first().map(String::as_str), Some("1.0 s"));
        assert_eq!(labels.get(1).map(String::as_str), Some("1.5 s"));
        assert_eq!(labels.last().map(String::as_str), Some("6.0 s"));
    }

    #[test]
    fn odd_ranges_divide_by_nothing() {
        let axis = TimeAxis {
            from: 5,
            to: 5,
            left: 0.0,
            width: 0.0,
        };
        assert!(axis.x(5).is_finite());
        assert!(axis.ticks(70.0).len() <= 200);
        assert!(LogAxis::over([].into_iter(), 0.0, 1.0).is_none());
        for values in [vec![0], vec![u64::MAX], vec![5, 5], vec![0, u64::MAX]] {
            let axis = LogAxis::over(values.into_iter(), 0.0, 100.0).unwrap();
            assert!(axis.x(0) >= 0.0 && axis.x(u64::MAX) <= 100.0);
        }
        for values in [vec![], vec![f64::NAN], vec![3.0], vec![f64::INFINITY, 1.0]] {
            let axis = ValueAxis::over(values, 0.0, 100.0);
            assert!(axis.high > axis.low && axis.y(3.0).is_finite());
        }
    }
}

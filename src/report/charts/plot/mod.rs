//! Axes that the charts share: lab time along the bottom, values up the side. Ticks fall on round
//! numbers; an empty or single-valued range is widened, never divided by.

use super::ink::Ink;
use super::picture::{Anchor, Form, Picture, Words};

mod log;
mod panel;
mod rank;
mod stretch;
mod time;

pub use log::LogAxis;
pub use panel::Panel;
pub use rank::RankAxis;
pub use stretch::Instant;
pub use time::TimeAxis;

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
    fn odd_ranges_divide_by_nothing() {
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

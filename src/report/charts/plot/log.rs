//! A logarithmic axis for durations.

use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Form, Picture, Words};

/// Durations from left to right, each power of ten as wide as the next.
#[derive(Debug, Clone, Copy)]
pub struct LogAxis {
    /// Logarithm to base ten of the value at the left edge.
    low: i32,
    /// The same at the right edge, above `low`.
    high: i32,
    left: f64,
    width: f64,
}

impl LogAxis {
    /// An axis from a power of ten to a power of ten around these values, ns; none if there are
    /// none.
    pub fn over(values: impl Iterator<Item = u64>, left: f64, width: f64) -> Option<Self> {
        let range = values.fold(None, |range: Option<(u64, u64)>, value| {
            Some(range.map_or((value, value), |(low, high)| {
                (low.min(value), high.max(value))
            }))
        });
        let (low, high) = range?;
        let power = |value: u64| (value.max(1_000) as f64).log10();
        let low = power(low).floor() as i32;
        let high = (power(high).ceil() as i32).max(low + 1);
        Some(LogAxis {
            low,
            high,
            left,
            width,
        })
    }

    /// The x of a duration; one outside the axis stands at its edge.
    pub fn x(&self, ns: u64) -> f64 {
        let log = (ns.max(1) as f64).log10();
        let part = (log - f64::from(self.low)) / f64::from(self.high - self.low);
        self.left + part.clamp(0.0, 1.0) * self.width
    }

    /// Draws grid lines from `top` to `bottom` and the powers of ten below.
    pub fn draw(&self, picture: &mut Picture, top: f64, bottom: f64) {
        for power in self.low..=self.high {
            let ns = 10_u64.saturating_pow(u32::try_from(power).unwrap_or(0));
            let x = self.x(ns);
            picture.add(Form::Path(vec![(x, top), (x, bottom)], Ink::Grid, 1.0));
            picture.add(Form::Text(Words {
                x,
                y: bottom + 16.0,
                size: 11.0,
                bold: false,
                anchor: Anchor::Middle,
                ink: Ink::Muted,
                text: unit(ns),
            }));
        }
    }
}

/// A power of ten as a person writes it: `100 µs`, `1 ms`, `10 s`.
fn unit(ns: u64) -> String {
    match ns {
        0..1_000_000 => format!("{} µs", ns / 1_000),
        1_000_000..1_000_000_000 => format!("{} ms", ns / 1_000_000),
        _ => format!("{} s", ns / 1_000_000_000),
    }
}

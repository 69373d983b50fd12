//! An axis up the side with a row for each distinct number, in their order: numbers that lie far
//! apart stand as far from each other as neighbours do.

use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form, Picture, Words, text_width};

/// Height of a row as long as there are few, in pixels.
const ROW: f64 = 26.0;

/// The axis is never higher than this; its rows then are lower.
const HEIGHT_MAX: f64 = 210.0;

/// Labels nearer to each other than this are thinned out.
const LABEL_GAP: f64 = 15.0;

const SIZE: f64 = 11.0;

/// The rows.
#[derive(Debug, Clone)]
pub struct RankAxis {
    /// Each number once, the lowest first.
    numbers: Vec<u64>,
    area: Area,
}

impl RankAxis {
    /// A row for each of these numbers.
    pub fn over(numbers: impl Iterator<Item = u64>) -> Self {
        let mut numbers: Vec<u64> = numbers.collect();
        numbers.sort_unstable();
        numbers.dedup();
        let area = Area {
            x: 0.0,
            y: 0.0,
            w: 0.0,
            h: (numbers.len().max(2) as f64 * ROW).min(HEIGHT_MAX),
        };
        RankAxis { numbers, area }
    }

    /// How high it would like to be.
    pub fn height(&self) -> f64 {
        self.area.h
    }

    /// How wide its labels are.
    pub fn width(&self) -> f64 {
        let widths = self.numbers.iter();
        widths
            .map(|number| text_width(&number.to_string(), SIZE, false))
            .fold(0.0, f64::max)
    }

    /// The same axis at its place.
    #[must_use]
    pub fn at(self, area: Area) -> Self {
        RankAxis { area, ..self }
    }

    /// The y of a number: the middle of its row, or of the row below which it would lie.
    pub fn y(&self, number: u64) -> f64 {
        let rank = match self.numbers.binary_search(&number) {
            Ok(rank) | Err(rank) => rank,
        };
        self.area.y + self.area.h - (rank as f64 + 0.5) * self.row()
    }

    fn row(&self) -> f64 {
        self.area.h / self.numbers.len().max(1) as f64
    }

    /// Draws a line for each row and its number on the left; of very many rows only some, the
    /// highest and the lowest among them.
    pub fn draw(&self, picture: &mut Picture) {
        let Some(highest) = self.numbers.len().checked_sub(1) else {
            return;
        };
        let step = (LABEL_GAP / self.row()).ceil().max(1.0) as usize;
        for (rank, number) in self.numbers.iter().enumerate() {
            let below_top = (highest - rank) as f64 * self.row();
            let shown = rank == highest || (rank % step == 0 && below_top >= LABEL_GAP);
            if !shown {
                continue;
            }
            let y = self.y(*number);
            let right = self.area.x + self.area.w;
            let line = vec![(self.area.x, y), (right, y)];
            picture.add(Form::Path(line, Ink::Grid, 1.0));
            picture.add(Form::Text(Words {
                x: self.area.x - 7.0,
                y: y + 4.0,
                size: SIZE,
                bold: false,
                anchor: Anchor::End,
                ink: Ink::Muted,
                text: number.to_string(),
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area() -> Area {
        Area {
            x: 150.0,
            y: 8.0,
            w: 300.0,
            h: 100.0,
        }
    }

    #[test]
    fn numbers_far_apart_and_neighbours_stand_on_rows_of_their_own() {
        let axis = RankAxis::over([1, 10_000_000_001, 2, 1, u64::MAX].into_iter()).at(area());
        let rows: Vec<f64> = [u64::MAX, 10_000_000_001, 2, 1].map(|n| axis.y(n)).to_vec();
        assert_eq!(rows, [20.5, 45.5, 70.5, 95.5]);
    }

    #[test]
    fn of_very_many_rows_the_labels_do_not_touch() {
        for n in [0, 1, 2, 9, 400] {
            let axis = RankAxis::over(0..n).at(area());
            let mut picture = Picture::new(470.0, 120.0, "");
            axis.draw(&mut picture);
            let texts = picture.shapes.iter().filter_map(|shape| match &shape.form {
                Form::Text(words) => Some(words),
                _ => None,
            });
            let mut rows: Vec<f64> = texts.map(|words| words.y).collect();
            rows.sort_by(f64::total_cmp);
            assert_eq!(rows.is_empty(), n == 0);
            assert!(
                rows.windows(2).all(|two| two[1] - two[0] >= 14.9),
                "{rows:?}"
            );
        }
    }
}

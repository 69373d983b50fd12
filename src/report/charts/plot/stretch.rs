//! Where instants stand on a line: in proportion to time, but never nearer to each other than the
//! marks on them are wide. What they need more than they have is taken from all of the line alike.

use std::collections::HashMap;

/// An instant that carries a mark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instant {
    /// When, lab time, ns.
    pub at: u64,
    /// Marks on one row must stand apart; any number will do for its name.
    pub row: usize,
    /// How many pixels it must stand behind the instant before it on its row.
    pub room: f64,
}

/// Marks on different rows stand this far apart if they are not of the same instant: their order
/// is to be seen. Of few instants each gets more, so that what comes at once does not crowd.
const LEAST: (f64, f64) = (2.5, 10.0);

/// This part of the line is shared out among the instants.
const SHARED: f64 = 0.3;

/// At most this part of the line is given away for room; of a crowd all get less.
const GIVEN_MAX: f64 = 0.6;

/// Of more instants than this the marks are merged anyway, and the line stays even.
const INSTANTS_MAX: usize = 600;

/// Pixels of the given instants and of both ends, ascending; and the pixels of a nanosecond where
/// nothing is stretched.
pub(super) fn knots(
    (from, to): (u64, u64),
    width: f64,
    mut instants: Vec<Instant>,
) -> (Vec<(u64, f64)>, f64) {
    let even = width / to.saturating_sub(from).max(1) as f64;
    instants.retain(|instant| from <= instant.at && instant.at <= to);
    instants.sort_by_key(|instant| (instant.at, instant.row));
    if instants.is_empty() || instants.len() > INSTANTS_MAX || to <= from {
        return (vec![(from, 0.0), (to, width)], even);
    }
    let share = SHARED * width / instants.len() as f64;
    let apart = share.clamp(LEAST.0, LEAST.1);
    let run = |scale: f64, part: f64| place((from, to), scale, (part, apart), &instants);
    let least = length(&run(0.0, 1.0));
    let part = (GIVEN_MAX * width / least.max(1.0)).min(1.0);
    let (mut low, mut high) = (0.0, even);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if length(&run(middle, part)) > width {
            high = middle;
        } else {
            low = middle;
        }
    }
    (run(low, part), low)
}

fn length(knots: &[(u64, f64)]) -> f64 {
    knots.last().map_or(0.0, |(_, x)| *x)
}

/// Where the instants stand at so many pixels a nanosecond, with this part of the room that they ask
/// for and of what stands between any two.
fn place(
    (from, to): (u64, u64),
    scale: f64,
    (part, apart): (f64, f64),
    instants: &[Instant],
) -> Vec<(u64, f64)> {
    let mut rows: HashMap<usize, (u64, f64)> = HashMap::new();
    let mut knots = vec![(from, 0.0)];
    let (mut before, mut x) = (from, 0.0_f64);
    for instant in instants {
        let passed = instant.at - before;
        if passed > 0 {
            x += (passed as f64 * scale).max(apart * part);
        }
        match rows.get(&instant.row) {
            Some((at, x_before)) if *at < instant.at => x = x.max(x_before + instant.room * part),
            _ => {}
        }
        rows.insert(instant.row, (instant.at, x));
        before = instant.at;
        match knots.last_mut() {
            Some(last) if last.0 == instant.at => last.1 = x,
            _ => knots.push((instant.at, x)),
        }
    }
    if to > before {
        knots.push((to, x + (to - before) as f64 * scale));
    }
    knots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(at: u64, row: usize) -> Instant {
        Instant {
            at,
            row,
            room: 12.0,
        }
    }

    fn x(knots: &[(u64, f64)], at: u64) -> f64 {
        knots.iter().find(|knot| knot.0 == at).unwrap().1
    }

    #[test]
    fn marks_on_one_row_stand_apart_and_the_rest_stays_even() {
        let instants = vec![at(100, 0), at(101, 0), at(102, 1), at(600, 0), at(900, 0)];
        let (knots, scale) = knots((0, 1000), 1000.0, instants);
        assert!(x(&knots, 101) - x(&knots, 100) >= 11.9);
        assert!(x(&knots, 102) > x(&knots, 101));
        let even = (x(&knots, 900) - x(&knots, 600)) / 300.0;
        assert!((even - scale).abs() < 1e-6);
        assert!((x(&knots, 1000) - 1000.0).abs() < 0.1);
        assert!(knots.windows(2).all(|two| two[0].1 <= two[1].1));
    }

    #[test]
    fn a_crowd_gets_what_there_is_and_never_leaves_the_line() {
        for n in [1, 40, 500, 5_000] {
            let crowd = (0..n).map(|i| at(500 + i, 0)).collect();
            let (knots, _) = knots((0, 100_000), 300.0, crowd);
            assert!(length(&knots) <= 300.1);
            assert!(knots.windows(2).all(|two| two[0].1 <= two[1].1));
        }
    }
}

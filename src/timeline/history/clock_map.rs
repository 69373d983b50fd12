//! From a server's wall clock to lab time.
//!
//! Each sample bounds the offset between the two clocks: the server was read between two readings
//! of the lab's clock. Samples that allow one common offset form a piece; a sample that does not
//! (the clock was stepped, or drifted) begins a new one, and between two pieces either offset may
//! have been the true one.
//!
//! Limit: inside a piece the offset is taken as constant. That is exact for servers on the lab's
//! own host, where a slewed clock is slewed for both; a remote server that drifts by less than a
//! sample's width within a piece is mapped by up to that width too sharply.

use super::time::Bounds;

/// Smallest part of a millisecond clock, ns.
pub const QUANTUM_NS: u64 = 1_000_000;

/// A jump of the offset larger than this is a step of the server's clock, ns.
const STEP_NS: i128 = 5_000_000;

/// One reading of a server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time before the question, ns.
    pub before: u64,
    /// Lab time after the answer, ns.
    pub after: u64,
    /// The server's wall clock, microseconds.
    pub server_us: u64,
}

/// Bounds of server time minus lab time, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    low: i128,
    high: i128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    from: u64,
    to: u64,
    offset: Offset,
    /// The time between two pieces proper: either neighbour's offset may hold.
    between: bool,
}

/// How a server's clock maps to lab time, all through the record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClockMap {
    /// Every sample, by lab time.
    pub samples: Vec<Sample>,
    pieces: Vec<Piece>,
}

impl Offset {
    fn of(sample: &Sample) -> Offset {
        let server_ns = i128::from(sample.server_us) * 1000;
        Offset {
            low: server_ns - i128::from(sample.before.max(sample.after)),
            high: server_ns + 999 - i128::from(sample.before.min(sample.after)),
        }
    }

    fn meet(self, other: Offset) -> Option<Offset> {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        (low <= high).then_some(Offset { low, high })
    }

    fn hull(self, other: Offset) -> Offset {
        Offset {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// Lab time of a server instant that the server tells in whole milliseconds.
    pub fn lab(self, server_ms: u64) -> Bounds {
        let server_ns = i128::from(server_ms) * 1_000_000;
        Bounds {
            earliest: clamp(server_ns - self.high),
            latest: clamp(server_ns + i128::from(QUANTUM_NS) - self.low),
        }
    }
}

impl ClockMap {
    /// The map that these samples allow.
    pub fn new(mut samples: Vec<Sample>) -> ClockMap {
        samples.sort_by_key(|sample| (sample.before, sample.after, sample.seq));
        let mut proper: Vec<Piece> = Vec::new();
        for sample in &samples {
            let offset = Offset::of(sample);
            if let Some(last) = proper.last_mut()
                && let Some(common) = last.offset.meet(offset)
            {
                last.offset = common;
                last.to = last.to.max(sample.after);
                continue;
            }
            proper.push(Piece {
                from: sample.before,
                to: sample.after,
                offset,
                between: false,
            });
        }
        ClockMap {
            samples,
            pieces: with_gaps(&proper),
        }
    }

    /// Half-width of the mapping plus the millisecond that the server rounds to, ns: the widest
    /// of all pieces proper.
    pub fn epsilon_ns(&self) -> u64 {
        let widest = self
            .pieces
            .iter()
            .filter(|piece| !piece.between)
            .map(|piece| piece.offset.high - piece.offset.low)
            .max()
            .unwrap_or(0);
        clamp(widest / 2).saturating_add(QUANTUM_NS)
    }

    /// The offset that held when the server's clock showed `server_ms`, an instant that the lab
    /// knew of by `seen`. None if no sample agrees with that.
    pub fn offset_at(&self, server_ms: u64, seen: u64) -> Option<Offset> {
        let after = self.pieces.partition_point(|piece| piece.from <= seen);
        let candidates = &self.pieces[after.saturating_sub(3)..after];
        candidates
            .iter()
            .filter(|piece| {
                let lab = piece.offset.lab(server_ms);
                lab.earliest <= piece.to.min(seen) && lab.latest >= piece.from
            })
            .map(|piece| piece.offset)
            .reduce(Offset::hull)
    }

    /// The offset that may have held at a lab time. None without samples.
    pub fn offset_when(&self, lab_ns: u64) -> Option<Offset> {
        let after = self.pieces.partition_point(|piece| piece.from <= lab_ns);
        self.pieces
            .get(after.checked_sub(1)?)
            .map(|piece| piece.offset)
    }

    /// Steps of the server's clock: the lab time between which each happened, and by how much, ns.
    pub fn steps(&self) -> impl Iterator<Item = (Bounds, i128)> {
        self.pieces.windows(3).filter_map(|three| {
            let [before, gap, after] = three else {
                return None;
            };
            let up = after.offset.low - before.offset.high;
            let down = after.offset.high - before.offset.low;
            let by = if up > STEP_NS {
                up
            } else if down < -STEP_NS {
                down
            } else {
                return None;
            };
            gap.between
                .then_some((Bounds::between(gap.from, gap.to), by))
        })
    }
}

/// Puts a piece of doubt between each two, and lets the first and last reach to the ends of time.
fn with_gaps(proper: &[Piece]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::with_capacity(proper.len() * 2);
    for piece in proper {
        if let Some(last) = pieces.last().copied() {
            pieces.push(Piece {
                from: last.to,
                to: piece.from.max(last.to),
                offset: last.offset.hull(piece.offset),
                between: true,
            });
        }
        pieces.push(*piece);
    }
    if let Some(first) = pieces.first_mut() {
        first.from = 0;
    }
    if let Some(last) = pieces.last_mut() {
        last.to = u64::MAX;
    }
    pieces
}

fn clamp(ns: i128) -> u64 {
    u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::history::time::ms;

    /// The server's clock is `offset_ms` ahead; a question takes 200 µs.
    fn sample(at_ms: u64, offset_ms: u64) -> Sample {
        Sample {
            seq: at_ms,
            before: ms(at_ms),
            after: ms(at_ms) + 200_000,
            server_us: (at_ms + offset_ms) * 1000 + 100,
        }
    }

    #[test]
    fn a_steady_clock_maps_within_epsilon() {
        let map = ClockMap::new((0..10).map(|i| sample(i * 100, 50_000)).collect());
        let bounds = map.offset_at(50_500, ms(501)).unwrap().lab(50_500);
        assert!(bounds.earliest <= ms(500) && ms(500) <= bounds.latest);
        assert!(bounds.latest - bounds.earliest <= 2 * map.epsilon_ns());
        assert_eq!(map.steps().count(), 0);
    }

    #[test]
    fn a_step_splits_the_series_and_is_told() {
        let mut samples: Vec<Sample> = (0..5).map(|i| sample(i * 100, 50_000)).collect();
        samples.extend((5..10).map(|i| sample(i * 100, 53_000)));
        let map = ClockMap::new(samples);
        let steps: Vec<_> = map.steps().collect();
        assert_eq!(steps.len(), 1);
        assert!(steps[0].0.earliest >= ms(400) && steps[0].0.latest <= ms(500));
        assert!((2_999_000_000..=3_001_000_000).contains(&steps[0].1));
        let old = map.offset_at(50_200, ms(201)).unwrap().lab(50_200);
        let new = map.offset_at(53_800, ms(801)).unwrap().lab(53_800);
        assert!(old.earliest <= ms(200) && ms(200) <= old.latest);
        assert!(new.earliest <= ms(800) && ms(800) <= new.latest);
        assert!(map.epsilon_ns() < ms(2), "doubt between pieces is no ε");
    }

    #[test]
    fn an_instant_in_a_gap_is_known_only_roughly() {
        let map = ClockMap::new(vec![sample(0, 10_000), sample(1000, 13_000)]);
        // Until 10 500 of the old clock, or of the new one? Both were possible at lab 0.5 s.
        let bounds = map.offset_at(10_500, ms(600)).unwrap().lab(10_500);
        assert!(bounds.latest - bounds.earliest >= ms(500));
    }

    #[test]
    fn without_samples_nothing_is_mapped() {
        assert_eq!(ClockMap::default().offset_at(1, 1), None);
        assert_eq!(ClockMap::default().epsilon_ns(), QUANTUM_NS);
    }
}

//! Is the record whole? Gaps, duplicates and reordering of a count that must rise by one.

use super::Defect;
use std::collections::BTreeMap;

/// Follows a count from its first value on. Near-linear, also on a record that is all wrong.
#[derive(Debug, Clone)]
pub(super) struct Sequence {
    what: &'static str,
    next: u64,
    /// Missing so far: first → last, both included.
    missing: BTreeMap<u64, u64>,
    late: Tally,
    twice: Tally,
}

/// How many, and the first few.
#[derive(Debug, Clone, Default)]
struct Tally {
    count: u64,
    first: Vec<u64>,
}

impl Tally {
    fn add(&mut self, n: u64) {
        self.count += 1;
        if self.first.len() < 5 {
            self.first.push(n);
        }
    }
}

impl Sequence {
    /// A count that begins at `first`, named `what` in messages.
    pub(super) fn new(what: &'static str, first: u64) -> Self {
        Sequence {
            what,
            next: first,
            missing: BTreeMap::new(),
            late: Tally::default(),
            twice: Tally::default(),
        }
    }

    /// Takes the next value; false if it was there before.
    pub(super) fn take(&mut self, n: u64) -> bool {
        if n == self.next {
            self.next = n.saturating_add(1);
            return true;
        }
        if n > self.next {
            self.missing.insert(self.next, n - 1);
            self.next = n.saturating_add(1);
            return true;
        }
        let hole = self.missing.range(..=n).next_back().map(|(a, b)| (*a, *b));
        match hole {
            Some((first, last)) if n <= last => {
                self.missing.remove(&first);
                if first < n {
                    self.missing.insert(first, n - 1);
                }
                if n < last {
                    self.missing.insert(n + 1, last);
                }
                self.late.add(n);
                true
            }
            _ => {
                self.twice.add(n);
                false
            }
        }
    }

    /// Is `n` missing?
    pub(super) fn lacks(&self) -> impl Iterator<Item = (u64, u64)> {
        self.missing.iter().map(|(first, last)| (*first, *last))
    }

    /// What is wrong, one sentence a kind.
    pub(super) fn defects(&self) -> Vec<Defect> {
        let what = self.what;
        let mut defects = Vec::new();
        if let Some((first, last)) = self.missing.iter().next() {
            let count: u64 = self
                .missing
                .iter()
                .map(|(a, b)| (b - a).saturating_add(1))
                .fold(0, u64::saturating_add);
            let lines = if first == last {
                format!("{first}")
            } else {
                format!("{first} to {last}")
            };
            defects.push(Defect {
                events: Vec::new(),
                what: format!("{count} {what} missing, the first: {lines}"),
            });
        }
        for (tally, how) in [
            (&self.late, "out of order"),
            (&self.twice, "more than once"),
        ] {
            if tally.count > 0 {
                defects.push(Defect {
                    events: Vec::new(),
                    what: format!(
                        "{} {what} {how}, the first: {}",
                        tally.count,
                        tally
                            .first
                            .iter()
                            .map(u64::to_string)
                            .collect::<Vec<_>>()
                            .join(", ")
                    ),
                });
            }
        }
        defects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(numbers: &[u64]) -> Vec<String> {
        let mut sequence = Sequence::new("lines", 0);
        for n in numbers {
            sequence.take(*n);
        }
        sequence
            .defects()
            .into_iter()
            .map(|defect| defect.what)
            .collect()
    }

    #[test]
    fn a_whole_record_has_no_defect() {
        assert!(told(&[0, 1, 2, 3]).is_empty());
    }

    #[test]
    fn what_is_missing_late_or_doubled_is_told_apart() {
        assert_eq!(told(&[0, 1, 4]), ["2 lines missing, the first: 2 to 3"]);
        assert_eq!(told(&[0, 2, 1, 3]), ["1 lines out of order, the first: 1"]);
        assert_eq!(
            told(&[0, 1, 1, 2]),
            ["1 lines more than once, the first: 1"]
        );
        assert_eq!(told(&[u64::MAX]).len(), 1);
    }
}

//! Which operation a worker's number means.

use foldhash::HashMap;

/// A return comes soon after its invoke: so many back it is looked for first.
const RECENT: usize = 4;

/// The newest operation of each number of one worker.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// (number, operation), as long as numbers rise.
    rising: Vec<(u64, usize)>,
    /// Those that came after a higher number: a worker that was started again counts anew, and on
    /// a damaged record anything may come.
    others: HashMap<u64, usize>,
}

impl Numbers {
    pub(super) fn get(&self, number: u64) -> Option<usize> {
        let other = self.others.get(&number).copied();
        let mut recent = self.rising.iter().rev().take(RECENT);
        other
            .or_else(|| Some(recent.find(|(known, _)| *known == number)?.1))
            .or_else(|| {
                let place = self
                    .rising
                    .binary_search_by_key(&number, |(known, _)| *known);
                Some(self.rising[place.ok()?].1)
            })
    }

    /// Notes the newest operation of this number; the one before, if there was one.
    pub(super) fn insert(&mut self, number: u64, operation: usize) -> Option<usize> {
        if self.rising.last().is_none_or(|(last, _)| *last < number) {
            self.rising.push((number, operation));
            return None;
        }
        let before = self.get(number);
        self.others.insert(number, operation);
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_a_number_is_meant_in_whatever_order_they_came() {
        for order in [
            vec![1, 2, 3, 4, 5, 6, 7, 8, 9],
            vec![5, 6, 7, 1, 2, 8, 6, 6, 3, 9, 1],
            vec![9, 8, 7, 6, 9, 7],
            vec![u64::MAX, 0, u64::MAX],
        ] {
            let mut numbers = Numbers::default();
            let mut known = HashMap::default();
            for (operation, number) in order.iter().enumerate() {
                let before = known.insert(*number, operation);
                assert_eq!(numbers.insert(*number, operation), before, "{order:?}");
                for number in order.iter().chain(&[0, 4, 10]) {
                    assert_eq!(
                        numbers.get(*number),
                        known.get(number).copied(),
                        "{order:?}"
                    );
                }
            }
        }
    }
}

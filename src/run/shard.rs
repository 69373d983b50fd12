//! One part of a suite: which of its executions this machine takes.
//!
//! Executions are counted through all repetitions in the order of the command line; number k
//! belongs to shard k mod n. So the parts are disjoint, together they are the whole, and each
//! machine knows its own without asking the others.

use std::str::FromStr;

/// Shard `index` of `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// 1 to `of`.
    index: usize,
    /// How many there are, ≥ 1.
    of: usize,
}

impl Shard {
    /// Whether it takes execution number `k`, counted from 0.
    pub fn takes(self, k: usize) -> bool {
        k % self.of == self.index - 1
    }

    /// How many of so many executions it takes.
    pub fn share(self, executions: usize) -> usize {
        (0..executions).filter(|k| self.takes(*k)).count()
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if index >= 1 && index <= of && of <= 1024 => Ok(Shard { index, of }),
            Some(_) | None => {
                Err("a shard is two numbers as 2/5: the second of five, of at most 1024".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shards_are_disjoint_and_together_the_whole() {
        for of in 1..=7 {
            for k in 0..50 {
                let takers = (1..=of).filter(|index| Shard { index: *index, of }.takes(k));
                assert_eq!(takers.count(), 1, "{k} of {of}");
            }
        }
        assert_eq!("2/3".parse::<Shard>().unwrap().share(8), 3);
        assert_eq!("3/3".parse::<Shard>().unwrap().share(2), 0);
    }

    #[test]
    fn only_a_part_of_a_whole_is_a_shard() {
        for wrong in [
            "0/2", "3/2", "1", "1/0", "a/b", "1/2/3", "-1/2", "1/1025", "",
        ] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}

//! How long each grant held the lock, and what is known of its end: given back, its lease ran out,
//! its key taken, or still held when the record ends. The last has no length yet and is told apart.

use super::measures::spread;
use super::scene::Scene;
use super::scene::tenure::{Ended, Tenure};
use super::words::{count, span};

/// Fewer grants than this are told one by one.
const FEW: usize = 5;

/// How the time that a grant held the lock ended, as far as the record goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its own release.
    Released,
    /// Its lease ran out.
    RanOut,
    /// Something else took its key.
    Taken,
    /// It did not end: the record did.
    Open,
}

/// One grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    /// From the grant to the end of its key, or of the record, ns.
    pub lasted: u64,
    /// What is known of its end.
    pub end: End,
    /// Its worker never heard of it.
    pub unheard: bool,
}

/// Every grant, as the table of holders tells it.
pub fn holds(scene: &Scene) -> Vec<Hold> {
    scene.tenures.iter().map(hold).collect()
}

fn hold(tenure: &Tenure) -> Hold {
    Hold {
        lasted: tenure.until.saturating_sub(tenure.from),
        end: match (tenure.key_taken, tenure.ended) {
            (Some(_), _) => End::Taken,
            (None, Ended::Released) => End::Released,
            (None, Ended::Expired) => End::RanOut,
            (None, Ended::Open) => End::Open,
        },
        unheard: tenure.unheard,
    }
}

/// How long those that ended on the record held it, ns.
pub fn ended(holds: &[Hold]) -> Vec<u64> {
    let ended = holds.iter().filter(|hold| hold.end != End::Open);
    ended.map(|hold| hold.lasted).collect()
}

/// How long those that had not ended yet had held it when the record ended, ns.
pub fn open(holds: &[Hold]) -> Vec<u64> {
    let open = holds.iter().filter(|hold| hold.end == End::Open);
    open.map(|hold| hold.lasted).collect()
}

/// All of them in words: each of a few with its end, else the spread and how many ended how.
pub fn told(holds: &[Hold]) -> String {
    if holds.len() < FEW {
        return match holds {
            [] => "none".to_owned(),
            few => few.iter().map(each).collect::<Vec<_>>().join(", "),
        };
    }
    let n = |end: End| holds.iter().filter(|hold| hold.end == end).count();
    let ends = [
        (n(End::Released), "given back"),
        (n(End::RanOut), "ended with its lease"),
        (n(End::Taken), "ended because its key was taken"),
    ];
    let ends = ends.iter().filter(|(n, _)| *n > 0);
    let ends: Vec<String> = ends.map(|(n, how)| format!("{n} {how}")).collect();
    let mut told = format!("{} ({})", spread(&ended(holds), "grant"), ends.join(", "));
    if let Some(longest) = open(holds).into_iter().max() {
        told.push_str(&format!(
            "; {} still held when the record ends, for {} so far",
            n(End::Open),
            span(longest)
        ));
    }
    let unheard = holds.iter().filter(|hold| hold.unheard).count();
    if unheard > 0 {
        told.push_str(&format!(
            "; of {} the worker never heard",
            count(unheard, "grant")
        ));
    }
    told
}

fn each(hold: &Hold) -> String {
    let ended = match hold.end {
        End::Released => "given back",
        End::RanOut => "until its lease ran out",
        End::Taken => "until its key was taken",
        End::Open => "so far: still held when the record ends",
    };
    let unheard = match hold.unheard {
        true => "; its worker never heard of it",
        false => "",
    };
    format!("{} ({ended}{unheard})", span(hold.lasted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(lasted: u64, end: End) -> Hold {
        Hold {
            lasted: lasted * 1_000_000,
            end,
            unheard: false,
        }
    }

    #[test]
    fn what_has_not_ended_has_no_length_yet() {
        let few = [hold(1_500, End::RanOut), hold(150, End::Open)];
        assert_eq!(
            told(&few),
            "1.50 s (until its lease ran out), 0.15 s (so far: still held when the record ends)"
        );
        let mut many = vec![hold(200, End::Released); 5];
        many.push(hold(9_000, End::Open));
        assert_eq!(
            told(&many),
            "median 0.20 s, longest 0.20 s, of 5 grants (5 given back); 1 still held when the record ends, for 9.00 s so far"
        );
        assert_eq!(told(&[]), "none");
    }
}

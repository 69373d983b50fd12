//! How the report says things: times, durations, the closed sets of answers. One place, so that
//! console, page, pictures and JUnit use the same words.

use crate::checks::Outcome;
use crate::checks::say::secs;
use crate::store::Fence;
use crate::verdict::{Protection, Verdict};

/// Words that no output may contain, whatever the verdict: each claims more than a run can show.
pub const FORBIDDEN: [&str; 4] = [
    "proves safe",
    "guarantees",
    "reproducible by seed",
    "any lock is safe",
];

/// A verdict as one word.
pub const fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Limit => "limit",
        Verdict::Fail => "fail",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// What became of the protected work, in the contract's words.
pub const fn protection_word(protection: Protection) -> &'static str {
    match protection {
        Protection::Kept => "kept",
        Protection::KeptByFencing => "kept by fencing",
        Protection::Lost => "lost",
        Protection::NotTested => "not tested",
    }
}

/// An outcome as one word.
pub const fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::Violated => "violated",
        Outcome::Unknown => "unknown",
    }
}

/// A fence mode as an experiment file names it.
pub const fn fence_word(fence: Fence) -> &'static str {
    match fence {
        Fence::Atomic => "atomic",
        Fence::Racy => "racy",
        Fence::Off => "off",
    }
}

/// Lab time to the hundredth of a second, or below a tenth to the thousandth, as the findings tell
/// it: `4.81 s`, `0.068 s`.
pub fn at(ns: u64) -> String {
    match ns {
        // An instant this near to the beginning is not told as a duration would be.
        1..500_000 => format!("{} s", at_ms(ns)),
        _ => secs(ns),
    }
}

/// Lab time to the millisecond without a unit, for tables: `4.812`.
pub fn at_ms(ns: u64) -> String {
    seconds(ns, 3)
}

/// A duration in the unit that reads best: `1.31 s`, `0.78 s`, `42 ms`, `310 µs`. From a tenth of
/// a second on it reads as in the findings, so that one figure never stands in two forms.
pub fn span(ns: u64) -> String {
    if ns >= 100_000_000 {
        secs(ns)
    } else if ns >= 99_500_000 {
        "0.10 s".to_owned()
    } else if ns >= 995_000 {
        format!("{} ms", (ns + 500_000) / 1_000_000)
    } else {
        format!("{} µs", (ns + 500) / 1000)
    }
}

/// A duration beside another: to the thousandth where the two differ by so little that their
/// difference is told in milliseconds.
pub fn span_beside(ns: u64, other: u64) -> String {
    if ns != other && ns.abs_diff(other) < 99_500_000 && ns >= 99_500_000 {
        format!("{} s", seconds(ns, 3))
    } else {
        span(ns)
    }
}

/// Milliseconds from a plan, in the unit that reads best: `1.5 s`, `250 ms`.
pub fn millis(ms: u64) -> String {
    if ms >= 1000 {
        let text = seconds(ms.saturating_mul(1_000_000), 3);
        format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
    } else {
        format!("{ms} ms")
    }
}

/// A stretch of lab time: `from 2.58 s to 2.89 s`, `from 2.891 s to 2.893 s`, or where both ends
/// would read the same even so `at 2.891 s for 310 µs`.
pub fn stretch(from: u64, until: u64) -> String {
    Clock::telling(&[from, until]).stretch(from, until)
}

/// How finely the instants of one sentence are told: to the thousandth where two of them would
/// read the same otherwise, or where a duration beside them would not be what lies between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    fine: bool,
}

impl Clock {
    /// A clock that tells these instants apart if a thousandth of a second does.
    pub fn telling(instants: &[u64]) -> Clock {
        let mut sorted = instants.to_vec();
        sorted.sort_unstable();
        let alike = sorted
            .windows(2)
            .any(|two| at(two[0]) == at(two[1]) && at_ms(two[0]) != at_ms(two[1]));
        Clock { fine: alike }
    }

    /// The same, for a sentence that tells how long each of these lasted, too: from, to.
    #[must_use]
    pub fn adding_up(self, lasted: &[(u64, u64)]) -> Clock {
        let adds_up = |(from, to): &(u64, u64)| {
            let between = thousandths(&at(*to)).checked_sub(thousandths(&at(*from)));
            between == Some(thousandths(&span(to.saturating_sub(*from))))
        };
        Clock {
            fine: self.fine || !lasted.iter().all(adds_up),
        }
    }

    /// An instant.
    pub fn at(self, ns: u64) -> String {
        if self.fine {
            format!("{} s", at_ms(ns))
        } else {
            at(ns)
        }
    }

    /// How long something lasted: what lies between its two ends as this clock tells them.
    pub fn lasted(self, from: u64, to: u64) -> String {
        let between = thousandths(&self.at(to)).saturating_sub(thousandths(&self.at(from)));
        if !self.fine || between == 0 {
            span(to.saturating_sub(from))
        } else if between < 100 {
            format!("{between} ms")
        } else {
            format!("{}.{:03} s", between / 1000, between % 1000)
        }
    }

    /// A stretch of lab time.
    pub fn stretch(self, from: u64, until: u64) -> String {
        let (begin, end) = (self.at(from), self.at(until));
        if begin == end {
            format!("at {begin} for {}", span(until.saturating_sub(from)))
        } else {
            format!("from {begin} to {end}")
        }
    }
}

/// A stretch of lab time with its length: `from 2.58 s to 2.89 s (0.31 s)`.
pub fn stretch_of(from: u64, until: u64) -> String {
    let clock = Clock::telling(&[from, until]).adding_up(&[(from, until)]);
    let (begin, end) = (clock.at(from), clock.at(until));
    format!("from {begin} to {end} ({})", clock.lasted(from, until))
}

/// What a time or a duration says when it is read, in thousandths of a second.
fn thousandths(told: &str) -> u64 {
    let (number, unit) = told.split_once(' ').unwrap_or((told, "s"));
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let read = |digits: &str| digits.parse::<u64>().unwrap_or(0);
    match unit {
        "s" => read(whole)
            .saturating_mul(1000)
            .saturating_add(read(&format!("{part:0<3}"))),
        "ms" => read(whole),
        _shorter => 0,
    }
}

/// A part in whole per cent, rounded: `2 %`, or `less than 1 %` where that would be none.
pub fn share(part: u64, whole: u64) -> String {
    match rounded(part.saturating_mul(100), whole) {
        0 if part > 0 => "less than 1 %".to_owned(),
        per_cent => format!("{per_cent} %"),
    }
}

/// The nearest whole number to a quotient, half up.
pub fn rounded(part: u64, whole: u64) -> u64 {
    let whole = whole.max(1);
    part.saturating_add(whole / 2) / whole
}

/// `1 write`, `2 writes`.
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 {
        format!("1 {noun}")
    } else {
        format!("{n} {noun}s")
    }
}

/// Seconds with this many decimals, rounded as the findings round them: a tie that went up here and
/// down there would be one instant under two names.
fn seconds(ns: u64, decimals: usize) -> String {
    format!("{:.decimals$}", ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_a_person_writes_them() {
        assert_eq!(at(4_812_345_678), "4.81 s");
        assert_eq!(at(4_995_000_000), "5.00 s");
        assert_eq!(at(68_400_000), "0.068 s");
        assert_eq!(at_ms(4_812_345_678), "4.812");
        assert_eq!(span(1_310_000_000), "1.31 s");
        assert_eq!(span(996_000_000), "1.00 s");
        assert_eq!(span(784_400_000), "0.78 s");
        assert_eq!(span(99_500_000), "0.10 s");
        assert_eq!(span(42_400_000), "42 ms");
        assert_eq!(span(310_000), "310 µs");
        assert_eq!(span_beside(1_503_000_000, 1_500_000_000), "1.503 s");
        assert_eq!(span_beside(1_600_000_000, 1_500_000_000), "1.60 s");
        assert_eq!(millis(1500), "1.5 s");
        assert_eq!(millis(10_000), "10 s");
        assert_eq!(millis(250), "250 ms");
        assert_eq!(at(u64::MAX), "18446744073.71 s");
        assert_eq!(stretch(101_200_000, 103_400_000), "from 0.101 s to 0.103 s");
        assert_eq!(stretch(101_200_000, 101_300_000), "at 0.10 s for 100 µs");
        assert_eq!(
            stretch(2_580_000_000, 2_890_000_000),
            "from 2.58 s to 2.89 s"
        );
    }

    /// Leases end on whole milliseconds: every tenth of them is a tie.
    #[test]
    fn a_page_rounds_as_the_findings_do() {
        for ms in (100..20_000).step_by(5) {
            let ns = ms * 1_000_000;
            assert_eq!(at(ns), secs(ns));
            assert_eq!(span(ns), secs(ns));
        }
        assert_eq!(at(1_305_000_000), "1.30 s");
    }

    #[test]
    fn a_share_is_rounded_and_never_told_as_none() {
        assert_eq!(share(2_340, 1_500), "156 %");
        assert_eq!(share(53, 2_000), "3 %");
        assert_eq!(share(4, 1_000), "less than 1 %");
        assert_eq!(share(0, 1_000), "0 %");
        assert_eq!(rounded(50, 3), 17);
        assert_eq!(rounded(u64::MAX, 0), u64::MAX);
    }

    #[test]
    fn what_lasted_is_what_lies_between_its_ends() {
        assert_eq!(
            stretch_of(492_000_000, 3_195_400_000),
            "from 0.492 s to 3.195 s (2.703 s)"
        );
        assert_eq!(
            stretch_of(1_600_400_000, 1_686_000_000),
            "from 1.600 s to 1.686 s (86 ms)"
        );
        assert_eq!(
            stretch_of(1_180_000_000, 3_280_000_000),
            "from 1.18 s to 3.28 s (2.10 s)"
        );
        assert_eq!(
            stretch_of(2_000_100_000, 2_000_300_000),
            "from 2.00 s to 2.00 s (200 µs)"
        );
        let clock = Clock::telling(&[]);
        for (from, to) in [(0, 0), (0, 1), (7, 3), (0, u64::MAX)] {
            assert!(!clock.adding_up(&[(from, to)]).lasted(from, to).is_empty());
        }
    }
}

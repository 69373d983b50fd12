//! Instants that are known only within bounds, and spans between instants; lab time in
//! nanoseconds. Arithmetic saturates: no number on a record can make a reader panic.

/// Later than anything on a record: "no answer came", "until the end".
pub const NEVER: u64 = u64::MAX;

/// One instant, somewhere in `earliest ..= latest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Not before this, ns.
    pub earliest: u64,
    /// Not after this, ns.
    pub latest: u64,
}

impl Bounds {
    /// An instant that is known exactly.
    pub const fn exactly(at: u64) -> Self {
        Bounds {
            earliest: at,
            latest: at,
        }
    }

    /// An instant between two others; bounds given in the wrong order are swapped.
    pub const fn between(a: u64, b: u64) -> Self {
        if a <= b {
            Bounds {
                earliest: a,
                latest: b,
            }
        } else {
            Bounds {
                earliest: b,
                latest: a,
            }
        }
    }

    /// What both say of one instant; none if they contradict each other.
    pub fn meet(self, other: Bounds) -> Option<Bounds> {
        let earliest = self.earliest.max(other.earliest);
        let latest = self.latest.min(other.latest);
        (earliest <= latest).then_some(Bounds { earliest, latest })
    }

    /// The smallest bounds that contain both.
    #[must_use]
    pub fn hull(self, other: Bounds) -> Bounds {
        Bounds {
            earliest: self.earliest.min(other.earliest),
            latest: self.latest.max(other.latest),
        }
    }

    /// The later of two instants.
    #[must_use]
    pub fn max(self, other: Bounds) -> Bounds {
        Bounds {
            earliest: self.earliest.max(other.earliest),
            latest: self.latest.max(other.latest),
        }
    }

    /// The earlier of two instants.
    #[must_use]
    pub fn min(self, other: Bounds) -> Bounds {
        Bounds {
            earliest: self.earliest.min(other.earliest),
            latest: self.latest.min(other.latest),
        }
    }

    /// The middle, for sentences and pictures; never for a judgement.
    pub const fn middle(self) -> u64 {
        self.earliest + (self.latest - self.earliest) / 2
    }
}

/// From one instant up to, not including, another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First instant, ns.
    pub from: u64,
    /// First instant after it, ns; [`NEVER`] if it lasts to the end of the record.
    pub to: u64,
}

impl Span {
    /// A span; none if it is empty.
    pub fn new(from: u64, to: u64) -> Option<Span> {
        (from < to).then_some(Span { from, to })
    }

    /// Its length, ns.
    pub const fn len(self) -> u64 {
        self.to.saturating_sub(self.from)
    }

    /// It has no length.
    pub const fn is_empty(self) -> bool {
        self.to <= self.from
    }

    /// How long both last together, ns.
    pub fn overlap(self, other: Span) -> u64 {
        self.to
            .min(other.to)
            .saturating_sub(self.from.max(other.from))
    }

    /// `at` lies in it.
    pub const fn contains(self, at: u64) -> bool {
        self.from <= at && at < self.to
    }
}

/// Sorts spans and joins those that touch.
pub fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|span| !span.is_empty());
    spans.sort_by_key(|span| (span.from, span.to));
    let mut out: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match out.last_mut() {
            Some(last) if span.from <= last.to => last.to = last.to.max(span.to),
            _ => out.push(span),
        }
    }
    out
}

/// Milliseconds to nanoseconds.
pub const fn ms(milliseconds: u64) -> u64 {
    milliseconds.saturating_mul(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_touch_are_joined() {
        let spans = [(5, 9), (0, 2), (2, 4), (8, 12), (20, 20)];
        let spans = spans.map(|(from, to)| Span { from, to }).to_vec();
        assert_eq!(
            joined(spans),
            [Span { from: 0, to: 4 }, Span { from: 5, to: 12 }]
        );
    }

    #[test]
    fn bounds_that_contradict_have_no_meet() {
        let early = Bounds::between(1, 3);
        assert_eq!(early.meet(Bounds::between(3, 9)), Some(Bounds::exactly(3)));
        assert_eq!(early.meet(Bounds::between(4, 9)), None);
    }
}

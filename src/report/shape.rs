//! What a signal looks like: parts of a whole, durations against a lease, or when servers ran. Data
//! alone; `charts::signal` draws it.

/// How good a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it should be.
    Good,
    /// Ordinary, neither good nor bad.
    Plain,
    /// Refused, failed, or not known.
    Doubt,
    /// Damage.
    Bad,
}

/// One part of a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub name: String,
    /// How many.
    pub count: usize,
    /// How good that is.
    pub tone: Tone,
}

/// One row of a signal's picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Parts of a whole.
    Parts(Vec<Part>),
    /// Durations, ns.
    Times {
        /// What took so long.
        name: &'static str,
        /// Each of them.
        values: Vec<u64>,
        /// The lease to hold them against.
        lease: Option<u64>,
    },
    /// When a server ran.
    Lives {
        /// Its name.
        server: String,
        /// From when to when, lab time, ns.
        spans: Vec<(u64, u64)>,
        /// The time that is shown, lab time, ns.
        window: (u64, u64),
    },
}

impl Shape {
    /// Parts by name and tone; none if there is nothing in any of them.
    pub fn parts(parts: impl IntoIterator<Item = (String, usize, Tone)>) -> Option<Shape> {
        let parts = parts.into_iter().filter(|(_, count, _)| *count > 0);
        let parts: Vec<Part> = parts
            .map(|(name, count, tone)| Part { name, count, tone })
            .collect();
        (!parts.is_empty()).then_some(Shape::Parts(parts))
    }

    /// Durations; none if there are none.
    pub fn times(name: &'static str, values: Vec<u64>, lease: Option<u64>) -> Option<Shape> {
        (!values.is_empty()).then_some(Shape::Times {
            name,
            values,
            lease,
        })
    }
}

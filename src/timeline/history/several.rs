//! A list that nearly always has one entry, and then costs no memory of its own.

/// Operations of one name, by invoke: nearly always one.
#[derive(Debug, Clone)]
pub(super) enum Several {
    One(usize),
    More(Vec<usize>),
}

impl Several {
    pub(super) fn add(&mut self, operation: usize) {
        match self {
            Several::One(first) => *self = Several::More(vec![*first, operation]),
            Several::More(all) => all.push(operation),
        }
    }

    pub(super) fn all(&self) -> &[usize] {
        match self {
            Several::One(one) => std::slice::from_ref(one),
            Several::More(all) => all,
        }
    }
}

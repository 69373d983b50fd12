//! What each back end promises, in words: for reports, `lockdrill list promises` and the README.

use crate::lock::backends;
use crate::lock::service::{Capabilities, Promise};
use std::fmt;

/// What may be promised, in the order in which it is told.
pub const ASKED: [&str; 4] = [
    "fencing tokens rise",
    "one holder at a time",
    "waiters are let in in turn",
    "a release wakes a waiter",
];

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Promise::Guaranteed => f.write_str("guaranteed"),
            Promise::BestEffort(how_far) => write!(f, "best effort: {how_far}"),
            Promise::Absent => f.write_str("no"),
        }
    }
}

impl Capabilities {
    /// The answer to each of [`ASKED`].
    pub fn answers(&self) -> [String; 4] {
        let wakes = if self.wakes { "yes" } else { "no" };
        [
            self.fencing.to_string(),
            self.exclusion.to_string(),
            self.fair.to_string(),
            wakes.to_owned(),
        ]
    }

    /// All of it in one line.
    pub fn told(&self) -> String {
        let each = ASKED.iter().zip(self.answers());
        let each: Vec<String> = each
            .map(|(asked, answer)| format!("{asked}: {answer}"))
            .collect();
        each.join(" · ")
    }
}

/// Every back end as a Markdown table.
pub fn table() -> String {
    let mut table = format!("| lock | {} |\n|---|---|---|---|---|\n", ASKED.join(" | "));
    for kind in backends::ALL {
        let answers = kind.capabilities.answers().join(" | ");
        table.push_str(&format!("| `{}` | {answers} |\n", kind.name));
    }
    table
}

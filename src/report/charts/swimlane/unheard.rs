//! A lease of which its worker never heard looks like any other: a word at its bar says so where the
//! bar is too narrow to carry it.

use super::labels::Rank;
use super::{BAR, Canvas};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, text_width};
use crate::report::scene::tenure::Tenure;

/// The word.
pub(super) const NEVER_TOLD: &str = "never told";

impl Canvas<'_> {
    /// The word below or beside a bar that does not carry it.
    pub(super) fn never_told(&mut self, tenure: &Tenure, (x, top, w): (f64, f64, f64)) {
        let on = tenure
            .fencing
            .map(|token| format!("fencing token {token}, {NEVER_TOLD}"));
        let carried = on.is_some_and(|text| text_width(&text, 11.0, true) + 4.0 <= w);
        // A lease that goes on says so at the same place, and this with it.
        if !tenure.unheard || carried || tenure.runs_on(self.scene.ends) {
            return;
        }
        let (below, beside) = (top + BAR + 13.0, top + 14.0);
        let places = [
            (x + w / 2.0, below, Anchor::Middle),
            (x + w, below, Anchor::End),
            (x, below, Anchor::Start),
            (x - 6.0, beside, Anchor::End),
            (x + w + 6.0, beside, Anchor::Start),
            (x + w, top - 14.0, Anchor::End),
        ];
        self.label(Rank::Fate, NEVER_TOLD, Ink::Text, &places);
    }
}

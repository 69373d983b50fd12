//! Collects the problems of one experiment, in whatever order they are found.
//!
//! Capped: a megabyte of nonsense must not cost minutes or fill a log.

use super::place::{At, Sources};
use super::refused::{Excerpt, Refused, Told};
use crate::problem::Problem;
use std::ops::Range;

/// Problems told for one file; the rest is counted.
const TOLD_MAX: usize = 50;

/// Collects the problems of one file.
#[derive(Debug, Clone, Default)]
pub(super) struct Problems {
    found: Vec<(At, Told)>,
    more: usize,
}

impl Problems {
    /// A problem at a place.
    pub fn add(&mut self, sources: &Sources, at: &At, message: impl Into<String>) {
        self.push(sources, at, message.into(), None);
    }

    /// A problem at a place, with what to do about it.
    pub fn hinted(&mut self, sources: &Sources, at: &At, message: String, hint: Option<String>) {
        self.push(sources, at, message, hint);
    }

    fn push(&mut self, sources: &Sources, at: &At, message: String, hint: Option<String>) {
        if self.is_full() {
            self.more += 1;
            return;
        }
        let source = sources.of(at);
        let span = on_boundaries(&source.text, &at.span);
        let mut problem = Problem::at(&source.name, &source.text, span.clone(), message);
        problem.hint = hint;
        let known = self.found.iter().any(|(_, told)| told.problem == problem);
        if !known {
            let excerpt = Excerpt::of(&source.text, &span, problem.line);
            self.found.push((at.clone(), Told { problem, excerpt }));
        }
    }

    /// No further problem will be told: looking for a hint is wasted.
    pub fn is_full(&self) -> bool {
        self.found.len() >= TOLD_MAX
    }

    /// Nothing was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// How many were found.
    pub fn count(&self) -> usize {
        self.found.len() + self.more
    }

    /// The first message from this number on, for the reason why a control does not apply.
    pub fn message_from(&self, index: usize) -> Option<String> {
        let (_, told) = self.found.get(index)?;
        Some(told.problem.message.clone())
    }

    /// Forgets what was found after the first `count`.
    pub fn truncate(&mut self, count: usize) {
        self.found.truncate(count);
        self.more = count - self.found.len();
    }

    /// What was found, in the order of places.
    pub fn into_refused(mut self) -> Refused {
        self.found
            .sort_by_key(|(at, _)| (at.source, at.span.start, at.span.end));
        Refused::of_file(
            self.found.into_iter().map(|(_, told)| told).collect(),
            self.more > 0,
        )
    }
}

/// The range moved inwards to the text and onto character boundaries.
fn on_boundaries(text: &str, span: &Range<usize>) -> Range<usize> {
    let down = |offset: usize| {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    let start = down(span.start);
    start..down(span.end).max(start)
}

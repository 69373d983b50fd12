//! Words that promise what no drill can show. They may stand only where they are forbidden: here,
//! and in the list that the report's own tests look for.
//!
//! Looked for in all of the source, comments included, and in the documents: a promise in a
//! comment becomes a promise in a report sooner or later. A promise broken over two lines is
//! not seen.

/// The words, and what to say instead.
const FORBIDDEN: &[(&str, &str)] = &[
    (
        "proves safe",
        "say in which runs no named check was violated",
    ),
    (
        "proven safe",
        "say in which runs no named check was violated",
    ),
    (
        "guarantees",
        "say what was measured, or who promises it and where",
    ),
    (
        "guaranteed to",
        "say what was measured, or who promises it and where",
    ),
    (
        "reproducible by seed",
        "the timeline, not the seed, is the authority",
    ),
    (
        "any lock is safe",
        "say which lock, which schedule, how many runs",
    ),
];

/// The documents that the rules read.
pub const DOCUMENTS: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "SECURITY.md",
];

/// The list that the report's own tests look for in every page.
const LIST_OF_THE_REPORT: &str = "src/report/words.rs";

/// Complaints about forbidden words in one text.
pub fn forbidden(path: &str, text: &str) -> Vec<String> {
    if path == LIST_OF_THE_REPORT {
        return Vec::new();
    }
    let lower = text.to_lowercase();
    let mut complaints = Vec::new();
    for (word, instead) in FORBIDDEN {
        for (at, _) in lower.match_indices(word) {
            let line = lower[..at].matches('\n').count() + 1;
            complaints.push(format!("{path}:{line}: `{word}`: {instead}"));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_seen() {
        let text = "fine\nThis Guarantees that it works, and proves safe.";
        let complaints = forbidden("README.md", text);
        assert_eq!(complaints.len(), 2);
        assert!(complaints[0].starts_with("README.md:2: `proves safe`"));
    }

    #[test]
    fn sober_words_are_fine() {
        let text = "In these 50 runs no named check was violated.";
        assert_eq!(forbidden("README.md", text), [""; 0]);
    }
}

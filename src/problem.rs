//! One thing that is wrong with an input, said so that it can be mended: where, what, and the
//! likely fix.

use std::fmt;
use std::ops::Range;

/// A problem in an experiment file. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file as the user named it.
    pub file: String,
    /// Line of the offending text, from 1.
    pub line: usize,
    /// Column of the offending text in characters, from 1.
    pub column: usize,
    /// A lower-case fragment that quotes the offending text.
    pub message: String,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem at a byte range of `source`.
    pub fn at(file: &str, source: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        let (line, column) = place(source, span.start);
        Problem {
            file: file.to_owned(),
            line,
            column,
            message: message.into(),
            hint: None,
        }
    }

    /// A problem with the whole file.
    pub fn whole(file: &str, message: impl Into<String>) -> Self {
        Problem {
            file: file.to_owned(),
            line: 1,
            column: 1,
            message: message.into(),
            hint: None,
        }
    }

    /// The same with a suggestion.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: {}",
            self.file, self.line, self.column, self.message
        )?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// Line and column, both from 1, of a byte offset.
fn place(source: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(source.len());
    while !source.is_char_boundary(end) {
        end -= 1;
    }
    let before = &source[..end];
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .map_or(0, |tail| tail.chars().count())
        + 1;
    (line, column)
}

/// The candidate nearest to what was typed, if it is near enough to be what was meant.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (typed.chars().count() / 3).max(2);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(typed, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_like_a_compiler_message() {
        let problem = Problem::at("x.toml", "a = 1\nünit = 2\n", 6..11, "unknown key `ünit`")
            .hint("did you mean `unit`?");
        assert_eq!(
            problem.to_string(),
            "x.toml:2:1: unknown key `ünit`; did you mean `unit`?"
        );
    }

    #[test]
    fn nearest_names_only_what_was_likely_meant() {
        let faults = ["pause", "kill", "partition"];
        assert_eq!(nearest("puase", faults), Some("pause"));
        assert_eq!(nearest("earthquake", faults), None);
    }

    #[test]
    fn a_place_past_the_end_is_the_end() {
        assert_eq!(place("ab", 99), (1, 3));
    }
}

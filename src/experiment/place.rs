//! Where a piece of input stands: a byte range of the file or of an option that changes it.

use std::ops::Range;

/// Where a piece of text stands: which source, and the byte range in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct At {
    /// Index into [`Sources`].
    pub source: usize,
    /// Byte range.
    pub span: Range<usize>,
}

/// The texts that an experiment is read from: the file first, then the options that change it.
#[derive(Debug, Clone, Default)]
pub(super) struct Sources(Vec<Source>);

/// One text with the name under which problems in it are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    pub name: String,
    pub text: String,
}

impl Sources {
    /// The file alone.
    pub fn new(name: &str, text: &str) -> Self {
        let mut sources = Sources(Vec::new());
        sources.add(name, text);
        sources
    }

    /// Adds a text and gives its index.
    pub fn add(&mut self, name: &str, text: &str) -> usize {
        self.0.push(Source {
            name: name.to_owned(),
            text: text.to_owned(),
        });
        self.0.len() - 1
    }

    /// The text that a place is in. Every place was made for one of these texts.
    pub fn of(&self, at: &At) -> &Source {
        &self.0[at.source.min(self.0.len() - 1)]
    }

    /// The place of `part`, a slice of the string value that stands at `at`; all of `at` if the
    /// value was written with escapes and its bytes are not those of the source.
    pub fn inside(&self, at: &At, value: &str, part: Range<usize>) -> At {
        let literal = self.of(at).text.get(at.span.clone()).unwrap_or("");
        match literal.find(value) {
            Some(start) if start <= 3 && !value.is_empty() => {
                let from = at.span.start + start;
                At {
                    source: at.source,
                    span: from + part.start..from + part.end,
                }
            }
            _ => at.clone(),
        }
    }
}

//! Sentences that carry links to the events they rest on. Made once, shown as text on a terminal
//! or picture and as links on a page.

/// Words that begin with a capital.
pub fn capital(words: &str) -> String {
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// What ends a sentence: nothing if its words end it themselves.
pub fn stop(words: &str) -> &'static str {
    if words.trim_end().ends_with(['?', '!', '.']) {
        ""
    } else {
        "."
    }
}

/// A piece of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Plain words.
    Text(String),
    /// Words that rest on the line with this `seq`.
    Event(String, u64),
    /// A command or a name from a file, to be shown as typed.
    Code(String),
    /// Words that lead to another page of the same folder of runs, by its relative address.
    Page(String, String),
}

/// A sentence without its full stop, about one arm.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sentence {
    /// Its pieces, in order.
    pub parts: Vec<Part>,
}

impl Sentence {
    /// A sentence of plain words.
    pub fn of(words: impl Into<String>) -> Self {
        Sentence::default().text(words)
    }

    /// Goes on in plain words.
    #[must_use]
    pub fn text(mut self, words: impl Into<String>) -> Self {
        self.parts.push(Part::Text(words.into()));
        self
    }

    /// Goes on in words that rest on a line.
    #[must_use]
    pub fn event(mut self, words: impl Into<String>, seq: u64) -> Self {
        self.parts.push(Part::Event(words.into(), seq));
        self
    }

    /// Goes on in words that lead to another page.
    #[must_use]
    pub fn page(mut self, words: impl Into<String>, address: impl Into<String>) -> Self {
        self.parts.push(Part::Page(words.into(), address.into()));
        self
    }

    /// Goes on with something that is shown as typed.
    #[must_use]
    pub fn code(mut self, typed: impl Into<String>) -> Self {
        self.parts.push(Part::Code(typed.into()));
        self
    }

    /// Goes on with another sentence's pieces.
    #[must_use]
    pub fn then(mut self, other: Sentence) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// The same sentence, beginning with a capital unless it begins with a name.
    #[must_use]
    pub fn capital(mut self) -> Self {
        match self.parts.first_mut() {
            Some(Part::Text(words)) => *words = capital(words),
            // A name begins with no article.
            Some(Part::Event(words, _)) if words.starts_with("the ") => *words = capital(words),
            _other => {}
        }
        self
    }

    /// The words alone.
    pub fn plain(&self) -> String {
        let words = self.parts.iter().map(|part| match part {
            Part::Text(words)
            | Part::Event(words, _)
            | Part::Code(words)
            | Part::Page(words, _) => words.as_str(),
        });
        words.collect()
    }
}

//! What the grammar is written in: keys, and what their values look like.

/// One key of a table.
#[derive(Debug)]
pub(super) struct Key {
    pub name: &'static str,
    pub shape: Shape,
    pub required: bool,
    /// One line for the schema.
    pub about: &'static str,
}

/// A key that must be there.
pub(super) const fn need(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key {
        name,
        shape,
        required: true,
        about,
    }
}

/// A key that may be absent.
pub(super) const fn may(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key {
        name,
        shape,
        required: false,
        about,
    }
}

/// What a key's value looks like.
#[derive(Debug)]
pub(super) enum Shape {
    Text,
    Flag,
    Duration,
    /// A whole number from 1 to this.
    Count(u64),
    /// The name of an event.
    Event,
    /// One name of a registry.
    OneOf(Names),
    /// A list of names of a registry.
    ListOf(Names),
    /// A list of script steps.
    Script,
    /// A list of sentences.
    Sentences,
    /// A table with these keys.
    Table(&'static [Key]),
    /// A table of tables, named by the author.
    Named(&'static [Key]),
    /// A table with one path and its new value.
    Setting,
}

/// Names that may be used, and what to call one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names {
    pub noun: &'static str,
    pub all: fn() -> Vec<&'static str>,
    /// Names that exist and may not be used here, and why.
    pub barred: &'static [(&'static str, &'static str)],
}

impl Names {
    /// The names that may be used here.
    pub fn allowed(self) -> Vec<&'static str> {
        let mut names = (self.all)();
        names.retain(|name| self.barred.iter().all(|(barred, _)| barred != name));
        names
    }
}

/// What a worker, fault or control may be called: its name becomes part of event names and the
/// name of a folder.
pub(super) const NAME_RULE: &str = "a letter, then letters, digits, - or _; at most 32";

/// Whether a worker, fault or control may be called so.
pub(super) fn is_name(key: &str) -> bool {
    let mut chars = key.chars();
    key.len() <= 32
        && chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

//! One table of an experiment file, read key by key against the grammar.
//!
//! Nothing here stops at the first problem: a value that cannot be used is told once and read as
//! absent, and the reader goes on, so that all problems of a file are told in one go.

use super::duration;
use super::grammar::{Key, Names, Shape};
use super::refused::{Problems, quote};
use super::tree::{At, Entry, Node, Sources, Table, Value};
use crate::problem::nearest;

/// Longest name that a nearest one is looked for; the search is quadratic.
const NAME_MAX: usize = 64;

/// What a worker, fault or control may be called: its name becomes part of event names and the
/// name of a folder.
const NAME_RULE: &str = "a letter, then letters, digits, - or _; at most 32";

fn is_name(key: &str) -> bool {
    let mut chars = key.chars();
    key.len() <= 32
        && chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// The texts being read and what was found wrong in them so far.
#[derive(Debug)]
pub(super) struct Reading {
    pub sources: Sources,
    pub problems: Problems,
}

impl Reading {
    /// A problem at a place.
    pub fn problem(&mut self, at: &At, message: impl Into<String>) {
        self.problems.add(&self.sources, at, message);
    }

    /// A problem at a place, with what to do about it.
    pub fn hinted(&mut self, at: &At, message: impl Into<String>, hint: impl Into<String>) {
        let hint = Some(hint.into());
        self.problems
            .hinted(&self.sources, at, message.into(), hint);
    }

    /// A name that is not among those that may be used: the nearest is offered, else all.
    pub fn unknown<'n>(
        &mut self,
        at: &At,
        message: String,
        typed: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) {
        // Looking for the nearest name is the only costly part of telling a problem.
        let told = !self.problems.is_full();
        let hint = told.then(|| did_you_mean(typed, names)).flatten();
        self.problems.hinted(&self.sources, at, message, hint);
    }
}

/// The nearest name, else the names if there are few.
fn did_you_mean<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let names: Vec<&str> = names.into_iter().collect();
    // Any two names of one or two letters are near each other: that says nothing.
    if (3..=NAME_MAX).contains(&typed.len()) {
        let short = names.iter().copied().filter(|name| name.len() <= NAME_MAX);
        if let Some(name) = nearest(typed, short) {
            return Some(format!("did you mean `{name}`?"));
        }
    }
    match names.as_slice() {
        [] => None,
        [only] => Some(format!("there is only `{only}`")),
        few if few.len() <= 16 => Some(format!("one of `{}`", few.join("`, `"))),
        _ => None,
    }
}

/// A value that was read, with its place.
#[derive(Debug, Clone)]
pub(super) struct Spot<T> {
    pub value: T,
    pub at: At,
}

/// A table and the keys that it may have.
#[derive(Debug)]
pub(super) struct Section<'t> {
    /// How messages name it: `[lock]`.
    pub label: String,
    pub at: At,
    table: &'t Table,
    keys: &'static [Key],
}

impl<'t> Section<'t> {
    /// Opens a table: unknown keys and missing ones are told at once.
    pub fn open(
        reading: &mut Reading,
        (table, at): (&'t Table, &At),
        label: String,
        keys: &'static [Key],
    ) -> Self {
        for entry in &table.0 {
            if !keys.iter().any(|key| key.name == entry.key) {
                let message = format!("unknown key {} in {label}", quote(&entry.key));
                let names = keys.iter().map(|key| key.name);
                reading.unknown(&entry.key_at, message, &entry.key, names);
            }
        }
        for key in keys.iter().filter(|key| key.required) {
            if table.get(key.name).is_none() {
                reading.hinted(at, format!("{label} has no `{}`", key.name), key.about);
            }
        }
        Section {
            label,
            at: at.clone(),
            table,
            keys,
        }
    }

    fn key(&self, name: &str) -> &'static Key {
        let found = self.keys.iter().find(|key| key.name == name);
        found.expect("the reader asks only for keys of the grammar")
    }

    fn wrong(&self, reading: &mut Reading, name: &str, node: &Node, wanted: &str) {
        let noun = node.value.noun();
        reading.problem(&node.at, format!("`{name}` must be {wanted}, not {noun}"));
    }

    /// Whether the key is there, usable or not.
    pub fn has(&self, name: &str) -> bool {
        self.table.get(name).is_some()
    }

    /// The place of a key's value, else of the table.
    pub fn place(&self, name: &str) -> At {
        let node = self.table.get(name);
        node.map_or_else(|| self.at.clone(), |node| node.at.clone())
    }

    /// A string that says something.
    pub fn text(&self, reading: &mut Reading, name: &str) -> Option<Spot<&'t str>> {
        let node = self.table.get(name)?;
        let Value::Text(text) = &node.value else {
            self.wrong(reading, name, node, "a string");
            return None;
        };
        if text.trim().is_empty() {
            reading.problem(&node.at, format!("`{name}` is empty"));
            return None;
        }
        Some(Spot {
            value: text,
            at: node.at.clone(),
        })
    }

    /// True or false.
    pub fn flag(&self, reading: &mut Reading, name: &str) -> Option<bool> {
        let node = self.table.get(name)?;
        let Value::Flag(flag) = node.value else {
            self.wrong(reading, name, node, "true or false");
            return None;
        };
        Some(flag)
    }

    /// A duration in milliseconds; zero included.
    pub fn duration(&self, reading: &mut Reading, name: &str) -> Option<Spot<u64>> {
        let node = self.table.get(name)?;
        let bad = match &node.value {
            Value::Text(text) => match duration::parse(text) {
                Ok(ms) => {
                    return Some(Spot {
                        value: ms,
                        at: node.at.clone(),
                    });
                }
                Err(bad) => bad,
            },
            Value::Number(number) => duration::Bad {
                message: format!("{} is a number", quote(number)),
                hint: format!(
                    "a duration is a string with a unit: {}?",
                    duration::meant(number)
                ),
            },
            Value::Flag(_) | Value::Date | Value::List(_) | Value::Table(_) => {
                self.wrong(reading, name, node, "a duration, as `\"2s\"`");
                return None;
            }
        };
        reading.hinted(&node.at, format!("`{name}`: {}", bad.message), bad.hint);
        None
    }

    /// One name of the registry that the grammar gives for this key.
    pub fn one_of(&self, reading: &mut Reading, name: &str) -> Option<Spot<&'static str>> {
        let Shape::OneOf(names) = self.key(name).shape else {
            return None;
        };
        let typed = self.text(reading, name)?;
        known(reading, &typed, names)
    }

    /// Names of the registry that the grammar gives for this key, each once.
    pub fn list_of(&self, reading: &mut Reading, name: &str) -> Vec<Spot<&'static str>> {
        let Shape::ListOf(names) = self.key(name).shape else {
            return Vec::new();
        };
        let mut found: Vec<Spot<&'static str>> = Vec::new();
        for typed in self.texts(reading, name) {
            let Some(spot) = known(reading, &typed, names) else {
                continue;
            };
            if found.iter().any(|known| known.value == spot.value) {
                reading.problem(&spot.at, format!("`{}` is said twice", spot.value));
            } else {
                found.push(spot);
            }
        }
        found
    }

    /// A list of strings.
    pub fn texts(&self, reading: &mut Reading, name: &str) -> Vec<Spot<&'t str>> {
        let Some(node) = self.table.get(name) else {
            return Vec::new();
        };
        let Value::List(items) = &node.value else {
            self.wrong(reading, name, node, "a list of strings");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            match &item.value {
                Value::Text(text) => texts.push(Spot {
                    value: text.as_str(),
                    at: item.at.clone(),
                }),
                other => {
                    let noun = other.noun();
                    reading.problem(&item.at, format!("`{name}` must list strings, not {noun}"));
                }
            }
        }
        texts
    }

    /// A table below this one, with the keys that the grammar gives it.
    pub fn table(&self, reading: &mut Reading, name: &str) -> Option<Section<'t>> {
        let Shape::Table(keys) = self.key(name).shape else {
            return None;
        };
        let node = self.table.get(name)?;
        let Value::Table(table) = &node.value else {
            self.wrong(reading, name, node, "a table");
            return None;
        };
        let label = self.label_of(name);
        Some(Section::open(reading, (table, &node.at), label, keys))
    }

    /// Tables that the author names: `[worker.a]`, in the order of the file.
    pub fn named(&self, reading: &mut Reading, name: &str) -> Vec<(Spot<&'t str>, Section<'t>)> {
        let Shape::Named(keys) = self.key(name).shape else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for entry in self.entries(reading, name) {
            if !is_name(&entry.key) {
                let message = format!("{} cannot be a name", quote(&entry.key));
                reading.hinted(&entry.key_at, message, NAME_RULE);
                continue;
            }
            let Value::Table(table) = &entry.node.value else {
                let noun = entry.node.value.noun();
                let message = format!("`{name}.{}` must be a table, not {noun}", entry.key);
                reading.problem(&entry.node.at, message);
                continue;
            };
            let label = format!("[{name}.{}]", entry.key);
            let section = Section::open(reading, (table, &entry.node.at), label, keys);
            let spot = Spot {
                value: entry.key.as_str(),
                at: entry.key_at.clone(),
            };
            found.push((spot, section));
        }
        found
    }

    /// The entries of a table whose keys the author chooses.
    pub fn entries(&self, reading: &mut Reading, name: &str) -> &'t [Entry] {
        let Some(node) = self.table.get(name) else {
            return &[];
        };
        let Value::Table(table) = &node.value else {
            self.wrong(reading, name, node, "a table");
            return &[];
        };
        &table.0
    }

    fn label_of(&self, name: &str) -> String {
        match self.label.strip_suffix(']') {
            Some(outer) => format!("`{name}` of {outer}]"),
            None => format!("[{name}]"),
        }
    }
}

/// A typed name that must be one of a registry.
pub(super) fn known(
    reading: &mut Reading,
    typed: &Spot<&str>,
    names: Names,
) -> Option<Spot<&'static str>> {
    let all = (names.all)();
    if let Some(name) = all.iter().copied().find(|name| *name == typed.value) {
        return Some(Spot {
            value: name,
            at: typed.at.clone(),
        });
    }
    let message = format!("unknown {} {}", names.noun, quote(typed.value));
    reading.unknown(&typed.at, message, typed.value, all);
    None
}

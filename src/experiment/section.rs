//! One table of an experiment file, read key by key against the grammar.
//!
//! Nothing here stops at the first problem: a value that cannot be used is told once and read as
//! absent, and the reader goes on, so that all problems of a file are told in one go.

use super::place::At;
use super::reading::{Reading, Spot, near};
use super::refused::quote;
use super::shape::{Key, NAME_RULE, Shape, is_name};
use super::tree::{Entry, Node, Table, Value};

mod values;

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
    /// Opens a table: unknown keys and missing ones are told at once; a missing one that stands
    /// there misspelt is told once.
    pub fn open(
        reading: &mut Reading,
        (table, at): (&'t Table, &At),
        label: String,
        keys: &'static [Key],
    ) -> Self {
        let mut misspelt = Vec::new();
        for entry in &table.0 {
            if !keys.iter().any(|key| key.name == entry.key) {
                let names = || keys.iter().map(|key| key.name);
                // Looking for a near name is the costly part of telling a problem.
                if !reading.problems.is_full() {
                    misspelt.extend(near(&entry.key, names()));
                }
                let message = format!("unknown key {} in {label}", quote(&entry.key));
                reading.unknown(&entry.key_at, message, &entry.key, names());
            }
        }
        for key in keys.iter().filter(|key| key.required) {
            if table.get(key.name).is_none() && !misspelt.contains(&key.name) {
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

    /// The place of a key in one of its tables; of one that is not there its own.
    pub fn place_in(&self, reading: &mut Reading, table: &str, key: &str) -> At {
        let section = self.table(reading, table);
        section.map_or_else(|| self.at.clone(), |section| section.place(key))
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

    /// One name of the registry that the grammar gives for this key.
    pub fn one_of(&self, reading: &mut Reading, name: &str) -> Option<Spot<&'static str>> {
        let Shape::OneOf(names) = self.key(name).shape else {
            return None;
        };
        let typed = self.text(reading, name)?;
        reading.known(&typed, names)
    }

    /// Names of the registry that the grammar gives for this key, each once.
    pub fn list_of(&self, reading: &mut Reading, name: &str) -> Vec<Spot<&'static str>> {
        let Shape::ListOf(names) = self.key(name).shape else {
            return Vec::new();
        };
        let mut found: Vec<Spot<&'static str>> = Vec::new();
        for typed in self.texts(reading, name) {
            let Some(spot) = reading.known(&typed, names) else {
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

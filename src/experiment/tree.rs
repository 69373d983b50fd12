//! A TOML document as an owned tree in which every key and value knows its place.
//!
//! Own tree rather than the parser's: it keeps the order of the file, and values from the command
//! line or from a control can be put into it and still know where they came from. Numbers keep
//! the text that was typed, because the only thing done with them is to say it back.

use super::place::{At, Sources};
use super::problems::Problems;
use super::refused::quote;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and its place.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub at: At,
    pub value: Value,
}

impl Node {
    /// The keys of a table; nothing for other values.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let entries = self.table().map_or(&[][..], |table| table.0.as_slice());
        entries.iter().map(|entry| entry.key.as_str())
    }

    /// The table, if it is one.
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            Value::Text(_) | Value::Number(_) | Value::Flag(_) | Value::Date | Value::List(_) => {
                None
            }
        }
    }

    /// The string, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Table(_) | Value::Number(_) | Value::Flag(_) | Value::Date | Value::List(_) => {
                None
            }
        }
    }
}

/// A value.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Text(String),
    /// As it was typed.
    Number(String),
    Flag(bool),
    Date,
    List(Vec<Node>),
    Table(Table),
}

impl Value {
    /// What to call it in a message.
    pub fn noun(&self) -> &'static str {
        match self {
            Value::Text(_) => "a string",
            Value::Number(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date => "a date or time",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Entries in the order of the file.
#[derive(Debug, Clone, Default)]
pub(super) struct Table(pub Vec<Entry>);

/// A key with its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub key: String,
    pub key_at: At,
    pub node: Node,
}

impl Table {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let entry = self.0.iter().find(|entry| entry.key == key)?;
        Some(&entry.node)
    }

    /// Puts a value where `path` says; tables on the way are made, other values on the way are
    /// replaced.
    pub fn put(&mut self, path: &[&str], node: Node) {
        let Some((key, rest)) = path.split_first() else {
            return;
        };
        let found = self.0.iter().position(|entry| entry.key == *key);
        let index = found.unwrap_or_else(|| {
            self.0.push(Entry {
                key: (*key).to_owned(),
                key_at: node.at.clone(),
                node: Node {
                    at: node.at.clone(),
                    value: Value::Table(Table::default()),
                },
            });
            self.0.len() - 1
        });
        let entry = &mut self.0[index];
        if rest.is_empty() {
            entry.key_at = node.at.clone();
            entry.node = node;
            return;
        }
        match &mut entry.node.value {
            Value::Table(table) => table.put(rest, node),
            _ => {
                let mut table = Table::default();
                let at = node.at.clone();
                table.put(rest, node);
                entry.node = Node {
                    at,
                    value: Value::Table(table),
                };
            }
        }
    }
}

/// Reads a document; each syntax error is one problem, and then there is no tree.
pub(super) fn parse(sources: &Sources, problems: &mut Problems) -> Option<Table> {
    let whole = At {
        source: 0,
        span: 0..0,
    };
    let text = &sources.of(&whole).text;
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        let at = At { source: 0, span };
        let mut message = error.message().replace('\n', ", ");
        if let ("duplicate key", Some(key)) = (message.as_str(), text.get(at.span.clone())) {
            message = format!("duplicate key {}", quote(key));
        }
        problems.add(sources, &at, format!("not valid TOML: {message}"));
    }
    if !errors.is_empty() {
        return None;
    }
    Some(table(document.get_ref(), 0, 0))
}

/// Reads one value as it is typed behind `--set path=`: a TOML value, else a bare string.
/// `offset` is where it starts in its source.
pub(super) fn parse_value(text: &str, source: usize, offset: usize) -> Node {
    match DeValue::parse(text) {
        Ok(value) => node(&value, source, offset),
        Err(_) => Node {
            at: At {
                source,
                span: offset..offset + text.len(),
            },
            value: Value::Text(text.to_owned()),
        },
    }
}

fn table(table: &DeTable<'_>, source: usize, offset: usize) -> Table {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_at: at(key.span(), source, offset),
            node: node(value, source, offset),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_at.span.start);
    Table(entries)
}

fn node(value: &Spanned<DeValue<'_>>, source: usize, offset: usize) -> Node {
    let inner = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| node(item, source, offset))
                .collect(),
        ),
        DeValue::Table(inner) => Value::Table(table(inner, source, offset)),
    };
    Node {
        at: at(value.span(), source, offset),
        value: inner,
    }
}

fn at(span: Range<usize>, source: usize, offset: usize) -> At {
    At {
        source,
        span: span.start + offset..span.end + offset,
    }
}

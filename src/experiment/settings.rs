//! One path of an experiment set to another value: by a control, or by `--set`, `--lock` and
//! `--store`. Both change the TOML before it is resolved, so that a changed value is checked like
//! one that was written.

use super::Overrides;
use super::cast::WORKERS_MAX;
use super::grammar;
use super::place::At;
use super::reading::Reading;
use super::refused::quote;
use super::shape::{Key, Shape};
use super::tree::{self, Entry, Node, Table, Value};

/// One change.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub path: String,
    /// Where the path was written.
    pub at: At,
    pub node: Node,
}

/// Every path that may be set in this file: what the drill does, never what it claims.
pub(super) fn paths(tree: &Table) -> Vec<String> {
    let mut found = Vec::new();
    for key in grammar::ROOT {
        if !grammar::SETTABLE.contains(&key.name) {
            continue;
        }
        let below = tree.get(key.name).and_then(as_table);
        match key.shape {
            // A whole section is many paths, never one.
            Shape::Table(keys) => walk(keys, below, key.name, &mut found),
            _ => one(key, below, "", &mut found),
        }
    }
    found
}

fn walk(keys: &[Key], table: Option<&Table>, prefix: &str, found: &mut Vec<String>) {
    for key in keys {
        let below = table
            .and_then(|table| table.get(key.name))
            .and_then(as_table);
        one(key, below, &format!("{prefix}."), found);
    }
}

fn one(key: &Key, below: Option<&Table>, prefix: &str, found: &mut Vec<String>) {
    let path = format!("{prefix}{}", key.name);
    match key.shape {
        Shape::Named(keys) => {
            // More are refused anyway; a path is looked up in all of them.
            for entry in below
                .map_or(&[][..], |table| &table.0)
                .iter()
                .take(WORKERS_MAX)
            {
                walk(
                    keys,
                    as_table(&entry.node),
                    &format!("{path}.{}", entry.key),
                    found,
                );
            }
        }
        Shape::Table(keys) => {
            walk(keys, below, &path, found);
            found.push(path);
        }
        Shape::Text
        | Shape::Flag
        | Shape::Duration
        | Shape::Count(_)
        | Shape::Event
        | Shape::OneOf(_)
        | Shape::ListOf(_)
        | Shape::Script
        | Shape::Sentences
        | Shape::Setting => found.push(path),
    }
}

fn as_table(node: &Node) -> Option<&Table> {
    match &node.value {
        Value::Table(table) => Some(table),
        Value::Text(_) | Value::Number(_) | Value::Flag(_) | Value::Date | Value::List(_) => None,
    }
}

/// The settings of a `set` table. `"store.fence" = "off"` and `store.fence = "off"` are the same.
pub(super) fn of_entries(entries: &[Entry], paths: &[String]) -> Vec<Setting> {
    let mut settings = Vec::new();
    for entry in entries {
        flatten(entry, &entry.key, paths, &mut settings);
    }
    settings
}

fn flatten(entry: &Entry, path: &str, paths: &[String], settings: &mut Vec<Setting>) {
    let whole = paths.iter().any(|known| known == path);
    if let (Value::Table(table), false) = (&entry.node.value, whole)
        && !table.0.is_empty()
    {
        for inner in &table.0 {
            flatten(inner, &format!("{path}.{}", inner.key), paths, settings);
        }
        return;
    }
    settings.push(Setting {
        path: path.to_owned(),
        at: entry.key_at.clone(),
        node: entry.node.clone(),
    });
}

/// The settings that the command line asks for; what cannot be read is told.
pub(super) fn of_command(reading: &mut Reading, overrides: &Overrides) -> Vec<Setting> {
    let mut settings = Vec::new();
    let named = [
        ("--lock", "lock.backend", &overrides.lock),
        ("--store", "store.kind", &overrides.store),
    ];
    for (option, path, value) in named {
        if let Some(value) = value {
            let source = reading.sources.add(option, value);
            let at = At {
                source,
                span: 0..value.len(),
            };
            let node = Node {
                at: at.clone(),
                value: Value::Text(value.clone()),
            };
            settings.push(Setting {
                path: path.to_owned(),
                at,
                node,
            });
        }
    }
    for typed in &overrides.set {
        let source = reading.sources.add("--set", typed);
        let Some((path, value)) = typed.split_once('=') else {
            let at = At {
                source,
                span: 0..typed.len(),
            };
            let message = format!("{} has no `=`", quote(typed));
            reading.hinted(&at, message, "write `path=value`, as `store.fence=off`");
            continue;
        };
        let node = tree::parse_value(value, source, path.len() + 1);
        let at = At {
            source,
            span: 0..path.len(),
        };
        settings.push(Setting {
            path: path.trim().to_owned(),
            at,
            node,
        });
    }
    settings
}

/// Puts a setting into the tree. False, and told, if there is no such path.
pub(super) fn apply(reading: &mut Reading, tree: &mut Table, setting: &Setting) -> bool {
    let paths = paths(tree);
    if !paths.contains(&setting.path) {
        let message = format!("unknown path {}", quote(&setting.path));
        let names = paths.iter().map(String::as_str);
        reading.unknown(&setting.at, message, &setting.path, names);
        return false;
    }
    let parts: Vec<&str> = setting.path.split('.').collect();
    tree.put(&parts, setting.node.clone());
    true
}

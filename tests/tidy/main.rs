//! The machine enforces the style of this project: layers, sizes, names, registries, words, links.
//!
//! Each rule is a pure function from text to complaints, tested on a literal violation beside it,
//! and applied to the whole tree in this file. An exception is listed by name with its reason; an
//! exception that no longer applies is a complaint too.
#![cfg(feature = "lab")]
#![allow(clippy::unwrap_used)]

mod layers;
mod links;
mod registries;
mod sizes;
mod source;
mod words;

use source::Source;
use std::path::Path;

/// Fails with every complaint at once, one a line.
#[track_caller]
fn expect_none(rule: &str, complaints: Vec<String>) {
    assert!(
        complaints.is_empty(),
        "{rule}:\n  {}\n",
        complaints.join("\n  ")
    );
}

fn each(rule: impl Fn(&Source) -> Vec<String>) -> Vec<String> {
    source::tree("src").iter().flat_map(rule).collect()
}

#[test]
fn a_lower_layer_never_names_a_higher_one() {
    expect_none("layers", each(layers::upward_names));
}

#[test]
fn every_module_has_a_layer() {
    let sources = source::tree("src");
    expect_none("layers", layers::unplaced(&sources));
}

#[test]
fn judging_and_drawing_are_synchronous() {
    expect_none("async only where there is I/O", each(layers::async_words));
}

#[test]
fn only_the_top_layers_use_anyhow() {
    expect_none("typed errors below run", each(layers::anyhow_words));
}

#[test]
fn every_file_opens_with_its_purpose() {
    let mut sources = source::tree("src");
    sources.extend(source::tree("tests"));
    let complaints = sources.iter().flat_map(sizes::header).collect();
    expect_none("every file opens with `//!`", complaints);
}

#[test]
fn files_are_short() {
    let mut complaints = each(|source| sizes::file_length(source, sizes::LONG_FILES));
    complaints.extend(sizes::stale_exceptions(
        &source::tree("src"),
        sizes::LONG_FILES,
    ));
    expect_none("file length", complaints);
}

#[test]
fn functions_are_short() {
    expect_none("function length", each(sizes::function_length));
}

#[test]
fn files_are_named_after_their_one_job() {
    let mut sources = source::tree("src");
    sources.extend(source::tree("tests"));
    let complaints = sources
        .iter()
        .flat_map(|source| sizes::vague_name(&source.path))
        .collect();
    expect_none("file names", complaints);
}

#[test]
fn every_plug_in_is_in_its_registry() {
    let sources = source::tree("src");
    let complaints = registries::FOLDERS
        .iter()
        .flat_map(|folder| registries::unregistered(folder, &sources))
        .collect();
    expect_none("registries", complaints);
}

#[test]
fn nothing_promises_what_a_drill_cannot_show() {
    let mut complaints = each(|source| words::forbidden(&source.path, &source.text));
    for path in words::documents() {
        let text = std::fs::read_to_string(Path::new(source::ROOT).join(&path)).unwrap();
        complaints.extend(words::forbidden(&path, &text));
    }
    expect_none("words that must not appear", complaints);
}

#[test]
fn links_in_the_documents_lead_somewhere() {
    let mut complaints = Vec::new();
    for path in words::documents() {
        let text = std::fs::read_to_string(Path::new(source::ROOT).join(&path)).unwrap();
        complaints.extend(links::dead(&path, &text, |target| {
            Path::new(source::ROOT).join(target).exists()
        }));
    }
    expect_none("links", complaints);
}

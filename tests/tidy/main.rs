//! The machine enforces the style of this project: layers, sizes, names, registries, words, links.
//!
//! Each rule is a pure function from text to complaints, tested on a literal violation beside it.
//! The one test here parses the tree once and applies all of them. An exception is listed by name
//! with its reason; an exception that nothing needs any more is a complaint too.
#![cfg(feature = "lab")]
#![allow(clippy::unwrap_used)]

mod layers;
mod links;
mod programs;
mod registries;
mod sizes;
mod source;
mod words;

use source::Source;
use std::path::Path;

/// What the rules look at.
struct Tree {
    /// Every file below `src/`.
    src: Vec<Source>,
    /// Every file below `tests/`.
    tests: Vec<Source>,
    /// `Cargo.toml`.
    manifest: String,
    /// Path and text of every document.
    documents: Vec<(String, String)>,
}

impl Tree {
    fn read() -> Tree {
        let text = |path: &str| std::fs::read_to_string(Path::new(source::ROOT).join(path));
        Tree {
            src: source::tree("src"),
            tests: source::tree("tests"),
            manifest: text("Cargo.toml").unwrap(),
            documents: words::DOCUMENTS
                .iter()
                .map(|path| ((*path).to_owned(), text(path).unwrap()))
                .collect(),
        }
    }

    fn each(&self, rule: impl Fn(&Source) -> Vec<String>) -> Vec<String> {
        self.src.iter().flat_map(rule).collect()
    }

    fn each_with_tests(&self, rule: impl Fn(&Source) -> Vec<String>) -> Vec<String> {
        self.src.iter().chain(&self.tests).flat_map(rule).collect()
    }

    fn each_document(&self, rule: impl Fn(&str, &str) -> Vec<String>) -> Vec<String> {
        let documents = self.documents.iter();
        documents
            .flat_map(|(path, text)| rule(path, text))
            .collect()
    }
}

type Rule = (&'static str, fn(&Tree) -> Vec<String>);

/// Every rule, by what it asks for.
const RULES: &[Rule] = &[
    ("a lower layer never names a higher one", |tree| {
        tree.each(layers::upward_names)
    }),
    ("every module has a layer", |tree| {
        layers::unplaced(&tree.src)
    }),
    ("judging and drawing are synchronous", |tree| {
        tree.each(layers::async_words)
    }),
    ("errors are typed below run", |tree| {
        tree.each(layers::anyhow_words)
    }),
    ("every file opens with `//!` and its purpose", |tree| {
        tree.each_with_tests(sizes::header)
    }),
    ("files are short", |tree| {
        tree.each(|source| sizes::file_length(source, sizes::LONG_FILES))
    }),
    ("no exception outlives its need", |tree| {
        sizes::stale_exceptions(&tree.src, sizes::LONG_FILES)
    }),
    ("functions are short", |tree| {
        tree.each(sizes::function_length)
    }),
    ("files are named after their one job", |tree| {
        tree.each_with_tests(|source| sizes::vague_name(&source.path))
    }),
    ("every plug-in is in its registry", |tree| {
        let folders = registries::FOLDERS.iter();
        folders
            .flat_map(|folder| registries::unregistered(folder, &tree.src))
            .collect()
    }),
    ("every test file is in a test program", |tree| {
        programs::in_none(&tree.manifest, &tree.tests)
    }),
    (
        "the source promises nothing that a drill cannot show",
        |tree| tree.each(|source| words::forbidden(&source.path, &source.text)),
    ),
    (
        "the documents promise nothing that a drill cannot show",
        |tree| tree.each_document(words::forbidden),
    ),
    ("links in the documents lead somewhere", |tree| {
        tree.each_document(|path, text| {
            links::dead(path, text, |target| {
                Path::new(source::ROOT).join(target).exists()
            })
        })
    }),
];

#[test]
fn the_tree_obeys_every_rule() {
    let tree = Tree::read();
    assert!(tree.src.len() > 10, "this is not the source tree");
    let mut broken = String::new();
    for (rule, complaints) in RULES {
        for complaint in complaints(&tree) {
            broken.push_str(&format!("  {complaint}  [{rule}]\n"));
        }
    }
    assert!(broken.is_empty(), "rules are broken:\n{broken}");
}

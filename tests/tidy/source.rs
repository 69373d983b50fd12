//! The Rust files of the tree, parsed once: text, syntax, and which lines are tests.
//!
//! A test is an item under `#[cfg(test)]`, or a whole file that its parent declares as
//! `#[cfg(test)] mod name;`. The trap: macros are opaque to the parser, so names inside them are
//! looked for in their tokens (see [`crate::layers`]).

use proc_macro2::TokenStream;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use syn::spanned::Spanned;

/// The package's folder.
pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// One parsed file.
pub struct Source {
    /// Path from the package's folder, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its tokens: comments are gone, macros are not opaque.
    pub tokens: TokenStream,
    /// Its syntax.
    pub syntax: syn::File,
    /// The whole file is compiled for tests only.
    pub test_only: bool,
}

impl Source {
    /// Parses a text as if it stood at `path`.
    pub fn parse(path: &str, text: &str) -> Source {
        let tokens = TokenStream::from_str(text).unwrap_or_else(|e| panic!("{path}: {e}"));
        let syntax = syn::parse2(tokens.clone()).unwrap_or_else(|e| panic!("{path}: {e}"));
        Source {
            path: path.to_owned(),
            text: text.to_owned(),
            tokens,
            syntax,
            test_only: false,
        }
    }

    /// Line ranges, from 1, of the items that exist for tests only.
    pub fn test_lines(&self) -> Vec<RangeInclusive<usize>> {
        let mut ranges = Vec::new();
        for item in &self.syntax.items {
            if is_test(attributes(item)) {
                ranges.push(item.span().start().line..=item.span().end().line);
            }
        }
        ranges
    }

    /// Lines that are not for tests, blank lines and comments included.
    pub fn length(&self) -> usize {
        if self.test_only {
            return 0;
        }
        let tests: usize = self.test_lines().into_iter().map(Iterator::count).sum();
        self.text.lines().count() - tests
    }
}

/// Every `.rs` file below `folder`, in the order of their paths; empty if there is no such folder.
pub fn tree(folder: &str) -> Vec<Source> {
    let mut paths = Vec::new();
    collect(&Path::new(ROOT).join(folder), &mut paths);
    paths.sort();
    let mut sources: Vec<Source> = paths
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            let relative = path.strip_prefix(ROOT).unwrap();
            Source::parse(&relative.to_string_lossy().replace('\\', "/"), &text)
        })
        .collect();
    let test_files: BTreeSet<String> = sources.iter().flat_map(test_modules).collect();
    for source in &mut sources {
        source.test_only = test_files.contains(&source.path);
    }
    sources
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// Paths of the files that `source` declares as `#[cfg(test)] mod name;`.
fn test_modules(source: &Source) -> Vec<String> {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let folder = match file {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        other => format!("{folder}/{}", other.trim_end_matches(".rs")),
    };
    let mut files = Vec::new();
    for item in &source.syntax.items {
        if let syn::Item::Mod(module) = item
            && module.content.is_none()
            && is_test(&module.attrs)
        {
            files.push(format!("{folder}/{}.rs", module.ident));
            files.push(format!("{folder}/{}/mod.rs", module.ident));
        }
    }
    files
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether `#[cfg(test)]`, or `#[test]`, is among the attributes.
pub fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && attribute
                    .parse_args::<syn::Ident>()
                    .is_ok_and(|word| word == "test"))
    })
}

#[test]
fn test_modules_do_not_count() {
    let text = "//! a\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n    fn g() {}\n}\n";
    assert_eq!(Source::parse("src/a.rs", text).length(), 3);
}

#[test]
fn a_file_declared_for_tests_is_a_test() {
    let parent = Source::parse(
        "src/checks/mod.rs",
        "#[cfg(test)]\nmod histories;\nmod a;\n",
    );
    assert_eq!(
        test_modules(&parent),
        ["src/checks/histories.rs", "src/checks/histories/mod.rs"]
    );
    let parent = Source::parse("src/lock/lease.rs", "#[cfg(test)] mod tests;");
    assert_eq!(test_modules(&parent)[0], "src/lock/lease/tests.rs");
}

//! Length and name of files, length of functions, and the header that says what a file is for.
//!
//! Lines for tests do not count. Comments and blank lines do: a file that needs more words than
//! this has more than one job.

use crate::source::{Source, is_test};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Longest file, in lines that are not for tests.
const FILE_LINES_MAX: usize = 250;

/// Longest function, signature and braces included.
const FUNCTION_LINES_MAX: usize = 60;

/// Longest excepted file.
const CATALOGUE_LINES_MAX: usize = 500;

/// One file that may be longer than others.
pub struct LongFile {
    /// Its path.
    pub path: &'static str,
    /// Its own limit in lines.
    pub lines_max: usize,
    /// Why it is not split.
    pub why: &'static str,
}

/// Catalogues, which may be long; a procedure may not.
pub const LONG_FILES: &[LongFile] = &[
    LongFile {
        path: "src/timeline/event.rs",
        lines_max: 430,
        why: "the whole schema of a timeline, a doc line a field, read from top to bottom",
    },
    LongFile {
        path: "src/timeline/names.rs",
        lines_max: 400,
        why: "the catalogue of event names and the two functions that must agree with it",
    },
];

/// Complains if a file does not open with `//!`.
pub fn header(source: &Source) -> Vec<String> {
    if source.text.starts_with("//! ") {
        Vec::new()
    } else {
        vec![format!("{}:1: does not say what it is for", source.path)]
    }
}

/// Complains if a file is too long.
pub fn file_length(source: &Source, long: &[LongFile]) -> Vec<String> {
    let limit = long
        .iter()
        .find(|file| file.path == source.path)
        .map_or(FILE_LINES_MAX, |file| file.lines_max);
    let length = source.length();
    if length <= limit {
        return Vec::new();
    }
    vec![format!("{}: {length} lines, limit {limit}", source.path)]
}

/// Complains about exceptions that nothing needs any more, or that allow too much.
pub fn stale_exceptions(sources: &[Source], long: &[LongFile]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in long {
        let needed = sources
            .iter()
            .any(|source| source.path == file.path && source.length() > FILE_LINES_MAX);
        if !needed {
            complaints.push(format!("{}: no longer needs its exception", file.path));
        }
        if file.lines_max > CATALOGUE_LINES_MAX || file.why.is_empty() {
            complaints.push(format!("{}: exception too large or unexplained", file.path));
        }
    }
    complaints
}

/// Complains about each function outside tests that is too long.
pub fn function_length(source: &Source) -> Vec<String> {
    if source.test_only {
        return Vec::new();
    }
    let mut ruler = Ruler {
        path: &source.path,
        complaints: Vec::new(),
    };
    ruler.visit_file(&source.syntax);
    ruler.complaints
}

struct Ruler<'a> {
    path: &'a str,
    complaints: Vec<String>,
}

impl Ruler<'_> {
    fn measure(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let start = signature.span().start().line;
        let lines = body.span().end().line + 1 - start;
        if lines > FUNCTION_LINES_MAX {
            self.complaints.push(format!(
                "{}:{start}: `{}` has {lines} lines, limit {FUNCTION_LINES_MAX}",
                self.path, signature.ident
            ));
        }
    }
}

impl<'ast> Visit<'ast> for Ruler<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_test(&function.attrs) {
            self.measure(&function.sig, &function.block);
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.measure(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

/// Complains about a file or folder whose name says nothing about its job.
pub fn vague_name(path: &str) -> Vec<String> {
    const VAGUE: &[&str] = &[
        "common", "helper", "helpers", "imp", "misc", "shared", "types", "util", "utils",
    ];
    path.split('/')
        .map(|part| part.trim_end_matches(".rs"))
        .filter(|part| VAGUE.contains(part))
        .map(|part| format!("{path}: `{part}` is not the noun of one job"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(n: usize) -> String {
        format!("//! x\n{}", "// a\n".repeat(n - 1))
    }

    #[test]
    fn a_file_without_a_purpose_is_seen() {
        assert_eq!(header(&Source::parse("src/a.rs", "use std::fmt;")).len(), 1);
        assert_eq!(header(&Source::parse("src/a.rs", "//! A.")), [""; 0]);
    }

    #[test]
    fn a_long_file_is_seen_and_tests_do_not_count() {
        let long = lines(251);
        assert_eq!(
            file_length(&Source::parse("src/a.rs", &long), &[]),
            ["src/a.rs: 251 lines, limit 250"]
        );
        let tested = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(250), lines(9));
        assert_eq!(
            file_length(&Source::parse("src/a.rs", &tested), &[]),
            [""; 0]
        );
    }

    #[test]
    fn an_exception_has_its_own_limit_and_does_not_outlive_its_need() {
        let exception = |lines_max| {
            [LongFile {
                path: "src/a.rs",
                lines_max,
                why: "a table",
            }]
        };
        let long = [Source::parse("src/a.rs", &lines(300))];
        assert_eq!(file_length(&long[0], &exception(300)), [""; 0]);
        assert_eq!(file_length(&long[0], &exception(299)).len(), 1);
        assert_eq!(stale_exceptions(&long, &exception(300)), [""; 0]);
        assert_eq!(stale_exceptions(&long, &exception(900)).len(), 1);
        let short = [Source::parse("src/a.rs", &lines(200))];
        assert_eq!(stale_exceptions(&short, &exception(300)).len(), 1);
    }

    #[test]
    fn a_long_function_is_seen_wherever_it_stands() {
        let body = "    f();\n".repeat(59);
        for text in [
            format!("fn f() {{\n{body}}}\n"),
            format!("impl A {{ fn f() {{\n{body}}} }}\n"),
            format!("trait A {{ fn f() {{\n{body}}} }}\n"),
            format!("fn g() {{ fn f() {{\n{body}}} }}\n"),
        ] {
            let complaints = function_length(&Source::parse("src/a.rs", &text));
            assert!(!complaints.is_empty(), "{text}");
            assert!(complaints.iter().all(|c| c.contains("has 61 lines")));
        }
    }

    #[test]
    fn sixty_lines_and_long_tests_are_fine() {
        let fine = format!("fn f() {{\n{}}}\n", "    f();\n".repeat(58));
        assert_eq!(function_length(&Source::parse("src/a.rs", &fine)), [""; 0]);
        let test = format!(
            "#[cfg(test)] mod tests {{ fn f() {{\n{}}} }}\n",
            "    f();\n".repeat(99)
        );
        assert_eq!(function_length(&Source::parse("src/a.rs", &test)), [""; 0]);
    }

    #[test]
    fn a_vague_name_is_seen() {
        assert_eq!(vague_name("src/lock/utils.rs").len(), 1);
        assert_eq!(vague_name("src/common/lease.rs").len(), 1);
        assert_eq!(vague_name("src/lock/lease.rs"), [""; 0]);
    }
}

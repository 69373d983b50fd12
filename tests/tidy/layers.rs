//! Who may name whom. The table is the architecture; everything else follows from it.
//!
//! Names are looked for as tokens (`crate :: a :: b`, `crate :: { a, b }`, and `super` that
//! reaches the root), so those inside macros count too. Tests inside a file obey the same rule:
//! a lower layer that can only be tested with a higher one is in the wrong layer. Not seen: names
//! that reach a module through a re-export of another one.

use crate::source::Source;
use proc_macro2::{TokenStream, TokenTree};

/// Modules of the crate by height. A module may name those of its own and of lower heights;
/// modules that share a height are listed in [`STRANGERS`] if they may not name each other.
const LAYERS: &[&[&str]] = &[
    &[
        "ids",
        "clock",
        "rng",
        "problem",
        "exit",
        "say",
        "address",
        "etcd_link",
        "http_link",
        "postgres_link",
        "kept",
        "redis_link",
        "zookeeper_link",
    ],
    &["lock", "store"],
    &["plan", "timeline", "worker"],
    &["env", "faults"],
    &["checks", "verdict"],
    &["experiment"],
    &["run"],
    &["report", "explore"],
    &["cli"],
];

/// Pairs within a layer that may not name each other: the first must not name the second.
const STRANGERS: &[(&str, &str, &str)] = &[
    ("lock", "store", "the lock core stands alone as a library"),
    ("store", "lock", "a store never depends on a lock"),
    (
        "timeline",
        "worker",
        "the record does not know who writes it",
    ),
    (
        "plan",
        "timeline",
        "a plan is made before anything happened",
    ),
    ("plan", "worker", "a plan is data"),
    (
        "checks",
        "verdict",
        "a check does not know what its finding decides",
    ),
    (
        "env",
        "faults",
        "primitives do not know what they are used for",
    ),
];

/// Where `async` and `tokio` have no place: pure functions of what is on disk or in a value.
const SYNCHRONOUS: &[&str] = &[
    "src/checks/",
    "src/exit.rs",
    "src/experiment/",
    "src/faults/",
    "src/ids.rs",
    "src/plan.rs",
    "src/problem.rs",
    "src/report/",
    "src/rng.rs",
    "src/timeline/event",
    "src/timeline/history",
    "src/verdict.rs",
];

/// Where `anyhow` may be used: the layers whose errors end at a person.
const ANYHOW: &[&str] = &["src/run/", "src/cli/", "src/main.rs"];

fn height(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The top-level module that a file belongs to; none for `lib.rs` and `main.rs`.
fn module_of(path: &str) -> Option<&str> {
    let inside = path.strip_prefix("src/")?;
    let module = inside.split('/').next()?.trim_end_matches(".rs");
    (!matches!(module, "lib" | "main")).then_some(module)
}

/// Complaints about top-level modules that stand in no layer.
pub fn unplaced(sources: &[Source]) -> Vec<String> {
    sources
        .iter()
        .filter_map(|source| Some((source, module_of(&source.path)?)))
        .filter(|(_, module)| height(module).is_none())
        .map(|(source, module)| format!("{}: `{module}` stands in no layer", source.path))
        .collect()
}

/// Complaints about names of higher layers.
pub fn upward_names(source: &Source) -> Vec<String> {
    let Some(from) = module_of(&source.path) else {
        return Vec::new();
    };
    let Some(own) = height(from) else {
        return Vec::new();
    };
    let mut complaints = Vec::new();
    for (line, to) in root_names(source) {
        let place = format!("{}:{line}", source.path);
        if height(&to).is_some_and(|other| other > own) {
            complaints.push(format!("{place}: `{from}` names the higher layer `{to}`"));
        }
        for (_, _, why) in STRANGERS.iter().filter(|(a, b, _)| *a == from && *b == to) {
            complaints.push(format!("{place}: `{from}` names `{to}`: {why}"));
        }
    }
    complaints
}

/// Complaints about `async` or `tokio` where nothing waits.
pub fn async_words(source: &Source) -> Vec<String> {
    if !SYNCHRONOUS.iter().any(|p| source.path.starts_with(p)) || source.test_only {
        return Vec::new();
    }
    words(source, &["async", "await", "tokio", "async_trait"])
}

/// Complaints about `anyhow` below the layers that end at a person.
pub fn anyhow_words(source: &Source) -> Vec<String> {
    if ANYHOW.iter().any(|p| source.path.starts_with(p)) || source.test_only {
        return Vec::new();
    }
    words(source, &["anyhow"])
}

/// Complaints about identifiers outside the file's tests.
fn words(source: &Source, banned: &[&str]) -> Vec<String> {
    let tests = source.test_lines();
    let mut complaints = Vec::new();
    each_ident(&source.tokens, &mut |line, word| {
        if banned.contains(&word) && !tests.iter().any(|lines| lines.contains(&line)) {
            complaints.push(format!(
                "{}:{line}: `{word}` has no place here",
                source.path
            ));
        }
    });
    complaints
}

fn each_ident(stream: &TokenStream, visit: &mut dyn FnMut(usize, &str)) {
    for tree in stream.clone() {
        match tree {
            TokenTree::Ident(ident) => visit(ident.span().start().line, &ident.to_string()),
            TokenTree::Group(group) => each_ident(&group.stream(), visit),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Every top-level module that a file names, with the line.
fn root_names(source: &Source) -> Vec<(usize, String)> {
    let inside = source
        .path
        .trim_start_matches("src/")
        .trim_end_matches(".rs");
    let depth = inside.split('/').filter(|part| *part != "mod").count();
    let mut found = Vec::new();
    walk(source.tokens.clone(), depth, &mut found);
    found
}

/// Walks tokens at `depth` modules below the root.
fn walk(stream: TokenStream, depth: usize, found: &mut Vec<(usize, String)>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut at = 0;
    while at < trees.len() {
        if let Some(next) = root_prefix(&trees, at, depth) {
            first_names(&trees[next..], found);
            at = next;
            continue;
        }
        if let TokenTree::Group(group) = &trees[at] {
            let inline_module = at >= 2 && is_word(&trees[at - 2], "mod");
            walk(group.stream(), depth + usize::from(inline_module), found);
        }
        at += 1;
    }
}

/// If a path to the crate's root starts at `at`, where its next part stands.
fn root_prefix(trees: &[TokenTree], at: usize, depth: usize) -> Option<usize> {
    // `$crate::` in a macro is the crate too; `a::crate` does not exist.
    if is_word(&trees[at], "crate") && separator(trees, at + 1) {
        return Some(at + 3);
    }
    let mut place = at;
    for _ in 0..depth {
        if !(is_word(trees.get(place)?, "super") && separator(trees, place + 1)) {
            return None;
        }
        place += 3;
    }
    (depth > 0).then_some(place)
}

fn is_word(tree: &TokenTree, word: &str) -> bool {
    matches!(tree, TokenTree::Ident(ident) if ident == word)
}

fn separator(trees: &[TokenTree], at: usize) -> bool {
    let colon =
        |tree: Option<&TokenTree>| matches!(tree, Some(TokenTree::Punct(p)) if p.as_char() == ':');
    colon(trees.get(at)) && colon(trees.get(at + 1))
}

/// The first parts after the root: one word, or each first word of a braced list.
fn first_names(rest: &[TokenTree], found: &mut Vec<(usize, String)>) {
    match rest.first() {
        Some(TokenTree::Ident(word)) => {
            found.push((word.span().start().line, word.to_string()));
        }
        Some(TokenTree::Group(list)) => {
            let mut starts = true;
            for tree in list.stream() {
                match &tree {
                    TokenTree::Ident(word) if starts => {
                        found.push((word.span().start().line, word.to_string()));
                        starts = false;
                    }
                    TokenTree::Punct(comma) if comma.as_char() == ',' => starts = true,
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upward(path: &str, text: &str) -> Vec<String> {
        upward_names(&Source::parse(path, text))
    }

    #[test]
    fn an_upward_use_is_seen() {
        assert_eq!(
            upward("src/lock/lease.rs", "use crate::run::Ledger;"),
            ["src/lock/lease.rs:1: `lock` names the higher layer `run`"]
        );
    }

    #[test]
    fn an_upward_name_is_seen_wherever_it_hides() {
        for text in [
            "use crate::{ids, cli::main};",
            "use crate::{\n  clock::{self, Clock},\n  cli,\n};",
            "fn f() { crate::cli::main(); }",
            "fn f() { assert!(crate::cli::ready()); }",
            "use super::super::cli;",
            "mod inner { use super::super::super::cli; }",
            "#[cfg(test)] mod tests { use crate::cli::main; }",
        ] {
            assert_eq!(upward("src/env/signal.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn names_of_the_own_and_of_lower_layers_are_fine() {
        for text in [
            "use crate::{clock, ids::GrantId, lock::probe};",
            "use super::action; use super::super::ids;",
            "// crate::cli is above\nfn f() -> &'static str { \"crate::cli\" }",
        ] {
            assert_eq!(upward("src/env/signal.rs", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn neighbours_may_be_strangers() {
        let complaints = upward("src/lock/mod.rs", "use crate::store::Fence;");
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].contains("stands alone"));
    }

    #[test]
    fn a_new_module_must_be_placed() {
        let sources = [Source::parse("src/magic/mod.rs", "//! m")];
        assert_eq!(unplaced(&sources).len(), 1);
    }

    #[test]
    fn waiting_in_a_check_is_seen() {
        let text = "async fn judge() { tokio::task::yield_now().await }";
        let source = Source::parse("src/checks/x.rs", text);
        assert_eq!(async_words(&source).len(), 3);
        assert_eq!(async_words(&Source::parse("src/lock/x.rs", text)), [""; 0]);
    }

    #[test]
    fn anyhow_in_a_check_is_seen() {
        let text = "fn f() -> anyhow::Result<()> { Ok(()) }";
        assert_eq!(
            anyhow_words(&Source::parse("src/checks/x.rs", text)).len(),
            1
        );
        assert_eq!(anyhow_words(&Source::parse("src/cli/x.rs", text)), [""; 0]);
    }
}

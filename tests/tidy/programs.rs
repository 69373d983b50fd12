//! Every test file is in a test program: one that is in none is never compiled, and cannot fail.

use crate::source::Source;

/// Complaints about files directly below `tests/` that the manifest names for no program and that
/// no program declares as a module.
pub fn in_none(manifest: &str, tests: &[Source]) -> Vec<String> {
    let direct = || tests.iter().filter_map(|test| Some((name(test)?, test)));
    let programs: Vec<_> = direct()
        .filter(|(name, _)| is_program(manifest, name))
        .collect();
    direct()
        .filter(|(name, _)| !is_program(manifest, name))
        .filter(|(name, _)| !programs.iter().any(|(_, program)| declares(program, name)))
        .map(|(_, test)| format!("{}: in no test program", test.path))
        .collect()
}

/// The module name of a file directly below `tests/`.
fn name(test: &Source) -> Option<&str> {
    let name = test.path.strip_prefix("tests/")?.strip_suffix(".rs")?;
    (!name.contains('/')).then_some(name)
}

/// As Cargo finds a program: by its path, or by its name where it has none.
fn is_program(manifest: &str, name: &str) -> bool {
    let (path, named) = (
        format!("path = \"tests/{name}.rs\""),
        format!("name = \"{name}\""),
    );
    let mut tests = manifest.split("[[").filter_map(|part| {
        let entry = part.strip_prefix("test]]")?;
        Some(entry.lines().collect::<Vec<_>>())
    });
    tests.any(|entry| {
        let elsewhere = entry.iter().any(|line| line.starts_with("path = "));
        entry.contains(&path.as_str()) || (!elsewhere && entry.contains(&named.as_str()))
    })
}

fn declares(program: &Source, name: &str) -> bool {
    program.syntax.items.iter().any(
        |item| matches!(item, syn::Item::Mod(module) if module.content.is_none() && module.ident == name),
    )
}

#[test]
fn a_test_file_in_no_program_is_seen() {
    let manifest = "[[test]]\nname = \"suite\"\npath = \"tests/main.rs\"\n\n\
                    [[test]]\nname = \"alone\"\n\n[[bench]]\nname = \"lock\"\n";
    let tests = [
        Source::parse("tests/main.rs", "mod listed; mod inline {}"),
        Source::parse("tests/listed.rs", "mod nested;"),
        Source::parse("tests/alone.rs", ""),
        Source::parse("tests/nested.rs", ""),
        Source::parse("tests/inline.rs", ""),
        Source::parse("tests/suite.rs", ""),
        Source::parse("tests/lock.rs", ""),
        Source::parse("tests/support/mod.rs", ""),
    ];
    assert_eq!(
        in_none(manifest, &tests),
        ["nested", "inline", "suite", "lock"]
            .map(|name| format!("tests/{name}.rs: in no test program"))
    );
}

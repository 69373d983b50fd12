//! `lockdrill validate` and `lockdrill list` as a user and as CI see them.

use assert_cmd::Command;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

const DRILL: &str = r#"summary  = "the store must refuse a late write"
class    = "correctness"

[lock]
backend  = "redis"
lease    = "1500ms"
renew    = "500ms"

[store]
kind     = "sqlite"
fence    = "atomic"

[worker.a]
script   = ["acquire", "write", "check", "write", "release"]

[worker.b]
start    = { after = "a.acquired" }
script   = ["enter 10s", "write", "hold until a.released", "release"]

[fault.nap]
kind     = "pause"
target   = "holder"
when     = { at = "a.write.2.armed" }
heal     = { after = "b.write.accepted" }

[control.unfenced]
set      = { "store.fence" = "off" }
violates = { check = "no_stale_write", by = "a" }
"#;

/// The binary in a folder, without what the tests' own environment asks of colours.
fn lockdrill(folder: &Path, args: &[&str]) -> Answer {
    let mut command = Command::cargo_bin("lockdrill").unwrap();
    command.current_dir(folder).args(args);
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    answer(command)
}

struct Answer {
    code: i32,
    out: String,
    err: String,
}

fn answer(mut command: Command) -> Answer {
    let output = command.timeout(Duration::from_secs(60)).output().unwrap();
    Answer {
        code: output.status.code().expect("it ended by itself"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folder_with(file: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(file), text).unwrap();
    folder
}

#[test]
fn every_shipped_drill_is_good() {
    let answer = lockdrill(repository(), &["validate"]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
    let files = fs::read_dir(repository().join("experiments")).unwrap();
    let drills = files.filter(|file| {
        let path = file.as_ref().unwrap().path();
        path.extension().is_some_and(|ext| ext == "toml")
    });
    assert_eq!(answer.out.lines().count(), drills.count(), "a line a file");
    assert!(
        answer
            .out
            .contains("experiments/pause.toml: good: 2 workers, 1 fault, "),
        "{}",
        answer.out
    );
}

#[test]
fn what_fits_a_part_of_the_suite_leaves_the_rest_out_and_is_refused_by_name() {
    let suite = lockdrill(repository(), &["validate", "--store", "sqlite"]);
    assert_eq!((suite.code, suite.err.as_str()), (0, ""));
    let left_out = "duplicate: does not apply: the store `sqlite` has no server";
    assert!(suite.out.contains(left_out), "{}", suite.out);
    assert!(
        suite.out.contains("experiments/pause.toml: good"),
        "{}",
        suite.out
    );
    let named = lockdrill(
        repository(),
        &["validate", "duplicate", "--store", "sqlite"],
    );
    assert_eq!((named.code, named.out.as_str()), (2, ""));
    assert!(named.err.contains("has no server"), "{}", named.err);
    // What fits nothing is a mistake.
    let wrong = lockdrill(repository(), &["validate", "--store", "sqlte"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (2, ""));
    assert!(
        wrong.err.contains("did you mean `sqlite`?"),
        "{}",
        wrong.err
    );
}

#[test]
fn a_bad_file_is_told_by_line_with_an_excerpt_and_exit_2() {
    let text = DRILL
        .replace("\"500ms\"", "500")
        .replace("\"off\"", "\"of\"");
    let folder = folder_with("bad.toml", &text);
    let answer = lockdrill(folder.path(), &["validate", "bad.toml"]);
    assert_eq!((answer.code, answer.out.as_str()), (2, ""));
    let expected = "\
bad.toml:7:12: `renew`: `500` is a number; a duration is a string with a unit: `\"500ms\"` or `\"500s\"`?
  |
7 | renew    = 500
  |            ^^^
bad.toml:27:30: unknown fence `of`; one of `atomic`, `racy`, `off`
   |
27 | set      = { \"store.fence\" = \"of\" }
   |                              ^^^^
";
    assert_eq!(answer.err, expected);
}

#[test]
fn good_files_are_told_beside_bad_ones() {
    let folder = folder_with("bad.toml", "");
    let answer = lockdrill(folder.path(), &["validate", "pause", "bad.toml"]);
    assert_eq!(answer.code, 2);
    assert!(answer.out.starts_with("pause.toml (built in): good: "));
    assert!(
        answer
            .err
            .starts_with("bad.toml:1:1: the file says nothing")
    );
}

#[test]
fn what_is_no_experiment_file_is_exit_2_and_no_panic() {
    let folder = folder_with("binary.toml", "\0\0\0");
    fs::write(folder.path().join("large.toml"), vec![b'x'; 10_000_000]).unwrap();
    fs::create_dir(folder.path().join("folder.toml")).unwrap();
    let files = ["binary.toml", "large.toml", "folder.toml", "missing.toml"];
    let answer = lockdrill(folder.path(), &[&["validate"][..], &files].concat());
    assert_eq!(answer.code, 2);
    let told: Vec<&str> = answer
        .err
        .lines()
        .filter_map(|line| line.split_once(':').map(|(file, _)| file))
        .filter(|file| files.contains(file))
        .collect();
    assert_eq!(told, files);
    assert!(!answer.err.contains("panicked"), "{}", answer.err);
}

#[test]
fn nothing_to_validate_is_exit_2() {
    let empty = tempfile::tempdir().unwrap();
    let answer = lockdrill(empty.path(), &["validate"]);
    assert_eq!(answer.code, 2);
    assert!(answer.err.contains("built in: "), "{}", answer.err);
}

#[test]
fn an_unknown_option_is_exit_2() {
    let answer = lockdrill(repository(), &["validate", "--surprise"]);
    assert_eq!(answer.code, 2);
    let answer = lockdrill(repository(), &["list", "drillz"]);
    assert_eq!(answer.code, 2);
    assert!(answer.err.contains("drills"), "{}", answer.err);
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let folder = folder_with("bad.toml", "summary = 1\n");
    let plain = lockdrill(folder.path(), &["validate", "bad.toml"]);
    assert!(!plain.err.contains('\u{1b}'), "a pipe is no terminal");
    assert!(on_a_terminal(folder.path(), None).contains("\u{1b}["));
    assert!(!on_a_terminal(folder.path(), Some("1")).contains("\u{1b}["));
}

/// What is written to standard error if it is a terminal: `script` of util-linux makes one.
fn on_a_terminal(folder: &Path, no_color: Option<&str>) -> String {
    let binary = assert_cmd::cargo::cargo_bin("lockdrill");
    let mut command = Command::new("script");
    let line = format!("{} validate bad.toml", binary.display());
    command.args(["--quiet", "--command", &line, "/dev/null"]);
    command.current_dir(folder).env_remove("NO_COLOR");
    command.env("TERM", "xterm");
    if let Some(value) = no_color {
        command.env("NO_COLOR", value);
    }
    answer(command).out
}

#[test]
fn options_change_what_is_validated() {
    let folder = folder_with("x.toml", DRILL);
    let folder = folder.path();
    let answer = lockdrill(folder, &["validate", "x.toml", "--set", "store.fence=off"]);
    assert_eq!(answer.code, 0);
    assert!(
        answer.out.ends_with(
            "no control; control `unfenced` does not apply: the control changes nothing: the main arm has this value already\n"
        ),
        "{}",
        answer.out
    );
    let answer = lockdrill(folder, &["validate", "x.toml", "--lock", "reddis"]);
    assert_eq!(answer.code, 2);
    assert!(
        answer
            .err
            .starts_with("--lock:1:1: unknown lock `reddis`; did you mean `redis`?")
    );
}

#[test]
fn the_schema_is_json() {
    let answer = lockdrill(repository(), &["validate", "--schema"]);
    assert_eq!(answer.code, 0);
    let schema: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    assert!(
        schema["properties"]["worker"]["additionalProperties"]["properties"]["script"].is_object()
    );
}

#[test]
fn everything_that_can_be_named_is_listed() {
    let cases = [
        ("drills", "pause"),
        ("faults", "pause"),
        ("checks", "no_stale_write"),
        ("locks", "redis"),
        ("stores", "sqlite"),
        ("promises", "etcd"),
        ("flaws", "blind_release"),
        ("events", "W.acquired"),
    ];
    for (what, name) in cases {
        let text = lockdrill(repository(), &["list", what]);
        assert_eq!((text.code, text.err.as_str()), (0, ""), "{what}");
        assert!(
            text.out
                .lines()
                .any(|line| line.starts_with(&format!("{name} "))),
            "{what}: {}",
            text.out
        );
        let json = lockdrill(repository(), &["list", what, "--json"]);
        let rows: Vec<serde_json::Value> = serde_json::from_str(&json.out).unwrap();
        assert!(rows.iter().any(|row| row["name"] == name), "{what}");
        assert!(
            rows.iter()
                .all(|row| row["summary"].as_str().is_some_and(|s| !s.is_empty()))
        );
        let table = lockdrill(repository(), &["list", what, "--markdown"]);
        let (head, columns) = table.out.split_once('\n').unwrap();
        assert!(head.starts_with("| name |") || what == "promises", "{head}");
        assert!(columns.starts_with("|---|---|"));
        assert_eq!(table.out.lines().count(), rows.len() + 2, "a row a name");
    }
}

#[test]
fn a_drill_of_this_folder_is_listed_instead_of_the_built_in_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("experiments")).unwrap();
    let other = DRILL.replace("the store must refuse a late write", "ours");
    fs::write(folder.path().join("experiments/pause.toml"), other).unwrap();
    fs::write(folder.path().join("experiments/broken.toml"), "x").unwrap();
    let answer = lockdrill(folder.path(), &["list", "drills"]);
    let listed: Vec<(&str, &str)> = answer
        .out
        .lines()
        .filter_map(|line| line.split_once("  "))
        .map(|(name, summary)| (name, summary.trim()))
        .collect();
    assert!(listed.contains(&("pause", "ours")), "{listed:?}");
    let why = "(not usable as it stands: `lockdrill validate broken` says why)";
    assert!(listed.contains(&("broken", why)), "{listed:?}");
    let built_in = |(name, _): &(&str, &str)| *name == "late-first";
    assert!(listed.iter().any(built_in), "{listed:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for args in [&["list", "events"][..], &["validate", "pause"][..]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let binary = assert_cmd::cargo::cargo_bin("lockdrill");
        let status = std::process::Command::new(binary)
            .current_dir(repository())
            .args(args)
            .stdout(writer)
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(0), "{args:?}");
    }
}

#[test]
fn the_readme_prints_what_each_lock_promises() {
    let table = lockdrill(repository(), &["list", "promises", "--markdown"]).out;
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(
        readme.contains(&table),
        "README.md is to have this:\n{table}"
    );
}

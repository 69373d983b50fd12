//! What is said of files that are no experiment files, and how names become files.

use lockdrill::experiment::{self, LoadRequest};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A folder with a good `experiments/one.toml`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("experiments/gallery")).unwrap();
    put(&folder, "experiments/one.toml", good().as_bytes());
    folder
}

fn good() -> String {
    let pause = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments/pause.toml");
    fs::read_to_string(pause).unwrap()
}

fn put(folder: &TempDir, file: &str, bytes: &[u8]) {
    fs::write(folder.path().join(file), bytes).unwrap();
}

fn request(folder: &TempDir, drills: &[&str]) -> LoadRequest {
    LoadRequest {
        drills: drills.iter().map(|drill| (*drill).to_owned()).collect(),
        all: false,
        root: folder.path().to_owned(),
        ..LoadRequest::default()
    }
}

/// The lines that are told, or the names of the drills.
fn load(request: &LoadRequest) -> Vec<String> {
    match experiment::load(request) {
        Ok(drills) => drills.into_iter().map(|drill| drill.name).collect(),
        Err(refused) => refused.to_string().lines().map(str::to_owned).collect(),
    }
}

fn told(folder: &TempDir, drills: &[&str]) -> Vec<String> {
    load(&request(folder, drills))
}

#[test]
fn a_name_is_a_file_here_else_a_built_in_drill() {
    let folder = folder();
    assert_eq!(told(&folder, &["one", "pause"]), ["one", "pause"]);
    assert_eq!(told(&folder, &["experiments/one.toml"]), ["one"]);
    assert_eq!(told(&folder, &["./experiments/one.toml"]), ["one"]);
}

#[test]
fn a_file_here_stands_before_the_built_in_drill_of_its_name() {
    let folder = folder();
    let changed = good().replace("1500ms", "1600ms");
    put(&folder, "experiments/pause.toml", changed.as_bytes());
    let drills = experiment::load(&request(&folder, &["pause"])).unwrap();
    assert_eq!(drills[0].main.lock.lease_ms, 1600);
    assert_eq!(drills[0].file, "experiments/pause.toml");
}

#[test]
fn all_takes_the_folder_and_not_those_below() {
    let folder = folder();
    put(&folder, "experiments/gallery/broken.toml", b"x = ");
    put(&folder, "experiments/another.toml", good().as_bytes());
    put(&folder, "experiments/notes.txt", b"not one");
    let mut all = request(&folder, &[]);
    all.all = true;
    assert_eq!(load(&all), ["another", "one"]);
}

#[test]
fn all_of_nothing() {
    let empty = tempfile::tempdir().unwrap();
    std::fs::create_dir(empty.path().join("experiments")).unwrap();
    let mut all = request(&empty, &[]);
    all.all = true;
    let told = load(&all);
    let start = "experiments:1:1: there is no `experiments/*.toml` here; built in: ";
    assert!(told[0].starts_with(start), "{told:?}");
    assert!(told[0].contains("pause"), "{told:?}");
}

#[test]
fn all_where_no_folder_is_takes_what_is_built_in() {
    let installed = tempfile::tempdir().unwrap();
    let mut all = request(&installed, &[]);
    all.all = true;
    let built_in = lockdrill::experiment::built_in();
    let names: Vec<String> = built_in.into_iter().map(|drill| drill.name).collect();
    assert_eq!(load(&all), names);
}

#[test]
fn nothing_named() {
    assert_eq!(
        told(&folder(), &[]),
        ["command line:1:1: no drill is named; name a drill or a file, or say `--all`"]
    );
}

#[test]
fn a_missing_drill() {
    let folder = folder();
    assert_eq!(
        told(&folder, &["puase", "earthquake"]),
        [
            "puase:1:1: there is no drill `puase`; did you mean `pause`?",
            "earthquake:1:1: there is no drill `earthquake`; see `lockdrill list drills`",
        ]
    );
}

#[test]
fn a_missing_file() {
    let folder = folder();
    assert_eq!(
        told(
            &folder,
            &["experiments/ona.toml", "paus.toml", "there/nothing.toml"]
        ),
        [
            "experiments/ona.toml:1:1: there is no such file; did you mean `experiments/one.toml`?",
            "paus.toml:1:1: there is no such file; did you mean the drill `pause`?",
            "there/nothing.toml:1:1: there is no such file; see `lockdrill list drills`",
        ]
    );
}

#[test]
fn a_folder() {
    assert_eq!(
        told(&folder(), &["./experiments"]),
        [
            "./experiments:1:1: this is a folder, not an experiment file; name a file in it, or say `--all` for `experiments/*.toml`"
        ]
    );
}

#[test]
fn a_device() {
    assert_eq!(
        told(&folder(), &["/dev/zero"]),
        ["/dev/zero:1:1: this is not a regular file"]
    );
}

#[test]
fn an_empty_file() {
    let folder = folder();
    put(&folder, "empty.toml", b"");
    assert_eq!(
        told(&folder, &["empty.toml"]),
        ["empty.toml:1:1: the file says nothing; start from a copy of `experiments/pause.toml`"]
    );
}

#[test]
fn a_binary_file() {
    let folder = folder();
    put(&folder, "nul.toml", b"summary = \"x\"\nclass\0 = 1\n");
    put(&folder, "latin.toml", b"summary = \"\xe4\"\n");
    put(&folder, "elf.toml", b"\x7fELF\x02\x01\x01\x00\x00");
    let not_text =
        "not a text file: a byte here belongs to no UTF-8 text; an experiment is a TOML file";
    assert_eq!(
        told(&folder, &["nul.toml", "latin.toml", "elf.toml"]),
        [
            format!("nul.toml:2:6: {not_text}"),
            format!("latin.toml:1:12: {not_text}"),
            format!("elf.toml:1:8: {not_text}"),
        ]
    );
}

#[test]
fn a_large_file() {
    let folder = folder();
    let large = |bytes: usize| {
        let mut text = good().into_bytes();
        text.resize(bytes, b'\n');
        text
    };
    put(&folder, "fits.toml", &large(1 << 20));
    put(&folder, "large.toml", &large((1 << 20) + 1));
    put(&folder, "huge.toml", &vec![b'x'; 10_000_000]);
    assert_eq!(told(&folder, &["fits.toml"]), ["fits"]);
    assert_eq!(
        told(&folder, &["large.toml", "huge.toml"]),
        [
            "large.toml:1:1: 1048577 bytes are too many for an experiment file; at most 1 MiB",
            "huge.toml:1:1: 10000000 bytes are too many for an experiment file; at most 1 MiB",
        ]
    );
}

#[test]
fn two_files_of_one_name() {
    let folder = folder();
    put(&folder, "one.toml", good().as_bytes());
    assert_eq!(
        told(&folder, &["one", "one.toml"]),
        [
            "one.toml:1:1: `experiments/one.toml` is a drill `one` too; rename one, or run them one after the other"
        ]
    );
    assert_eq!(
        told(&folder, &["one", "one"]),
        [
            "experiments/one.toml:1:1: the drill `one` is named twice; to run it more than once: `--repeat N`"
        ]
    );
}

#[test]
fn a_name_that_cannot_be_a_folder() {
    let folder = folder();
    put(&folder, "a b.toml", good().as_bytes());
    let long = format!("{}.toml", "x".repeat(65));
    put(&folder, &long, good().as_bytes());
    assert_eq!(
        told(&folder, &["a b.toml"]),
        [
            "a b.toml:1:1: `a b` cannot name a drill; a folder is named after it: letters, digits, - and _, at most 64"
        ]
    );
    assert_eq!(told(&folder, &[&long]).len(), 1);
}

#[test]
fn good_files_come_back_beside_bad_ones() {
    let folder = folder();
    put(&folder, "bad.toml", b"summary = 1\n");
    let loaded = experiment::load_each(&request(&folder, &["bad.toml", "one"]));
    let (good, refused) = (loaded.experiments, loaded.refused);
    assert_eq!(good.len(), 1);
    assert!(refused.problems().iter().all(|p| p.file == "bad.toml"));
    assert!(!refused.is_empty());
}

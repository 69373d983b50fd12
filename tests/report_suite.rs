//! Runs of several shards under one index, and which runs stay when old ones are removed.
#![allow(clippy::unwrap_used)]

use crate::support::golden;

use golden::Golden;
use lockdrill::report::{self, merge, retain};
use std::fs;
use std::path::{Path, PathBuf};

fn named(name: &str) -> Golden {
    let mut all = golden::all().into_iter();
    all.find(|run| run.name == name).unwrap()
}

fn put(name: &str, root: &Path, id: &str, seed: u64) -> PathBuf {
    let mut run = named(name);
    run.arms[0].0.seed = seed;
    "pause".clone_into(&mut run.result.drill);
    let dir = root.join(&run.result.drill).join(id);
    fs::create_dir_all(&dir).unwrap();
    run.write(&dir);
    dir
}

#[test]
fn shards_are_merged_once_and_names_never_collide() {
    let (one, two, out) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    put("pass", one.path(), "20260101T000000Z-0000", 1);
    let second = put("fail", two.path(), "20260101T000000Z-0000", 2);
    fs::create_dir_all(two.path().join("pause/20260101T000000Z-0001")).unwrap();
    let first = merge::merge(one.path(), out.path()).unwrap();
    assert_eq!((first.runs.len(), first.known), (1, 0));
    let other = merge::merge(two.path(), out.path()).unwrap();
    assert_eq!((other.runs.len(), other.known), (1, 0));
    assert_eq!(other.unjudged.len(), 1, "{other:?}");
    let copied = &other.runs[0];
    assert!(
        copied.ends_with("pause/20260101T000000Z-0001"),
        "{copied:?}"
    );
    let kept = report::kept(copied).unwrap();
    assert_eq!(kept.dir, copied.display().to_string());
    assert_eq!(
        fs::read(copied.join("timeline.jsonl")).unwrap(),
        fs::read(second.join("timeline.jsonl")).unwrap()
    );
    for shard in [one.path(), two.path()] {
        let again = merge::merge(shard, out.path()).unwrap();
        assert_eq!((again.runs.len(), again.known), (0, 1));
    }
    report::write_index(out.path()).unwrap();
    let index = fs::read_to_string(out.path().join("index.html")).unwrap();
    assert!(index.contains("1 of 2 runs failed"), "one index over both");
}

#[test]
fn only_green_runs_beyond_the_newest_are_removed() {
    let root = tempfile::tempdir().unwrap();
    let names = [
        "pass",
        "fail",
        "inconclusive",
        "limit",
        "pass",
        "pass",
        "fail",
    ];
    let runs: Vec<PathBuf> = (0..)
        .zip(names)
        .map(|(n, name)| put(name, root.path(), &format!("2026010{n}T000000Z-0000"), n))
        .collect();
    let unjudged = put("pass", root.path(), "20250101T000000Z-0000", 9);
    fs::remove_file(unjudged.join("results.json")).unwrap();
    // The newest two are a pass and a fail; of the older ones two are a pass and one is a limit.
    let live = retain::in_use(root.path()).unwrap();
    let busy = retain::retain(root.path(), 2).unwrap();
    assert_eq!(busy, retain::Retained::Busy);
    assert!(
        runs.iter().all(|run| run.exists()),
        "a live run was touched"
    );
    drop(live);
    let removed = retain::retain(root.path(), 2).unwrap();
    let expected = [4, 3, 0].map(|n| runs[n].clone()).to_vec();
    assert_eq!(removed, retain::Retained::Removed(expected));
    for (n, run) in runs.iter().enumerate() {
        assert_eq!(run.exists(), ![0, 3, 4].contains(&n), "{n}");
    }
    assert!(
        unjudged.exists(),
        "what nobody judged is nobody's to remove"
    );
}

//! Recorded real runs, judged again: the findings must stay what they were, byte for byte. A
//! change of a check that moves one of them is a decision, and shows in the diff of
//! `expected.json`.

use lockdrill::verdict::{self, DrillResult};
use std::path::PathBuf;

fn runs() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/runs");
    let mut runs: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    runs.sort();
    runs
}

fn judged(run: &std::path::Path) -> String {
    let result = verdict::judge_run_dir(run).unwrap();
    let result = DrillResult {
        dir: String::new(),
        ..result
    };
    serde_json::to_string(&result).unwrap()
}

#[test]
fn findings_stay_what_they_were() {
    assert!(runs().len() >= 2);
    for run in runs() {
        let text = std::fs::read_to_string(run.join("expected.json")).unwrap();
        let expected: DrillResult = serde_json::from_str(&text).unwrap();
        let expected = serde_json::to_string(&expected).unwrap();
        assert_eq!(judged(&run), expected, "{}", run.display());
    }
}

#[test]
fn judging_twice_gives_the_same_bytes() {
    for run in runs() {
        assert_eq!(judged(&run), judged(&run));
    }
}

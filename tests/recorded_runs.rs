//! Recorded real runs, judged again: the findings must stay what they were, byte for byte. A
//! change of a check that moves one of them is a decision, and shows in the diff of
//! `expected.json`.

use lockdrill::verdict::{self, DrillResult, Verdict};
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

/// A control that is named and not there makes the drill inconclusive, however well it looks.
#[test]
fn a_run_without_one_of_its_controls_does_not_pass() {
    let run = tempfile::tempdir().unwrap();
    let runs = runs();
    let recorded = runs.iter().find(|run| run.ends_with("pause")).unwrap();
    for name in ["plan.json", "timeline.jsonl"] {
        std::fs::copy(recorded.join(name), run.path().join(name)).unwrap();
    }
    let alone = verdict::judge_run_dir(run.path()).unwrap();
    assert_eq!(alone.verdict, Verdict::Pass, "no control is named");
    let plan = std::fs::read_to_string(run.path().join("plan.json")).unwrap();
    let mut plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    plan["controls"] = serde_json::json!(["unfenced"]);
    std::fs::write(run.path().join("plan.json"), plan.to_string()).unwrap();
    let judged = verdict::judge_run_dir(run.path()).unwrap();
    assert_eq!(judged.verdict, Verdict::Inconclusive);
    assert!(judged.why.contains("unfenced"), "{}", judged.why);
}

//! From findings to verdicts, exit codes, and a run directory judged in one call.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::history as support;
use crate::support::pause_drill;

use assert_cmd::Command;
use lockdrill::checks::{Finding, Outcome};
use lockdrill::exit::Exit;
use lockdrill::plan::{Class, Control, Limit, Plan};
use lockdrill::verdict::{
    ArmResult, NotRun, Protection, Summary, Verdict, exit_of, judge_arm, judge_drill, judge_run_dir,
};
use pause_drill::pause_drill;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use support::*;

fn finding(check: &str, outcome: Outcome, by: &[&str]) -> Finding {
    Finding {
        check: check.to_owned(),
        outcome,
        why: format!("why {check}"),
        events: vec![1],
        by: by.iter().map(|name| (*name).to_owned()).collect(),
        vacuous: false,
    }
}

/// Everything holds but what is named.
fn findings(changed: &[Finding]) -> Vec<Finding> {
    let names = [
        "evidence",
        "records_agree",
        "single_holder",
        "no_stale_write",
        "no_lost_update",
    ];
    names
        .iter()
        .map(|name| {
            let changed = changed.iter().find(|finding| finding.check == *name);
            changed
                .cloned()
                .unwrap_or_else(|| finding(name, Outcome::Holds, &[]))
        })
        .collect()
}

fn violated(check: &str) -> Finding {
    finding(check, Outcome::Violated, &["a"])
}

fn unknown(check: &str) -> Finding {
    finding(check, Outcome::Unknown, &[])
}

fn arm(plan: &Plan, changed: &[Finding]) -> ArmResult {
    judge_arm(plan, findings(changed), Protection::Kept)
}

fn untested(check: &str) -> Finding {
    Finding {
        vacuous: true,
        ..finding(check, Outcome::Holds, &[])
    }
}

fn main_plan() -> Plan {
    let mut plan = plan(&["a", "b"]);
    plan.required_checks = vec!["no_stale_write".to_owned()];
    plan.optional_checks = vec!["recovers".to_owned()];
    plan
}

fn limit_plan() -> Plan {
    let mut plan = main_plan();
    plan.limit = Some(Limit {
        checks: vec!["single_holder".to_owned()],
        why: "asynchronous failover loses grants".to_owned(),
    });
    plan
}

fn control_plan(also: &[&str]) -> Plan {
    let mut plan = main_plan();
    plan.arm = "unfenced".to_owned();
    plan.control = Some(Control {
        path: "store.fence".to_owned(),
        from: "atomic".into(),
        to: "off".into(),
        check: "no_stale_write".to_owned(),
        by: "a".to_owned(),
        also: also.iter().map(|check| (*check).to_owned()).collect(),
    });
    plan
}

#[test]
fn what_decides_the_verdict_of_an_arm() {
    let verdict = |changed: &[Finding]| arm(&main_plan(), changed).verdict.unwrap();
    assert_eq!(verdict(&[]), Verdict::Pass);
    assert_eq!(verdict(&[violated("single_holder")]), Verdict::Fail);
    assert_eq!(verdict(&[unknown("evidence")]), Verdict::Inconclusive);
    // A violation stands without the evidence.
    assert_eq!(
        verdict(&[unknown("evidence"), violated("single_holder")]),
        Verdict::Fail
    );
    assert_eq!(verdict(&[unknown("no_stale_write")]), Verdict::Inconclusive);
    assert_eq!(
        verdict(&[unknown("recovers")]),
        Verdict::Pass,
        "it is optional"
    );
    assert_eq!(
        verdict(&[untested("no_stale_write")]),
        Verdict::Inconclusive
    );
    assert_eq!(
        verdict(&[untested("no_lost_update")]),
        Verdict::Pass,
        "nobody asked to put it to the test"
    );
    let mut plan = main_plan();
    plan.required_checks.push("no_such_check".to_owned());
    assert_eq!(arm(&plan, &[]).verdict, Some(Verdict::Inconclusive));
}

/// Evidence gates every pass, whatever the file calls optional.
#[test]
fn evidence_is_never_optional() {
    let mut plan = main_plan();
    plan.optional_checks = vec!["evidence".to_owned()];
    let verdict = arm(&plan, &[unknown("evidence")]).verdict;
    assert_eq!(verdict, Some(Verdict::Inconclusive));
}

#[test]
fn a_record_that_contradicts_itself_is_our_own_defect() {
    let result = arm(
        &main_plan(),
        &[violated("records_agree"), violated("single_holder")],
    );
    assert_eq!(result.verdict, Some(Verdict::Inconclusive));
    assert_eq!(result.defect.as_deref(), Some("why records_agree"));
    let summary = Summary::of(vec![judge_drill("d", String::new(), vec![result])]);
    assert_eq!(exit_of(&summary), Exit::Bug);
}

#[test]
fn a_limit_must_be_reached() {
    let verdict = |changed: &[Finding]| arm(&limit_plan(), changed).verdict.unwrap();
    assert_eq!(verdict(&[violated("single_holder")]), Verdict::Limit);
    assert_eq!(verdict(&[]), Verdict::Fail, "the file is wrong");
    assert_eq!(verdict(&[unknown("single_holder")]), Verdict::Inconclusive);
    let both = [violated("single_holder"), violated("no_stale_write")];
    assert_eq!(verdict(&both), Verdict::Fail);
    let unproven = [violated("single_holder"), unknown("evidence")];
    assert_eq!(verdict(&unproven), Verdict::Inconclusive);
    assert_eq!(arm(&limit_plan(), &[]).expected, Verdict::Limit);
}

#[test]
fn where_a_lost_lock_only_costs_work_belief_is_a_warning() {
    let mut plan = main_plan();
    plan.class = Class::Efficiency;
    let result = arm(&plan, &[violated("single_holder")]);
    assert_eq!(result.verdict, Some(Verdict::Pass));
    assert!(result.why.contains("warning"), "{}", result.why);
    let result = arm(&plan, &[violated("no_stale_write")]);
    assert_eq!(result.verdict, Some(Verdict::Fail));
}

#[test]
fn a_control_is_red_for_its_own_reason_only() {
    let red = |also: &[&str], changed: &[Finding]| {
        let result = arm(&control_plan(also), changed);
        assert_eq!(result.expected, Verdict::Fail);
        (result.verdict.unwrap(), result.red_as_required.unwrap())
    };
    let stale = violated("no_stale_write");
    assert_eq!(
        red(&[], std::slice::from_ref(&stale)),
        (Verdict::Fail, true)
    );
    // Nothing went red, something else did, or more than was said.
    assert_eq!(red(&[], &[]), (Verdict::Pass, false));
    assert_eq!(
        red(&[], &[violated("no_lost_update")]),
        (Verdict::Fail, false)
    );
    let both = [stale.clone(), violated("no_lost_update")];
    assert_eq!(red(&[], &both), (Verdict::Fail, false));
    assert_eq!(red(&["no_lost_update"], &both), (Verdict::Fail, true));
    // Another witness.
    let other = finding("no_stale_write", Outcome::Violated, &["b"]);
    assert_eq!(red(&[], &[other]), (Verdict::Fail, false));
    // Its own evidence is missing.
    assert_eq!(
        red(&[], &[stale.clone(), unknown("evidence")]),
        (Verdict::Fail, false)
    );
    let defect = [stale, violated("records_agree")];
    assert_eq!(red(&[], &defect), (Verdict::Inconclusive, false));
}

#[test]
fn a_drill_passes_iff_main_passes_and_every_control_is_red() {
    let passing = || arm(&main_plan(), &[]);
    let failing = || arm(&main_plan(), &[violated("single_holder")]);
    let red = || arm(&control_plan(&[]), &[violated("no_stale_write")]);
    let dead = || arm(&control_plan(&[]), &[]);
    let skipped = || ArmResult {
        verdict: None,
        status: "skipped".to_owned(),
        red_as_required: None,
        ..dead()
    };
    let lost = || ArmResult {
        verdict: None,
        red_as_required: None,
        ..dead()
    };
    let drill = |arms| judge_drill("d", "/r".to_owned(), arms).verdict;
    assert_eq!(drill(vec![passing(), red()]), Verdict::Pass);
    assert_eq!(drill(vec![passing()]), Verdict::Pass);
    assert_eq!(drill(vec![passing(), skipped()]), Verdict::Pass);
    assert_eq!(drill(vec![passing(), dead()]), Verdict::Inconclusive);
    assert_eq!(drill(vec![passing(), red(), dead()]), Verdict::Inconclusive);
    assert_eq!(drill(vec![passing(), lost()]), Verdict::Inconclusive);
    assert_eq!(drill(vec![failing(), dead()]), Verdict::Fail);
    assert_eq!(drill(vec![red()]), Verdict::Inconclusive, "no main arm");
}

#[test]
fn the_worst_drill_decides_the_command() {
    let drill = |verdict| {
        let mut drill = judge_drill("d", String::new(), vec![arm(&main_plan(), &[])]);
        drill.verdict = verdict;
        drill
    };
    let exit = |verdicts: &[Verdict]| {
        exit_of(&Summary::of(
            verdicts.iter().map(|verdict| drill(*verdict)).collect(),
        ))
    };
    assert_eq!(exit(&[Verdict::Pass, Verdict::Limit]), Exit::Ok);
    assert_eq!(
        exit(&[Verdict::Pass, Verdict::Inconclusive]),
        Exit::Inconclusive
    );
    assert_eq!(
        exit(&[Verdict::Inconclusive, Verdict::Fail, Verdict::Pass]),
        Exit::Fail
    );
}

// ---- a run directory ----

fn write_arm(dir: &Path, record: &Record) {
    fs::create_dir_all(dir).unwrap();
    fs::write(
        dir.join("plan.json"),
        serde_json::to_vec(&record.plan).unwrap(),
    )
    .unwrap();
    let lines = record.finished();
    let lines = lines
        .iter()
        .map(|line| serde_json::to_string(line).unwrap() + "\n");
    fs::write(dir.join("timeline.jsonl"), lines.collect::<String>()).unwrap();
}

fn control_of(mut record: Record) -> Record {
    record.plan.arm = "unfenced".to_owned();
    record.plan.control = control_plan(&["no_lost_update"]).control;
    if let lockdrill::timeline::event::Event::Start { arm, .. } = &mut record.lines[0].event {
        *arm = "unfenced".to_owned();
    }
    record
}

fn run_dir(control: Option<Record>) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    write_arm(dir.path(), &pause_drill(false));
    if let Some(control) = control {
        write_arm(&dir.path().join("arms/unfenced"), &control_of(control));
    }
    dir
}

/// Every file below a folder with its bytes.
fn contents(dir: &Path) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    all
}

#[test]
fn a_run_directory_is_judged_in_one_call() {
    let dir = run_dir(Some(pause_drill(true)));
    let drill = judge_run_dir(dir.path()).unwrap();
    assert_eq!(drill.arms.len(), 2);
    assert_eq!(
        (drill.verdict, drill.protection),
        (Verdict::Pass, Protection::KeptByFencing),
        "{drill:#?}"
    );
    assert_eq!(
        drill.arms[1].red_as_required,
        Some(true),
        "{:#?}",
        drill.arms[1]
    );
    assert_eq!(drill.arms[1].protection, Protection::Lost);
    assert!(Path::new(&drill.dir).is_absolute());
}

#[test]
fn recheck_prints_the_contract_and_changes_nothing() {
    let dir = run_dir(Some(pause_drill(true)));
    let before = contents(dir.path());
    let mut recheck = Command::cargo_bin("lockdrill").unwrap();
    let out = recheck
        .args(["recheck", "--json"])
        .arg(dir.path())
        .assert()
        .code(0);
    let text = String::from_utf8(out.get_output().stdout.clone()).unwrap();
    let summary: Summary = serde_json::from_str(&text).unwrap();
    assert_eq!(summary.drills[0], judge_run_dir(dir.path()).unwrap());
    assert_eq!(contents(dir.path()), before);
    let mut recheck = Command::cargo_bin("lockdrill").unwrap();
    let out = recheck.arg("recheck").arg(dir.path()).assert().code(0);
    let text = String::from_utf8(out.get_output().stdout.clone()).unwrap();
    assert!(
        text.contains("PASS story, protection of the work: kept by fencing"),
        "{text}"
    );
}

#[test]
fn recheck_has_the_exit_codes_of_run() {
    let code = |dir: &Path| {
        let mut recheck = Command::cargo_bin("lockdrill").unwrap();
        let out = recheck.arg("recheck").arg(dir).output().unwrap();
        out.status.code().unwrap()
    };
    let dead_control = run_dir(Some(pause_drill(false)));
    assert_eq!(code(dead_control.path()), 3);
    let failing = tempfile::tempdir().unwrap();
    write_arm(failing.path(), &pause_drill(true));
    assert_eq!(code(failing.path()), 1);
    let damaged = run_dir(None);
    let path = damaged.path().join("timeline.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&path, [&lines[..5], &lines[6..]].concat().join("\n")).unwrap();
    assert_eq!(code(damaged.path()), 70);
    // A record that breaks off, here in the middle of a line, proves nothing.
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    assert_eq!(code(damaged.path()), 3);
    assert_eq!(code(&damaged.path().join("nowhere")), 2);
    fs::write(&path, text.replace("\"format\":1", "\"format\":99")).unwrap();
    assert_eq!(code(damaged.path()), 2);
}

/// What happened to a record after it was written is not our own defect: it is refused, with the
/// number of the line.
#[test]
fn recheck_refuses_a_damaged_record_and_names_the_line() {
    let dir = run_dir(None);
    let path = dir.path().join("timeline.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let whole: Vec<&str> = text.lines().collect();
    let doubled = [&whole[..6], &whole[5..]].concat();
    let reversed: Vec<&str> = whole.iter().rev().copied().collect();
    let foreign = [&whole[..5], &["-- cut here --"], &whole[5..]].concat();
    let twice = [&whole[..], &whole[..]].concat();
    let end = whole.len() + 1;
    for (lines, number) in [(doubled, 7), (reversed, 2), (foreign, 6), (twice, end)] {
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let mut recheck = Command::cargo_bin("lockdrill").unwrap();
        let out = recheck.arg("recheck").arg(dir.path()).assert().code(2);
        let told = String::from_utf8(out.get_output().stderr.clone()).unwrap();
        let named = format!("the record is damaged: line {number} ");
        assert!(told.contains(&named), "{named}: {told}");
    }
}

#[test]
fn an_arm_that_was_skipped_says_so_and_one_that_vanished_counts() {
    let dir = run_dir(Some(pause_drill(true)));
    let arm = dir.path().join("arms/unfenced");
    fs::remove_file(arm.join("timeline.jsonl")).unwrap();
    let drill = judge_run_dir(dir.path()).unwrap();
    assert_eq!(drill.verdict, Verdict::Inconclusive, "{drill:#?}");
    let told = r#"{"status":"not applicable","why":"etcd has no counter"}"#;
    fs::write(arm.join("not-run.json"), told).unwrap();
    let drill = judge_run_dir(dir.path()).unwrap();
    assert_eq!(drill.verdict, Verdict::Pass, "{drill:#?}");
    assert_eq!(drill.arms[1].status, "not applicable");
}

/// A link to itself: it is there, and cannot be opened.
fn closed(path: &Path) {
    let _ = fs::remove_file(path);
    std::os::unix::fs::symlink(path, path).unwrap();
}

fn why_not(dir: &Path) -> String {
    judge_run_dir(dir).unwrap_err().to_string()
}

#[test]
fn what_is_there_and_cannot_be_read_is_not_taken_for_missing() {
    for name in [
        "plan.json",
        "timeline.jsonl",
        "arms/unfenced/timeline.jsonl",
    ] {
        let dir = run_dir(Some(pause_drill(true)));
        closed(&dir.path().join(name));
        assert!(
            why_not(dir.path()).contains(name),
            "{}",
            why_not(dir.path())
        );
        assert!(why_not(dir.path()).contains("cannot read"), "{name}");
    }
    let dir = run_dir(Some(pause_drill(true)));
    fs::remove_file(dir.path().join("arms/unfenced/timeline.jsonl")).unwrap();
    closed(&dir.path().join("arms/unfenced/not-run.json"));
    assert!(why_not(dir.path()).contains("cannot read"));
}

#[test]
fn a_folder_without_a_plan_or_with_a_newer_one_is_refused() {
    let dir = run_dir(None);
    let path = dir.path().join("plan.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"format\":1", "\"format\":99")).unwrap();
    assert!(why_not(dir.path()).contains("it has format 99; this lockdrill reads up to 1"));
    fs::remove_file(&path).unwrap();
    assert!(why_not(dir.path()).contains("is not a run directory"));
}

/// Arms that the plan does not name are judged if they are arms, each once.
#[test]
fn every_arm_that_is_there_is_judged_once() {
    let mut main = pause_drill(false);
    main.plan.controls = vec!["unfenced".to_owned()];
    let dir = tempfile::tempdir().unwrap();
    write_arm(dir.path(), &main);
    let arms = dir.path().join("arms");
    write_arm(&arms.join("unfenced"), &control_of(pause_drill(true)));
    fs::create_dir_all(arms.join("scribbles")).unwrap();
    let skipped = NotRun {
        status: "skipped".to_owned(),
        why: "left out".to_owned(),
    };
    skipped.write(&arms.join("extra")).unwrap();
    let drill = judge_run_dir(dir.path()).unwrap();
    let told: Vec<(&str, &str)> = drill
        .arms
        .iter()
        .map(|arm| (&*arm.arm, &*arm.status))
        .collect();
    assert_eq!(
        told,
        [("main", "run"), ("unfenced", "run"), ("extra", "skipped")]
    );
}

#[test]
fn executions_that_were_repeated_are_told_in_order() {
    let dir = run_dir(None);
    for (number, reason) in [(1, "interrupted"), (2, "patience")] {
        let mut noisy = pause_drill(false);
        noisy.ends(4000, reason);
        write_arm(&dir.path().join(format!("attempts/{number}")), &noisy);
    }
    let earlier = &judge_run_dir(dir.path()).unwrap().arms[0].earlier_attempts;
    assert_eq!(earlier.len(), 2);
    assert!(earlier[0].contains("interrupted") && earlier[1].contains("patience"));
}

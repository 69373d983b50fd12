//! Drills against lock back ends: the cells from literal results, what a page says of them, and what
//! is read of a folder of runs.
#![allow(clippy::unwrap_used)]

use crate::support::golden;

use lockdrill::report::matrix::{self, Fit, Matrix, State};
use lockdrill::report::past::{Entry, FORMAT, file, remember};
use lockdrill::report::words::FORBIDDEN;
use lockdrill::verdict::{Protection, Verdict};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn fit(drill: &str, lock: &str, plan: Result<&str, &str>) -> Fit {
    Fit {
        drill: drill.to_owned(),
        lock: lock.to_owned(),
        plan: plan.map(str::to_owned).map_err(str::to_owned),
    }
}

/// One execution; `at` is the day and tells it from others.
fn ran(drill: &str, lock: &str, (at, verdict): (&str, Verdict)) -> Entry {
    Entry {
        format: FORMAT,
        id: format!("{drill}-{lock}-{at}-{verdict}"),
        drill: drill.to_owned(),
        run: format!("run-{at}"),
        at: format!("{at}T01:02:03Z"),
        plan: "as it is".to_owned(),
        lab: "0.1.0".to_owned(),
        lock: lock.to_owned(),
        store: "sqlite".to_owned(),
        seed: 0,
        verdict,
        protection: Protection::KeptByFencing,
        controls: BTreeMap::from([
            ("unfenced".to_owned(), Some(true)),
            ("other".to_owned(), None),
        ]),
        attempts: 1,
        checks: BTreeMap::new(),
        limit: Vec::new(),
        figures: BTreeMap::new(),
        why: "because.".to_owned(),
    }
}

fn suite() -> Vec<Fit> {
    vec![
        fit("nap", "one", Ok("as it is")),
        fit("nap", "two", Err("it has no clock")),
        fit("fire", "one", Ok("as it is")),
        fit("fire", "two", Ok("as it is")),
    ]
}

fn cell<'m>(matrix: &'m Matrix, drill: &str, lock: &str) -> &'m matrix::Cell {
    let row = matrix.drills.iter().find(|row| row.drill == drill).unwrap();
    row.cells.iter().find(|cell| cell.lock == lock).unwrap()
}

#[test]
fn every_state_is_told_apart_and_nothing_played_is_no_pass() {
    for (verdict, state) in [
        (Verdict::Pass, State::Pass),
        (Verdict::Limit, State::Limit),
        (Verdict::Fail, State::Fail),
        (Verdict::Inconclusive, State::Inconclusive),
    ] {
        let matrix = matrix::build(&suite(), &[ran("nap", "one", ("2026-01-01", verdict))]);
        let played = cell(&matrix, "nap", "one");
        assert_eq!((played.state, played.k, played.n), (state, 1, 1));
        assert_eq!(played.saved, "fence");
        assert_eq!((played.controls_red, played.controls), (1, 2));
        assert!(played.why.starts_with("because"), "{}", played.why);
        let out = cell(&matrix, "nap", "two");
        assert_eq!(out.state, State::NotApplicable);
        assert_eq!(out.why, "it has no clock");
        let open = cell(&matrix, "fire", "two");
        assert_eq!((open.state, open.n), (State::NotPlayed, 0));
        assert!(!open.is_played() && open.saved.is_empty());
        assert_eq!(matrix.count(0, state), 1);
        assert_eq!(matrix.count(1, State::Pass), 0);
        // As a machine reads it.
        let json = serde_json::to_value(&matrix).unwrap();
        assert_eq!(json["drills"][0]["cells"][1]["state"], "not played");
        assert_eq!(json["drills"][1]["cells"][1]["state"], "not applicable");
    }
}

#[test]
fn executions_of_one_plan_are_counted_and_the_worst_of_the_last_night_stands() {
    let night = |day, verdicts: &[Verdict]| -> Vec<Entry> {
        let number = |(n, verdict): (usize, &Verdict)| Entry {
            run: format!("run-{day}-{n}"),
            id: format!("{day}-{n}"),
            ..ran("nap", "one", (day, *verdict))
        };
        verdicts.iter().enumerate().map(number).collect()
    };
    use Verdict::{Fail, Inconclusive, Pass};
    let seen = |nights: &[Vec<Entry>]| {
        let matrix = matrix::build(&suite(), &nights.concat());
        let cell = cell(&matrix, "nap", "one");
        let run = cell.run.clone().unwrap();
        (
            cell.state,
            (cell.k, cell.n),
            (cell.failed, cell.inconclusive),
            run,
        )
    };
    let first = night("2026-01-01", &[Pass, Fail, Pass]);
    assert_eq!(
        seen(std::slice::from_ref(&first)),
        (State::Fail, (1, 3), (1, 0), "run-2026-01-01-1".to_owned())
    );
    // A better night does not hide the one before: it stays in the count.
    let better = night("2026-01-02", &[Pass, Pass]);
    assert_eq!(
        seen(&[first.clone(), better.clone()]),
        (State::Pass, (4, 5), (1, 0), "run-2026-01-02-1".to_owned())
    );
    // What could not tell is no answer, and is said.
    let open = night("2026-01-03", &[Pass, Inconclusive]);
    assert_eq!(
        seen(&[first, better, open]),
        (
            State::Inconclusive,
            (1, 7),
            (1, 1),
            "run-2026-01-03-1".to_owned()
        )
    );
    let mixed = night("2026-01-03", &[Inconclusive, Fail]);
    assert_eq!(
        seen(&[mixed]),
        (State::Fail, (1, 1), (1, 1), "run-2026-01-03-1".to_owned())
    );
}

#[test]
fn a_run_with_other_settings_is_no_run_of_this_cell() {
    let other = Entry {
        plan: "another".to_owned(),
        ..ran("nap", "one", ("2026-01-02", Verdict::Fail))
    };
    let matrix = matrix::build(&suite(), std::slice::from_ref(&other));
    let open = cell(&matrix, "nap", "one");
    assert_eq!((open.state, open.other), (State::NotPlayed, 1));
    assert!(
        open.why.contains("1 execution of another plan"),
        "{}",
        open.why
    );
    let good = ran("nap", "one", ("2026-01-01", Verdict::Pass));
    let matrix = matrix::build(&suite(), &[good, other]);
    let played = cell(&matrix, "nap", "one");
    assert_eq!((played.state, played.n, played.other), (State::Pass, 1, 1));
    assert_eq!(played.failed, 0);
}

#[test]
fn what_only_the_history_knows_is_shown_too_and_a_lock_for_no_drill_is_told() {
    let mut suite = suite();
    suite.push(fit("nap", "none", Err("it is alone")));
    suite.push(fit("fire", "none", Err("it is alone")));
    let mine = ran("mine", "foreign", ("2026-01-01", Verdict::Pass));
    let matrix = matrix::build(&suite, &[mine]);
    let names: Vec<_> = matrix.locks.iter().map(|lock| &*lock.name).collect();
    assert_eq!(names, ["one", "two", "none", "foreign"]);
    assert_eq!(matrix.locks[2].none.as_deref(), Some("it is alone"));
    assert_eq!(matrix.shown(), [0, 1, 3]);
    assert_eq!(cell(&matrix, "mine", "foreign").state, State::Pass);
    assert_eq!(cell(&matrix, "mine", "one").state, State::NotPlayed);
    let text = matrix::text(&matrix);
    assert!(
        text.contains("none: no drill can be played on it: it is alone"),
        "{text}"
    );
    assert!(text.contains("foreign: 1 pass, 2 not played"), "{text}");
}

#[test]
fn a_line_that_cannot_be_read_loses_only_itself() {
    let root = tempfile::tempdir().unwrap();
    let entries = vec![
        ran("nap", "one", ("2026-01-01", Verdict::Pass)),
        ran("nap", "one", ("2026-01-02", Verdict::Pass)),
        ran("fire", "one", ("2026-01-02", Verdict::Limit)),
    ];
    file::append(root.path(), entries).unwrap();
    let path = root.path().join(file::FILE);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("{\"format\"", "{format", 1)).unwrap();
    let matrix = matrix::read(root.path(), &suite()).unwrap();
    assert_eq!(matrix.lost_lines, 1);
    let nap = cell(&matrix, "nap", "one");
    assert_eq!((nap.state, nap.k, nap.n), (State::Pass, 1, 1));
    assert_eq!(cell(&matrix, "fire", "one").state, State::Limit);
    let page = matrix::page(&matrix).into_string();
    assert!(page.contains("1 line of the history could not be read"));
    assert!(matrix::text(&matrix).contains("1 line of the history"));
}

#[test]
fn foreign_content_stays_text_and_a_path_out_of_the_folder_is_no_link() {
    let root = tempfile::tempdir().unwrap();
    let evil = "<script>alert(1)</script>\" onload=\"x";
    fs::create_dir_all(root.path().join("away/run")).unwrap();
    fs::write(root.path().join("away/run/report.html"), "").unwrap();
    let mut hostile = ran(evil, evil, ("2026-01-01", Verdict::Fail));
    hostile.why = format!("{evil} & more");
    let mut leads_out = ran("../away", "one", ("2026-01-01", Verdict::Fail));
    leads_out.run = "run".to_owned();
    let inner = root.path().join("inner");
    fs::create_dir(&inner).unwrap();
    file::append(&inner, vec![hostile, leads_out]).unwrap();
    let matrix = matrix::read(&inner, &[]).unwrap();
    assert_eq!(cell(&matrix, "../away", "one").report, None);
    let page = matrix::page(&matrix).into_string();
    // The page's own script is the only one.
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert!(
        !page.contains("\" onload"),
        "an attribute was broken out of"
    );
    assert!(!page.contains("away/run/report.html"));
    assert!(matrix::picture(&matrix).label.contains(evil));
}

fn put(root: &Path, name: &str) -> golden::Golden {
    let mut all = golden::all().into_iter();
    let run = all.find(|run| run.name == name).unwrap();
    let dir = root.join(&run.result.drill).join(run.name);
    fs::create_dir_all(&dir).unwrap();
    run.write(&dir);
    fs::write(dir.join("report.html"), "").unwrap();
    remember(root, [(dir.as_path(), &run.result)]).unwrap();
    run
}

#[test]
fn what_saved_the_work_is_read_from_the_run_and_its_report_is_linked() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "pass");
    put(root.path(), "limit");
    let made = matrix::read(root.path(), &[]).unwrap();
    let pause = cell(&made, "pause", "redis");
    assert_eq!((pause.state, pause.saved.as_str()), (State::Pass, "fence"));
    assert!(
        pause.why.contains("the store's fence (atomic)"),
        "{}",
        pause.why
    );
    let flush = cell(&made, "flush", "redis");
    assert_eq!(
        (flush.state, flush.saved.as_str()),
        (State::Limit, "nothing")
    );
    assert!(flush.why.contains("cannot be held here"), "{}", flush.why);
    let page = matrix::page(&made).into_string();
    assert!(page.contains("href=\"pause/pass/report.html\""));
    assert!(
        page.contains("1 of 1 ended so (2.5 % to 100 %)"),
        "the interval"
    );
    assert!(page.contains("1 of 1 control red, as required"));
    for word in FORBIDDEN.iter().chain(&["safe"]) {
        assert!(
            !page.contains(word) && !matrix::text(&made).contains(word),
            "{word}"
        );
    }
    assert!(
        matrix::write(root.path(), &made)
            .unwrap()
            .ends_with("matrix.html")
    );
    let png = fs::read(root.path().join(matrix::PICTURE)).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    // A run that was removed leaves what the history has of it, and no link.
    fs::remove_dir_all(root.path().join("pause/pass")).unwrap();
    let made = matrix::read(root.path(), &[]).unwrap();
    let pause = cell(&made, "pause", "redis");
    assert_eq!((pause.state, pause.saved.as_str()), (State::Pass, "fence"));
    assert_eq!(pause.report, None);
    assert!(
        matrix::page(&made)
            .into_string()
            .contains("its run was removed")
    );
}

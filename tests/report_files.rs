//! The files beside the page: pictures, JUnit, results, the index of all runs; and what happens
//! when one of them, or the record, is broken.
#![allow(clippy::unwrap_used)]

use crate::support::golden;

use golden::{Golden, look};
use lockdrill::report::{self, html, junit, model::Model};
use lockdrill::verdict::{DrillResult, LeftOut, Summary, Verdict};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn named(name: &str) -> Golden {
    golden::all()
        .into_iter()
        .find(|run| run.name == name)
        .unwrap()
}

fn put(run: &Golden, root: &Path, id: &str) -> PathBuf {
    let dir = root.join(&run.result.drill).join(id);
    fs::create_dir_all(&dir).unwrap();
    run.write(&dir);
    dir
}

#[test]
fn the_picture_is_1600_pixels_wide_and_links_lead_into_the_page() {
    let root = tempfile::tempdir().unwrap();
    let run = named("pass");
    let dir = put(&run, root.path(), "one");
    let written = report::write_all(&dir, &run.result).unwrap();
    assert!(written.failed.is_empty(), "{:?}", written.failed);
    let png = fs::read(dir.join("timeline.png")).unwrap();
    assert_eq!(&png[1..4], b"PNG");
    assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 1600);
    let svg = fs::read_to_string(dir.join("timeline.svg")).unwrap();
    let page = fs::read_to_string(dir.join("report.html")).unwrap();
    let ids = look::attributes(&page, "id");
    let hrefs = look::attributes(&svg, "href");
    assert!(!hrefs.is_empty());
    for href in hrefs {
        let id = href.strip_prefix("report.html#").unwrap();
        assert!(ids.contains(&id), "{href} leads nowhere");
    }
}

#[test]
fn a_writer_that_fails_does_not_stop_the_others() {
    let root = tempfile::tempdir().unwrap();
    let run = named("limit");
    let dir = put(&run, root.path(), "one");
    fs::create_dir(dir.join("report.html")).unwrap();
    fs::write(dir.join("report.html/in-the-way"), "").unwrap();
    let written = report::write_all(&dir, &run.result).unwrap();
    let failed: Vec<&str> = written.failed.iter().map(|(name, _)| *name).collect();
    assert_eq!(failed, ["report.html"]);
    for file in [
        "results.json",
        "junit.xml",
        "timeline.svg",
        "timeline.png",
        "../../index.html",
    ] {
        assert!(dir.join(file).is_file(), "{file}");
    }
}

#[test]
fn drawing_again_gives_the_same_files() {
    let root = tempfile::tempdir().unwrap();
    let run = named("dead-control");
    let dir = put(&run, root.path(), "one");
    let written = report::write_all(&dir, &run.result).unwrap();
    let read = || {
        written
            .files
            .iter()
            .map(|file| fs::read(file).unwrap())
            .collect::<Vec<_>>()
    };
    let first = read();
    report::redraw(&dir).unwrap();
    assert!(read() == first, "a file differs");
    let result: DrillResult = serde_json::from_slice(&first[0]).unwrap();
    assert_eq!(result, run.result);
}

#[test]
fn a_directory_that_is_no_run_is_refused() {
    let root = tempfile::tempdir().unwrap();
    assert!(report::redraw(root.path()).is_err());
    assert!(report::redraw(&root.path().join("nothing")).is_err());
}

/// Status of each case: `pass`, or the element that says otherwise.
fn cases(xml: &str) -> Vec<(String, &'static str)> {
    let cases = xml.split("<testcase ").skip(1);
    let read = cases.map(|case| {
        let case = case.split("</testcase>").next().unwrap();
        let name = case
            .split("name=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        let kinds = ["failure", "error", "skipped"];
        let kind = kinds
            .into_iter()
            .find(|kind| case.contains(&format!("<{kind}")));
        (name.to_owned(), kind.unwrap_or("pass"))
    });
    read.collect()
}

#[test]
fn junit_tells_the_verdicts_apart() {
    let status = |run: &str, case: &str| {
        let xml = junit::document(&Summary::of(vec![named(run).result])).unwrap();
        let all = cases(&xml);
        all.into_iter().find(|(name, _)| name == case).unwrap().1
    };
    assert_eq!(status("pass", "verdict"), "pass");
    assert_eq!(status("pass", "no_stale_write"), "pass");
    assert_eq!(status("pass", "control unfenced"), "pass");
    assert_eq!(status("fail", "verdict"), "failure");
    assert_eq!(status("fail", "no_stale_write"), "failure");
    assert_eq!(status("limit", "verdict"), "skipped");
    assert_eq!(status("limit", "single_holder"), "skipped");
    assert_eq!(status("inconclusive", "verdict"), "error");
    assert_eq!(status("inconclusive", "evidence"), "error");
    assert_eq!(status("inconclusive", "control unfenced"), "skipped");
    assert_eq!(status("dead-control", "control unfenced"), "error");
    assert_eq!(status("noisy-host", "single_holder"), "error");
}

#[test]
fn junit_over_several_drills_is_one_file() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("all.xml");
    let results: Vec<DrillResult> = golden::all().into_iter().map(|run| run.result).collect();
    let mut summary = Summary::of(results);
    junit::write(&file, &summary).unwrap();
    let xml = fs::read_to_string(&file).unwrap();
    assert_eq!(xml.matches("<testsuite ").count(), summary.drills.len());

    summary.not_applicable.push(LeftOut {
        drill: "restart".to_owned(),
        why: "the server is not the lab's".to_owned(),
    });
    junit::write(&file, &summary).unwrap();
    let xml = fs::read_to_string(&file).unwrap();
    let (_, restart) = xml.split_once("<testsuite name=\"restart\"").unwrap();
    assert!(
        restart.contains("not applicable: the server is not the lab"),
        "{restart}"
    );
    assert_eq!(cases(restart), [("verdict".to_owned(), "skipped")]);
}

#[test]
fn a_broken_run_loses_only_its_own_line_of_the_index() {
    let root = tempfile::tempdir().unwrap();
    let run = named("pass");
    let broken = put(&run, root.path(), "20260101-000000-1");
    fs::write(broken.join("results.json"), "{\"drill\": 3").unwrap();
    put(&named("fail"), root.path(), "20260102-000000-1");
    let last = put(&run, root.path(), "20260103-000000-1");
    report::write_all(&last, &run.result).unwrap();
    let index = fs::read_to_string(root.path().join("index.html")).unwrap();
    assert!(index.contains("unreadable"));
    assert!(index.contains("1 of 2 runs failed"));
    for id in [
        "20260101-000000-1",
        "20260102-000000-1",
        "20260103-000000-1",
    ] {
        assert!(
            index.contains(&format!("href=\"pause/{id}/report.html\"")),
            "{id}"
        );
    }
}

#[test]
fn runs_of_the_same_schedule_are_counted_together() {
    let root = tempfile::tempdir().unwrap();
    let mut run = named("pass");
    for seed in 1..=9 {
        run.arms[0].0.seed = seed;
        put(&run, root.path(), &format!("2026010{seed}-000000-1"));
    }
    // Another fence is another schedule.
    put(&named("fail"), root.path(), "20260201-000000-1");
    run.arms[0].0.seed = 10;
    let last = put(&run, root.path(), "20260301-000000-1");
    let page = html::page(&Model::read(&last, &run.result).unwrap()).unwrap();
    assert!(page.contains(
        "In these 10 runs, with these faults shown to have happened, no named check was violated."
    ));
    assert!(page.contains("between 0 % and 30.8 %"));
}

#[test]
fn half_a_run_still_has_a_report_that_says_so() {
    let root = tempfile::tempdir().unwrap();
    let run = named("fail");
    let dir = put(&run, root.path(), "one");
    let timeline = dir.join("timeline.jsonl");
    let text = fs::read_to_string(&timeline).unwrap();
    fs::write(&timeline, &text[..text.len() / 2]).unwrap();
    fs::remove_file(dir.join("arms/unfenced/timeline.jsonl")).unwrap();
    fs::write(dir.join("env.json"), "nonsense").unwrap();
    let page = html::page(&Model::read(&dir, &run.result).unwrap()).unwrap();
    assert!(page.contains("Not everything of this run could be read."));
    assert!(page.contains("is torn") && page.contains("there is no timeline"));
    look::follow_links(&page);
}

#[test]
fn a_run_that_was_never_judged_is_told_how_to_be() {
    let root = tempfile::tempdir().unwrap();
    let dir = put(&named("fail"), root.path(), "one");
    fs::remove_file(dir.join("results.json")).unwrap();
    let error = report::redraw(&dir).unwrap_err().to_string();
    let todo = format!("lockdrill recheck {}", dir.display());
    assert!(error.contains(&todo), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Lines in any order, twice or missing, with any time: a page, never a panic, no dead link.
    #[test]
    fn no_record_makes_the_report_panic(
        picks in prop::collection::vec((0_usize..90, any::<u64>(), 0_u8..4), 0..120),
        verdict in 0_u8..4,
    ) {
        let root = tempfile::tempdir().unwrap();
        let mut run = named("noisy-host");
        for (_, lines) in &mut run.arms {
            let all = lines.clone();
            *lines = picks.iter().filter_map(|(index, time, how)| {
                let mut line = all.get(*index)?.clone();
                match how {
                    0 => line.at = *time,
                    1 => line.seq = *time,
                    _ => {}
                }
                Some(line)
            }).collect();
        }
        run.result.verdict = [Verdict::Pass, Verdict::Limit, Verdict::Fail, Verdict::Inconclusive][usize::from(verdict)];
        let page = html::page(&run.model(root.path())).unwrap();
        look::follow_links(&page);
    }
}

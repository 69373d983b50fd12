//! What a page tells beside the findings: what the controls let through, whose update was lost,
//! where to look closely, what a word means, which run of how many this is.
#![allow(clippy::unwrap_used)]

use crate::support::golden;

use golden::{Golden, look};
use lockdrill::report::model::Model;
use lockdrill::report::scene::Scene;
use lockdrill::report::story::{controls, moment, notes};
use lockdrill::report::{self, html};
use lockdrill::timeline::event::Event;
use std::fs;
use std::path::{Path, PathBuf};

fn named(name: &str) -> Golden {
    golden::all()
        .into_iter()
        .find(|run| run.name == name)
        .unwrap()
}

fn model(run: &Golden) -> Model {
    let root = tempfile::tempdir().unwrap();
    run.model(root.path())
}

fn told(run: &Golden) -> String {
    let model = model(run);
    let all = controls::told(&model);
    all[0].1.plain()
}

#[test]
fn a_control_tells_what_it_let_through_or_why_it_tells_nothing() {
    assert!(
        told(&named("pass"))
            .starts_with("without the fence, the stale write of a was accepted at 3.29 s")
    );
    assert!(
        told(&named("dead-control")).starts_with("control unfenced did not go red, as it must")
    );
    assert!(told(&named("inconclusive")).starts_with("control unfenced was skipped"));
    let mut run = named("pass");
    let mut change = run.arms[1].0.control.clone().unwrap();
    change.path = "lock.flaw".into();
    change.to = "blind_release".into();
    run.arms[1].0.control = Some(change);
    assert!(told(&run).starts_with(
        "with the built-in defect blind_release in the lock (release deletes the key"
    ));
}

/// A mark that is drawn over another, or beyond the edge, is no close look.
#[test]
fn the_close_look_holds_the_witness_and_little_else() {
    let model = model(&named("pass"));
    for arm in &model.arms {
        let near = moment::of(arm).unwrap().near.unwrap();
        let whole = arm.scene.to - arm.scene.from;
        assert!(near.to - near.from <= whole / 4);
        assert!(near.writes.iter().any(|write| write.write == "a.write.2"));
    }
    let quiet = self::model(&named("inconclusive"));
    assert!(moment::of(&quiet.arms[0]).is_none(), "nothing was broken");
    assert!(html::page(&quiet).unwrap().contains("No moment stands out"));
}

#[test]
fn a_stale_accepted_write_looks_like_no_other() {
    let page = |name: &str| html::page(&model(&named(name))).unwrap();
    let marks = |page: &str| page.matches("accepted, stale</text>").count();
    // Whole and enlarged, wide and narrow: never dropped, in whatever crowd.
    assert_eq!(marks(&page("pass")), 4);
    assert_eq!(marks(&page("fail")), 8);
    assert_eq!(marks(&page("dead-control")), 0);
    assert!(page("pass").contains(
        "accepted although stale (its fencing token is older, or was used by another grant)"
    ));
    assert!(!page("dead-control").contains(
        "accepted although stale (its fencing token is older, or was used by another grant)"
    ));
}

#[test]
fn the_badge_of_a_red_control_is_not_that_of_a_pass() {
    let page = html::page(&model(&named("pass"))).unwrap();
    assert!(page.contains("<span class=\"tag required\">red, as required</span>"));
    assert!(!page.contains("tag good"));
}

#[test]
fn a_believer_that_was_stopped_is_excused_and_one_that_was_not_is_not() {
    let run = named("pass");
    let stopped = model(&run);
    let note = notes::stopped_believer(&stopped.arms[0].scene).unwrap();
    assert!(
        note.starts_with("0.85 s after its lease had ended a still believed"),
        "{note}"
    );
    let awake = Scene {
        stopped: Vec::new(),
        ..stopped.arms[0].scene.clone()
    };
    assert_eq!(notes::stopped_believer(&awake), None);
}

#[test]
fn seals_are_counted_apart_from_writes() {
    let mut run = named("pass");
    for line in &mut run.arms[0].1 {
        if let Event::StoreAttempt { kind, write, .. } = &mut line.event
            && write == "b.write.2"
        {
            *kind = lockdrill::timeline::event::AttemptKind::Seal;
            *write = "b.seal.1".into();
        }
    }
    let page = html::page(&model(&run)).unwrap();
    assert!(page.contains("3 writes (and 1 <abbr"));
}

fn put(run: &Golden, root: &Path, id: &str) -> PathBuf {
    let dir = root.join(&run.result.drill).join(id);
    fs::create_dir_all(&dir).unwrap();
    run.write(&dir);
    dir
}

#[test]
fn every_page_of_a_repeated_drill_knows_the_others() {
    let root = tempfile::tempdir().unwrap();
    let run = named("pass");
    let ids = [
        "20260101T000000Z-0000",
        "20260101T000000Z-0001",
        "20260101T000000Z-0002",
    ];
    let dirs: Vec<PathBuf> = ids.iter().map(|id| put(&run, root.path(), id)).collect();
    for (index, dir) in dirs.iter().enumerate() {
        report::keep(dir, &run.result).unwrap();
        let page = html::page(&Model::read(dir, &run.result).unwrap()).unwrap();
        assert!(page.contains(&format!("run {} of 3 of this schedule", index + 1)));
        for (other, id) in ids.iter().enumerate() {
            let linked = page.contains(&format!("href=\"../{id}/report.html\""));
            assert_eq!(linked, other != index, "{id} on page {index}");
        }
        look::follow_links(&page);
    }
}

#[test]
fn another_drill_is_named_until_it_was_run_and_then_its_verdict() {
    let root = tempfile::tempdir().unwrap();
    let run = named("pass");
    let dir = put(&run, root.path(), "one");
    let page = || html::page(&Model::read(&dir, &run.result).unwrap()).unwrap();
    assert!(page().contains("<code>lockdrill run late-first</code>"));
    let beside = root.path().join("late-first/one");
    fs::create_dir_all(&beside).unwrap();
    report::keep(&beside, &run.result).unwrap();
    let page = page();
    assert!(!page.contains("<code>lockdrill run late-first</code>"));
    assert!(page.contains("beside this one (verdict: pass)"));
    assert!(page.contains("<a href=\"../../late-first/one/report.html\">"));
}

#[test]
fn each_chart_is_a_picture_file_and_one_without_data_is_none() {
    let root = tempfile::tempdir().unwrap();
    let mut run = named("limit");
    let dir = put(&run, root.path(), "one");
    report::write_all(&dir, &run.result).unwrap();
    for file in ["fencing.png", "margin.png", "latency.png"] {
        assert_eq!(&fs::read(dir.join(file)).unwrap()[1..4], b"PNG", "{file}");
    }
    run.arms[0].1.truncate(3);
    run.write(&dir);
    let written = report::write_all(&dir, &run.result).unwrap();
    assert!(written.failed.is_empty(), "{:?}", written.failed);
    for file in ["fencing.png", "margin.png", "latency.png"] {
        assert!(!dir.join(file).exists(), "{file} shows another record");
    }
}

#[test]
fn nothing_is_folded_on_paper() {
    let page = html::page(&model(&named("pass"))).unwrap();
    assert!(page.contains("details::details-content{content-visibility:visible"));
    assert!(page.contains("\"beforeprint\""));
}

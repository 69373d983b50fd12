//! `lockdrill run pause`, end to end, in both isolation modes: real servers, real processes.

use crate::lab;

use lab::{Lab, PAUSE_HOLDS, arm, assert_each_holds, outcome, timeline};
use std::path::Path;

fn the_pause_drill_passes(isolation: &str) {
    let lab = Lab::new();
    let (code, value) = lab.run_json(&["pause", "--isolation", isolation]);
    assert_eq!(code, Some(0), "{value:#}");
    assert_eq!(value["verdict"], "pass", "{value:#}");
    let drill = &value["drills"][0];
    assert_eq!(drill["protection"], "kept by fencing", "{value:#}");

    let main = arm(&value, 0, "main");
    assert_eq!(main["verdict"], "pass");
    assert_each_holds(main, &PAUSE_HOLDS);

    let control = arm(&value, 0, "unfenced");
    assert_eq!(
        control["verdict"], "fail",
        "a red control is a fail by itself"
    );
    assert_eq!(control["expected"], "fail");
    assert_eq!(
        outcome(control, "no_stale_write"),
        "violated",
        "{control:#}"
    );
    assert_eq!(outcome(control, "evidence"), "holds", "{control:#}");

    let dir = Path::new(drill["dir"].as_str().unwrap());
    assert!(dir.is_absolute());
    for file in [
        "plan.json",
        "timeline.jsonl",
        "results.json",
        "report.html",
        "timeline.png",
        "timeline.svg",
        "junit.xml",
        "env.json",
        "arms/unfenced/plan.json",
        "arms/unfenced/timeline.jsonl",
    ] {
        assert!(dir.join(file).is_file(), "{file} is missing");
    }
    let env = std::fs::read_to_string(dir.join("env.json")).unwrap();
    let env: serde_json::Value = serde_json::from_str(&env).unwrap();
    let again = format!("lockdrill run pause --seed 0 --isolation {isolation}");
    assert_eq!(env["again"], again);
    assert!(env["late_us"].as_u64().is_some(), "{env:#}");
    the_byte_was_written_while_the_group_stood_still(dir);
    lab.assert_nothing_left();
}

fn the_byte_was_written_while_the_group_stood_still(dir: &Path) {
    let lines = timeline(dir);
    let place = |name: &str, wanted: &dyn Fn(&serde_json::Value) -> bool| {
        lines
            .iter()
            .position(|line| !line["event"][name].is_null() && wanted(&line["event"][name]))
            .unwrap_or_else(|| panic!("no {name}"))
    };
    let stopped = place("look", &|look| look["moment"] == "stopped");
    let go = place("go", &|go| go["point"] == "a.write.2.armed");
    let heal = place("look", &|look| look["moment"] == "heal");
    let resumed = place("resumed", &|point| point["point"] == "a.write.2.armed");
    assert!(stopped < go && go < heal && heal < resumed);
    for moment in [stopped, heal] {
        let threads = lines[moment]["event"]["look"]["threads"]
            .as_array()
            .unwrap();
        assert!(threads.len() > 1, "every thread, not one");
        assert!(threads.iter().all(|thread| thread["state"] == "T"));
    }
    assert_eq!(
        lines[stopped]["event"]["look"]["threads"], lines[heal]["event"]["look"]["threads"],
        "no run time in between"
    );
}

#[test]
fn in_namespaces() {
    the_pause_drill_passes("namespace");
}

#[test]
fn under_a_guard() {
    the_pause_drill_passes("guard");
}

/// The store's server is started beside the lock's, and each control is red on it as well.
#[test]
fn on_a_store_of_another_kind() {
    let lab = Lab::new();
    let (code, value) = lab.run_json(&["pause", "--store", "redis"]);
    assert_eq!(code, Some(0), "{value:#}");
    let drill = &value["drills"][0];
    assert_eq!(drill["protection"], "kept by fencing", "{value:#}");
    let arms = drill["arms"].as_array().unwrap();
    for arm in arms {
        assert_eq!(arm["verdict"], arm["expected"], "{arm:#}");
    }
    let dir = Path::new(drill["dir"].as_str().unwrap());
    for file in ["logs/redis.log", "logs/store.log", "final/store.json"] {
        assert!(dir.join(file).is_file(), "{file} is missing");
    }
    let (code, value) = lab.run_json(&["pause", "--store", "postgres", "--no-controls"]);
    assert_eq!(code, Some(0), "{value:#}");
    let drill = &value["drills"][0];
    assert_eq!(drill["protection"], "kept by fencing", "{value:#}");
    lab.assert_nothing_left();
}

#[test]
fn controls_can_be_left_out_and_the_result_says_so() {
    let lab = Lab::new();
    let (code, value) = lab.run_json(&["pause", "--no-controls"]);
    assert_eq!(code, Some(0), "{value:#}");
    let control = arm(&value, 0, "unfenced");
    assert_eq!(control["status"], "skipped");
    assert!(control["verdict"].is_null());
}

#[test]
fn two_executions_are_two_entries_and_run_side_by_side() {
    let lab = Lab::new();
    let (code, value) = lab.run_json(&["pause", "--no-controls", "--repeat", "2", "--jobs", "2"]);
    assert_eq!(code, Some(0), "{value:#}");
    let drills = value["drills"].as_array().unwrap();
    assert_eq!(drills.len(), 2);
    assert_ne!(drills[0]["dir"], drills[1]["dir"]);
    let plan = |drill: &serde_json::Value| {
        std::fs::read(Path::new(drill["dir"].as_str().unwrap()).join("plan.json")).unwrap()
    };
    assert_eq!(
        plan(&drills[0]),
        plan(&drills[1]),
        "same file and seed, same bytes"
    );
    assert!(
        both_at_once(&drills[0], &drills[1]),
        "neither waited for the other's end"
    );
}

/// Each execution was begun before the other one was ended, by the times of their records. A
/// noisy host may have had one repeated: its first attempt is when it began.
fn both_at_once(one: &serde_json::Value, other: &serde_json::Value) -> bool {
    let times = |drill: &serde_json::Value| {
        let dir = Path::new(drill["dir"].as_str().unwrap());
        let earlier = std::fs::read_dir(dir.join("attempts"))
            .into_iter()
            .flatten();
        let attempts = earlier.map(|attempt| attempt.unwrap().path());
        let records = attempts.chain([dir.to_owned()]).filter_map(|at| {
            let meta = std::fs::metadata(at.join("timeline.jsonl")).ok()?;
            Some((meta.created().unwrap(), meta.modified().unwrap()))
        });
        let (begun, ended): (Vec<_>, Vec<_>) = records.unzip();
        (begun.into_iter().min(), ended.into_iter().max())
    };
    let ((begun, ended), (other_begun, other_ended)) = (times(one), times(other));
    begun < other_ended && other_begun < ended
}

#[test]
fn an_interrupt_heals_reports_what_there_is_and_exits_130() {
    let lab = Lab::new();
    let mut started = lab.start(&["pause", "--no-controls", "--isolation", "guard"]);
    started.await_line("fault nap (pause) hit a");
    started.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(started.child.wait().unwrap().code(), Some(130));
    lab.assert_nothing_left();
    let run = std::fs::read_dir(lab.out().join("pause"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let lines = timeline(&run);
    let last = lines.last().unwrap();
    assert_eq!(last["event"]["end"]["reason"], "interrupted");
    assert!(
        run.join("report.html").is_file(),
        "what there is, is reported"
    );
}

#[test]
fn the_seal_refuses_what_the_fence_alone_cannot_know() {
    let lab = Lab::new();
    let (code, value) = lab.run_json(&["late-first"]);
    assert_eq!(code, Some(0), "{value:#}");
    assert_eq!(value["drills"][0]["protection"], "kept by fencing");
    let main = arm(&value, 0, "main");
    let checks = main["checks"].as_array().unwrap();
    let stale = checks
        .iter()
        .find(|found| found["check"] == "no_stale_write");
    let why = stale.unwrap()["why"].as_str().unwrap();
    assert!(why.contains("1 stale or late and refused"), "{why}");
    let control = arm(&value, 0, "unsealed");
    assert_eq!(outcome(control, "no_lost_update"), "violated");
    assert_eq!(
        outcome(control, "no_stale_write"),
        "holds",
        "lock and fence both worked"
    );
    lab.assert_nothing_left();
}

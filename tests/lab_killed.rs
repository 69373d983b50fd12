//! `kill -9` of the lab in every phase, in both isolation modes: no process, port, mount or
//! folder is left, and nothing reaches the store after its death. Counted from outside.

use crate::lab;

use lab::{Lab, until};
use nix::sys::signal::Signal;
use std::path::PathBuf;

/// Lines of progress at which the lab is killed: the phases, and the moments in which a worker
/// stands still with a write in its hands.
const MOMENTS: &[&str] = &[
    "phase servers",
    "phase workers",
    "phase drill",
    "a.write.1 leaves",
    "fault nap (pause) hit a",
    "with fencing token 2",
    "fault nap healed",
    "phase settle",
    "phase collect",
    "phase stop",
];

/// The store's files, kept by a second name so that they outlive the arm's folder.
fn keep_store(lab: &Lab) -> Option<PathBuf> {
    let kept = lab.folder.path().join("kept.sqlite");
    let work = lab.folders().first()?.join("work");
    for suffix in ["", "-wal", "-shm"] {
        let from = work.join(format!("store.sqlite{suffix}"));
        let to = PathBuf::from(format!("{}{suffix}", kept.display()));
        let _ = std::fs::hard_link(from, to);
    }
    kept.exists().then_some(kept)
}

fn writes(store: &PathBuf) -> i64 {
    let db = rusqlite::Connection::open(store).unwrap();
    let count = |sql: &str| -> i64 { db.query_row(sql, [], |row| row.get(0)).unwrap() };
    // The lab may have died before the tables were there.
    match count("select count(*) from sqlite_master where name = 'attempt'") {
        0 => 0,
        _ => count("select count(*) from attempt where kind = 'write'"),
    }
}

fn nothing_survives(isolation: &str) {
    for moment in MOMENTS {
        let lab = Lab::new();
        let mut started = lab.start(&["pause", "--no-controls", "--isolation", isolation]);
        started.await_line(moment);
        let store = keep_store(&lab);
        started.signal(Signal::SIGKILL);
        started.child.wait().unwrap();
        lab.assert_nothing_left();
        if let Some(store) = store {
            let after = writes(&store);
            assert!(after <= 3, "{moment}: {after} writes");
            if *moment == "fault nap (pause) hit a" {
                assert_eq!(
                    after, 1,
                    "a stood still with its second write: it must never arrive"
                );
            }
        }
    }
}

#[test]
fn in_namespaces() {
    nothing_survives("namespace");
}

#[test]
fn under_a_guard() {
    nothing_survives("guard");
}

#[test]
fn clean_after_everything_of_the_lab_was_killed_at_once() {
    for isolation in ["namespace", "guard"] {
        let lab = Lab::new();
        let mut started = lab.start(&["pause", "--no-controls", "--isolation", isolation]);
        started.await_line("fault nap (pause) hit a");
        for process in lab.processes() {
            let pid = process.split(' ').next().unwrap().parse().unwrap();
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), Signal::SIGKILL);
        }
        started.child.wait().unwrap();
        for _ in 0..2 {
            let cleaned = lab.command(&["clean"]).output().unwrap();
            assert!(cleaned.status.success(), "{cleaned:?}");
        }
        until(
            "no process",
            || lab.processes().is_empty(),
            || format!("{:?}", lab.processes()),
        );
        lab.assert_nothing_left();
    }
}

#[test]
fn clean_leaves_a_live_run_alone() {
    let lab = Lab::new();
    let mut started = lab.start(&["pause", "--no-controls"]);
    started.await_line("fault nap (pause) hit a");
    assert!(lab.command(&["clean"]).output().unwrap().status.success());
    assert_eq!(
        started.child.wait().unwrap().code(),
        Some(0),
        "the run goes on and passes"
    );
    lab.assert_nothing_left();
}

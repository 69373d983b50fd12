//! The pause, defeated behind the lab's back in every way that we know: such a run must never
//! pass, however well the store does.

use crate::lab;

use lab::{Lab, Started};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::Write;

const HIT: &str = "fault nap (pause) hit a";

/// Runs the drill and meddles whenever a line of progress says `moment`; an inconclusive arm is
/// repeated, so the meddler must be, too.
fn meddled(moment: &str, meddle: impl Fn(&Lab, Pid)) -> (Option<i32>, String) {
    let lab = Lab::new();
    let mut started = lab.start(&["pause", "--no-controls", "--isolation", "guard"]);
    while let Some(()) = next(&started, moment) {
        if let Some(worker) = worker_a(&lab) {
            meddle(&lab, worker);
        }
    }
    let code = started.child.wait().unwrap().code();
    let run = std::fs::read_dir(lab.out().join("pause"))
        .unwrap()
        .next()
        .unwrap();
    let results = std::fs::read_to_string(run.unwrap().path().join("results.json")).unwrap();
    lab.assert_nothing_left();
    (code, results)
}

fn next(started: &Started, moment: &str) -> Option<()> {
    started
        .lines
        .iter()
        .find(|line| line.contains(moment))
        .map(|_| ())
}

fn worker_a(lab: &Lab) -> Option<Pid> {
    let mut found = None;
    let begun = std::time::Instant::now();
    while found.is_none() && begun.elapsed() < std::time::Duration::from_secs(5) {
        found = lab
            .processes()
            .iter()
            .find(|process| process.contains("worker --spec") && process.contains("worker.a.json"))
            .and_then(|process| process.split(' ').next()?.parse().ok())
            .map(Pid::from_raw);
    }
    found
}

fn assert_inconclusive((code, results): (Option<i32>, String), reason: &str) {
    assert_eq!(code, Some(3), "{results}");
    assert!(results.contains("\"inconclusive\""), "{results}");
    assert!(results.contains(reason), "{reason} is not named: {results}");
}

#[test]
fn continued_and_stopped_again() {
    let end = meddled(HIT, |_, worker| {
        let _ = kill(worker, Signal::SIGCONT);
        let _ = kill(worker, Signal::SIGSTOP);
    });
    assert_inconclusive(end, "nap");
}

#[test]
fn continued_and_left_running() {
    let end = meddled(HIT, |_, worker| {
        let _ = kill(worker, Signal::SIGCONT);
    });
    assert_inconclusive(end, "nap");
}

#[test]
fn the_byte_sent_early() {
    let end = meddled("phase workers", |_, worker| {
        let stdin = format!("/proc/{worker}/fd/0");
        if let Ok(mut pipe) = std::fs::OpenOptions::new().write(true).open(stdin) {
            let _ = pipe.write_all(b"g");
        }
    });
    assert_inconclusive(end, "nap");
}

#[test]
fn the_worker_killed_while_it_slept() {
    let end = meddled(HIT, |_, worker| {
        let _ = kill(worker, Signal::SIGKILL);
    });
    assert_inconclusive(end, "nap");
}

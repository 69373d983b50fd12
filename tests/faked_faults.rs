//! The pause, defeated behind the lab's back in every way that we know: such a run must never
//! pass, however well the store does.

use crate::lab;

use lab::{Lab, Started};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Mutex;

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

/// The worker dies while it sleeps, and a process that lockdrill never started takes its place:
/// the same number, the same group, and it stands still as well. It is not taken for the worker,
/// and nobody wakes it.
#[test]
fn the_worker_replaced_by_another_process_of_its_number() {
    let impostors: Mutex<Vec<Child>> = Mutex::new(Vec::new());
    let end = meddled(HIT, |_, worker| {
        let _ = kill(worker, Signal::SIGKILL);
        let gone = || !std::path::Path::new(&format!("/proc/{worker}")).exists();
        lab::until("the worker to be gone", gone, || worker.to_string());
        impostors.lock().unwrap().extend(born_as(worker));
    });
    let impostors = impostors.into_inner().unwrap();
    let states: Vec<String> = impostors
        .iter()
        .map(|impostor| state(impostor.id()))
        .collect();
    for mut impostor in impostors {
        impostor.kill().unwrap();
        impostor.wait().unwrap();
    }
    assert_inconclusive(end, "nap");
    if std::fs::write(LAST_PID, "").is_ok() {
        assert!(!states.is_empty(), "nobody took the worker's place");
    }
    assert!(states.iter().all(|state| state == "T"), "woken: {states:?}");
}

/// The number after this one is the next process's; only the superuser may write it.
const LAST_PID: &str = "/proc/sys/kernel/ns_last_pid";

/// A stopped process of this number, in a group of its own; none where numbers cannot be chosen.
fn born_as(pid: Pid) -> Option<Child> {
    let wanted = u32::try_from(pid.as_raw()).unwrap();
    for _ in 0..100 {
        std::fs::write(LAST_PID, (wanted - 1).to_string()).ok()?;
        let mut sleep = Command::new("sleep");
        let mut child = sleep
            .arg("600")
            .env_clear()
            .process_group(0)
            .spawn()
            .unwrap();
        if child.id() == wanted {
            kill(pid, Signal::SIGSTOP).unwrap();
            lab::until("a standstill", || state(wanted) == "T", || state(wanted));
            return Some(child);
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    None
}

/// The state letter of a process.
fn state(pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after = stat.rsplit(')').next().unwrap_or_default();
    after.trim().chars().take(1).collect()
}

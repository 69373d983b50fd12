//! SIGKILL to each process of the lab, in both modes, while a group is stopped with a write
//! pending: no process, port, mount or folder is left, and the write never happens.

use crate::lab::{Arm, MODES, Victim, processes_about, until, until_gone};
use lockdrill::env::procfs::{self, Stat};
use std::fs;

/// Starts the scene, kills, and checks all that must hold whoever was killed.
fn kill(mode: &'static str, victim: Victim) -> Arm {
    let mounts = mounts_of_interest();
    let arm = Arm::start(mode, "late writer");
    arm.hears("armed");
    let family = arm.family();
    let named = |name: &str| family.iter().filter(|s| s.name.starts_with(name)).count();
    assert!(named("redis") == 1 && named("sh") >= 3, "{family:?}");
    let stopped: Vec<&Stat> = family.iter().filter(|stat| stat.state == 'T').collect();
    assert_eq!(
        stopped.len(),
        2,
        "the late writer and its child: {family:?}"
    );
    assert_eq!(
        stopped[0].session, stopped[1].session,
        "of the guard's session"
    );
    let ticks = fs::metadata(arm.out("ticks")).unwrap().len();

    assert!(arm.kill(victim), "{victim:?} was there");
    until_gone(&family);

    assert!(!arm.out("woke").exists(), "the late writer wrote");
    let ticks_now = fs::metadata(arm.out("ticks")).unwrap().len();
    assert_eq!(ticks, ticks_now, "the late writer's child wrote");
    if mode == "guard" {
        // A process shows as a zombie while its last threads still let go of its files.
        until("the port is free", || {
            !procfs::listening_ports().unwrap().contains(&arm.port)
        });
    }
    assert_eq!(mounts, mounts_of_interest());
    arm
}

/// Mounted `/proc`s: an arm's own must never be seen outside.
fn mounts_of_interest() -> usize {
    let table = fs::read_to_string("/proc/self/mounts").unwrap();
    table
        .lines()
        .filter(|line| line.contains(" /proc proc "))
        .count()
}

#[test]
fn of_the_conductor_ends_everything_and_the_guard_removes_the_folder() {
    for mode in MODES {
        let arm = kill(mode, Victim::Conductor);
        assert_eq!(arm.folders(), [""; 0], "{mode}; {}", arm.log());
    }
}

#[test]
fn of_the_director_ends_everything_and_the_guard_removes_the_folder() {
    for mode in MODES {
        let mut arm = kill(mode, Victim::Director);
        assert_eq!(arm.code(), 128 + 9, "{mode}");
        assert_eq!(arm.folders(), [""; 0], "{mode}; {}", arm.log());
    }
}

#[test]
fn of_the_guard_in_guard_mode_ends_everything_and_clean_removes_the_folder() {
    let mut arm = kill("guard", Victim::Guard);
    assert_eq!(arm.folders().len(), 1);
    let said = arm.clean();
    assert!(said.status.success());
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(
        text.contains("removed") && text.contains("in force: nap (pause)"),
        "{text}"
    );
    assert_eq!(arm.folders(), [""; 0]);
}

#[test]
fn of_process_1_ends_everything_and_the_outer_half_removes_the_folder() {
    let mut arm = kill("namespace", Victim::Guard);
    assert_eq!(arm.code(), 128 + 9);
    assert_eq!(arm.folders(), [""; 0], "{}", arm.log());
}

#[test]
fn of_the_outer_half_ends_everything_and_clean_removes_the_folder() {
    let mut arm = kill("namespace", Victim::Outer);
    assert_eq!(arm.folders().len(), 1);
    assert!(arm.clean().status.success());
    assert_eq!(arm.folders(), [""; 0]);
}

#[test]
fn of_one_arm_leaves_another_alone() {
    for mode in MODES {
        let other = Arm::start(mode, "late writer");
        other.hears("armed");
        let before = other.leaders();
        assert!(before.len() >= 5, "{before:?}");
        kill(mode, Victim::Conductor);
        let alive = |stat: &Stat| {
            procfs::stat(stat.pid).is_ok_and(|now| now.start_ticks == stat.start_ticks)
        };
        assert!(before.iter().all(alive), "{mode}");
        other.kill(Victim::Conductor);
        until_gone(&before);
        assert!(!other.out("woke").exists());
    }
}

/// Moments are drawn from the clock: each run of the tests tries others, and a failure prints its
/// own.
#[test]
fn at_any_moment_leaves_nothing() {
    let victims = [
        Victim::Conductor,
        Victim::Director,
        Victim::Guard,
        Victim::Outer,
    ];
    for round in 0..20_usize {
        let mode = MODES[round % 2];
        let victim = victims[round / 2 % 4];
        let mut arm = Arm::start(mode, "late writer");
        let delay_us = lockdrill::clock::monotonic_ns() / 1000 % 250_000;
        std::thread::sleep(std::time::Duration::from_micros(delay_us));
        let killed = arm.kill(victim);
        if !killed {
            arm.kill(Victim::Conductor);
        }
        let what = format!("{victim:?} in {mode} after {delay_us} µs (there: {killed})");
        let said = arm.clean();
        assert!(said.status.success(), "{what}: {said:?}");
        until(&what, || processes_about(arm.temp.path()).is_empty());
        assert!(!arm.out("woke").exists(), "{what}");
        let mut last = arm.clean();
        until(&what, || {
            last = arm.clean();
            arm.folders().is_empty()
        });
        assert!(last.status.success(), "{what}");
    }
}

//! What the guard does for a director while all is well, and how it ends.

use crate::lab::{Arm, MODES, Victim, until_gone};
use lockdrill::env::guard::{BEGIN, Left};
use lockdrill::env::isolation::{Choice, Mode, decide};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn the_directors_exit_code_is_the_guards() {
    for mode in MODES {
        let mut arm = Arm::start(mode, "seven");
        assert_eq!(arm.code(), 7, "{mode}: {}", arm.log());
        assert_eq!(arm.folders(), [""; 0], "{mode}");
        let mut arm = Arm::start(mode, "dies");
        assert_eq!(arm.code(), 128 + 6, "{mode}: {}", arm.log());
    }
}

#[test]
fn every_change_of_a_child_is_told() {
    for mode in MODES {
        let mut arm = Arm::start(mode, "events");
        assert_eq!(arm.hears("told"), "a Stopped");
        assert_eq!(arm.hears("told"), "a Continued");
        assert_eq!(arm.hears("told"), "a Killed(9) and killer Exited(0)");
        assert_eq!(arm.hears("told"), "c Exited(3)");
        assert_eq!(arm.code(), 0, "{mode}: {}", arm.log());
    }
}

#[test]
fn a_child_that_cannot_be_started_is_told_with_the_reason() {
    let mut arm = Arm::start("guard", "refusals");
    let missing = arm.hears("told");
    assert!(
        missing.contains("/nowhere/redis-server: No such file"),
        "{missing}"
    );
    assert!(arm.hears("told").contains("No such file"));
    let unlogged = arm.hears("told");
    assert!(
        unlogged.contains("/nowhere/a.log: No such file"),
        "{unlogged}"
    );
    assert!(arm.hears("told").contains("too long"));
    assert_eq!(arm.code(), 0, "and the next one is started: {}", arm.log());
}

#[test]
fn what_a_director_leaves_behind_is_killed_and_told() {
    for mode in MODES {
        let mut arm = Arm::start(mode, "leaver");
        let told: Vec<Left> = arm
            .last_words()
            .iter()
            .filter_map(|line| Left::parse(line))
            .flatten()
            .collect();
        let names: Vec<&str> = told.iter().map(|left| left.name.as_str()).collect();
        assert!(names.len() == 2 && names[0] == "a", "{mode}: {names:?}");
        assert_eq!(arm.code(), 0, "{mode}");
        assert_eq!(arm.folders(), [""; 0], "{mode}");
    }
}

#[test]
fn a_child_gets_no_more_than_it_is_given() {
    let mut arm = Arm::start("guard", "environment");
    assert_eq!(arm.hears("told"), "a Exited(0)");
    assert_eq!(arm.code(), 0);
    let env = fs::read_to_string(arm.out("env")).unwrap();
    assert!(env.contains("LOCKDRILL_ARM=test-arm-"), "{env}");
    assert!(
        !env.contains("LOCKDRILL_GUARD_FD") && !env.contains("CARGO"),
        "{env}"
    );
    let fds = fs::read_to_string(arm.out("fds")).unwrap();
    assert_eq!(
        fds.split_whitespace().count(),
        4,
        "0, 1, 2 and the one of ls: {fds}"
    );
    let signals = fs::read_to_string(arm.out("signals")).unwrap();
    for line in signals.lines() {
        let set = u64::from_str_radix(line.split_whitespace().last().unwrap(), 16).unwrap();
        // Beyond the 31 named signals libc keeps two for itself and lets nobody change them.
        assert_eq!(set & 0x7fff_ffff, 0, "nothing blocked or ignored: {line}");
    }
}

#[test]
fn an_interrupt_asks_the_director_and_lets_it_finish() {
    for mode in MODES {
        let mut arm = Arm::start(mode, "late writer");
        arm.hears("armed");
        arm.tell_guard(b"i");
        arm.hears("asked to end");
        assert_eq!(arm.code(), 5, "{mode}: its own exit code");
        assert!(!arm.out("woke").exists(), "{mode}");
    }
}

#[test]
fn sigterm_to_the_guard_ends_everything() {
    for mode in MODES {
        let mut arm = Arm::start(mode, "late writer");
        arm.hears("armed");
        let family = arm.family();
        let outer = arm.find(Victim::Outer).unwrap();
        kill(Pid::from_raw(outer.pid), Signal::SIGTERM).unwrap();
        assert_eq!(arm.code(), 130, "{mode}");
        until_gone(&family);
        assert!(!arm.out("woke").exists(), "{mode}");
        assert_eq!(arm.folders(), [""; 0], "{mode}");
    }
}

#[test]
fn a_folder_that_is_no_arms_is_refused_and_kept() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("precious"), "x").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockdrill"));
    command
        .args(["guard", "--isolation", "guard", "--state"])
        .arg(temp.path());
    command
        .arg("--log")
        .arg(temp.path().join("log"))
        .args(["--exec", "true", "--"]);
    let mut guard = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut lifeline = guard.stdin.take().unwrap();
    lifeline.write_all(&[BEGIN]).unwrap();
    assert_eq!(guard.wait().unwrap().code(), Some(4));
    let log = fs::read_to_string(temp.path().join("log")).unwrap();
    assert!(log.contains("no ledger at"), "{log}");
    assert!(temp.path().join("precious").exists());
}

#[test]
fn refused_namespaces_are_said_and_are_no_success() {
    // A user namespace of our own, in which no further pid namespace may be made.
    let forbid = "echo 0 > /proc/sys/user/max_pid_namespaces && exec \"$0\" guard --probe";
    let output = Command::new("unshare")
        .args(["-Ur", "sh", "-c", forbid, env!("CARGO_BIN_EXE_lockdrill")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && !said.trim().is_empty(),
        "{said}"
    );
}

#[test]
fn guard_mode_is_never_probed_for() {
    let decision = decide(Choice::Guard).unwrap();
    assert_eq!((decision.mode, decision.fallback), (Mode::Guard, None));
}

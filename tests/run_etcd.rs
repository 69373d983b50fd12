//! `lockdrill run … --lock etcd`, end to end: a real etcd, which tells the truth.

use crate::lab;

use lab::{Lab, arm, outcome};
use std::process::Command;

#[test]
fn drills_pass_on_a_lock_in_an_etcd_that_may_die_and_their_controls_go_red() {
    let lab = Lab::new();
    let (code, value) = lab.run_json(&["pause", "restart", "--lock", "etcd", "--jobs", "4"]);
    assert_eq!(code, Some(0), "{value:#}");
    assert_eq!(value["drills"][1]["verdict"], "pass", "{value:#}");
    // What comes back is an etcd, and knows what it had granted.
    let restarted = arm(&value, 1, "main");
    assert_eq!(outcome(restarted, "recovers"), "holds", "{restarted:#}");
    assert_eq!(value["drills"][0]["protection"], "kept by fencing");
    let main = arm(&value, 0, "main");
    for check in [
        "evidence",
        "records_agree",
        "single_holder",
        "honest_belief",
        "fencing_rises",
        "no_stale_write",
        "owner_only",
        "no_leftovers",
        "recovers",
    ] {
        assert_eq!(outcome(main, check), "holds", "{check}: {main:#}");
    }
    for (control, check) in [
        ("unfenced", "no_stale_write"),
        ("racy-fence", "no_stale_write"),
        ("blind_release", "owner_only"),
    ] {
        let control = arm(&value, 0, control);
        assert_eq!(outcome(control, check), "violated", "{control:#}");
    }
}

#[test]
fn an_etcd_that_was_killed_comes_back_as_one_and_has_forgotten_nothing() {
    let lab = Lab::new();
    let (code, value) = lab.run_json(&["restart", "--lock", "etcd"]);
    assert_eq!(code, Some(0), "{value:#}");
    let main = arm(&value, 0, "main");
    assert_eq!(outcome(main, "single_holder"), "holds", "{main:#}");
}

#[test]
fn an_etcd_that_is_not_there_is_said_with_what_brings_it() {
    let told = Command::new(env!("CARGO_BIN_EXE_lockdrill"))
        .args(["run", "pause", "--lock", "etcd", "--out"])
        .arg(tempfile::tempdir().unwrap().path())
        .env("LOCKDRILL_ETCD", "/nonexistent/etcd")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&told.stderr);
    assert_eq!(told.status.code(), Some(4), "{said}");
    assert!(said.contains("make setup-all"), "{said}");
}

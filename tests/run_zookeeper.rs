//! `lockdrill run … --lock zookeeper`, end to end: a real ZooKeeper, whose log tells the truth.

use crate::lab;

use lab::{Lab, arm, outcome};
use std::process::Command;

#[test]
fn the_pause_drill_passes_on_a_lock_in_a_zookeeper_and_its_controls_go_red() {
    let lab = Lab::new();
    let (code, value) = lab.run_json(&["pause", "--lock", "zookeeper"]);
    assert_eq!(code, Some(0), "{value:#}");
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
fn a_zookeeper_that_is_not_there_is_said_with_what_brings_it() {
    let told = Command::new(env!("CARGO_BIN_EXE_lockdrill"))
        .args(["run", "pause", "--lock", "zookeeper", "--out"])
        .arg(tempfile::tempdir().unwrap().path())
        .env("LOCKDRILL_ZOOKEEPER", "/nonexistent/zookeeper")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&told.stderr);
    assert_eq!(told.status.code(), Some(4), "{said}");
    assert!(said.contains("make setup-all"), "{said}");
}

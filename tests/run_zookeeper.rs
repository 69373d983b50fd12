//! `lockdrill run … --lock zookeeper`, end to end: a real ZooKeeper, whose log tells the truth.

use crate::lab;

use lab::{
    CALM, Lab, assert_the_pause_was_kept_by_fencing, assert_what_brings_the_server_is_said, said,
};

#[test]
fn the_pause_drill_passes_on_a_lock_in_a_zookeeper_and_its_controls_go_red() {
    let lab = Lab::new();
    let (code, value) = lab.run_json(&["pause", "--lock", "zookeeper"]);
    assert_eq!(code, Some(0), "{value:#}");
    assert_the_pause_was_kept_by_fencing(&value);
}

#[test]
fn a_zookeeper_that_is_not_there_is_said_with_what_brings_it() {
    assert_what_brings_the_server_is_said("zookeeper", "LOCKDRILL_ZOOKEEPER");
}

/// A drill whose own lock lives in a ZooKeeper ends no suite where there is none.
#[test]
fn a_suite_leaves_out_the_drill_whose_server_is_not_here_and_says_what_brings_it() {
    let elsewhere = CALM.replace("backend = \"redis\"", "backend = \"zookeeper\"");
    let lab = Lab::with_drills(&[("calm", CALM), ("elsewhere", &elsewhere)]);
    let beside = lab.folder.path().join("beside.toml");
    std::fs::write(&beside, &elsewhere).unwrap();
    let run = |words: &[&str]| {
        let mut command = lab.command(&[&["run"], words].concat());
        let command = command.current_dir(lab.folder.path());
        let nowhere = "/nonexistent/zookeeper";
        let output = command.env("LOCKDRILL_ZOOKEEPER", nowhere).output();
        let output = output.unwrap();
        (output.status.code(), said(&output))
    };
    let (code, text) = run(&["--all"]);
    assert_eq!(code, Some(0), "{text}");
    let left_out = text.lines().find(|line| line.starts_with("elsewhere:"));
    let left_out = left_out.unwrap_or_default();
    assert!(left_out.contains("not applicable: "), "{text}");
    assert!(left_out.contains("make setup-all"), "{text}");
    // Who asks for it by name, or for that lock, is told that this machine is not ready.
    for words in [
        &["elsewhere"][..],
        &["--all", "beside.toml"],
        &["--all", "--lock", "zookeeper"],
    ] {
        let (code, text) = run(words);
        assert_eq!(code, Some(4), "{words:?}: {text}");
        assert!(text.contains("make setup-all"), "{words:?}: {text}");
    }
}

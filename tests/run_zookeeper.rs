//! `lockdrill run … --lock zookeeper`, end to end: a real ZooKeeper, whose log tells the truth.

use crate::lab;

use lab::{Lab, assert_the_pause_was_kept_by_fencing, assert_what_brings_the_server_is_said};

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

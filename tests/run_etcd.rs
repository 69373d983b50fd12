//! `lockdrill run … --lock etcd`, end to end: a real etcd, which tells the truth.

use crate::lab;

use lab::{
    Lab, arm, assert_the_pause_was_kept_by_fencing, assert_what_brings_the_server_is_said, outcome,
};

#[test]
fn drills_pass_on_a_lock_in_an_etcd_that_may_die_and_their_controls_go_red() {
    let lab = Lab::new();
    let (code, value) = lab.run_json(&["pause", "restart", "--lock", "etcd", "--jobs", "4"]);
    assert_eq!(code, Some(0), "{value:#}");
    assert_eq!(value["drills"][1]["verdict"], "pass", "{value:#}");
    // What comes back is an etcd, and knows what it had granted.
    let restarted = arm(&value, 1, "main");
    assert_eq!(outcome(restarted, "recovers"), "holds", "{restarted:#}");
    assert_the_pause_was_kept_by_fencing(&value);
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
    assert_what_brings_the_server_is_said("etcd", "LOCKDRILL_ETCD");
}

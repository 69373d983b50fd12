//! Which drills run on a lock that lives in a ZooKeeper, and why the others do not.
#![allow(clippy::unwrap_used, reason = "tests")]

use lockdrill::experiment::{Experiment, Overrides, read};
use std::path::Path;

/// A drill that is shipped, on the lock `zookeeper`.
fn on_zookeeper(drill: &str) -> Result<Experiment, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("experiments").join(format!("{drill}.toml"));
    let text = std::fs::read_to_string(file).unwrap();
    let overrides = Overrides {
        lock: Some("zookeeper".to_owned()),
        ..Overrides::default()
    };
    let name = format!("{drill}.toml");
    read(drill, &name, &text, &overrides).map_err(|refused| refused.to_string())
}

#[test]
fn what_means_something_on_a_zookeeper_is_taken_with_every_control_that_applies() {
    for (drill, left_out) in [
        ("pause", None),
        ("partition", None),
        ("partition-reset", None),
        ("herd", None),
        // What is done to it lasts longer than the server may keep a session.
        ("outage", None),
        ("worker-clock", None),
        ("zombie-refence", None),
        ("kill", Some("cannot be given the flaw `set_then_pexpire`")),
    ] {
        let taken = on_zookeeper(drill).unwrap();
        assert_eq!(taken.main.lock.backend, "zookeeper", "{drill}");
        let mut others = taken.not_applicable.iter();
        match (others.next(), left_out) {
            (None, None) => {}
            (Some(other), Some(why)) => assert!(other.why.contains(why), "{drill}: {}", other.why),
            (other, _) => panic!("{drill}: {other:?}"),
        }
        assert!(others.next().is_none(), "{drill}");
    }
}

#[test]
fn what_means_nothing_on_a_zookeeper_is_refused_with_the_reason() {
    for (drill, why) in [
        ("evict", "`evict` is a command to Redis"),
        ("flush", "`flush` is a command to Redis"),
        (
            "held-reply",
            "no request of the lock `zookeeper` can be told from others",
        ),
        ("restart-none", "forgets nothing when its server is killed"),
        (
            "restart-everysec",
            "the lock `zookeeper` keeps all that it has answered",
        ),
        ("restart", "may take 10000 ms to be back"),
        ("clock-jump", "ends leases by a clock that nobody can set"),
        ("clock-back", "ends leases by a clock that nobody can set"),
        ("partition-reply", "begins with a question"),
        ("stop-server", "begins with a question"),
    ] {
        let told = on_zookeeper(drill).unwrap_err();
        assert!(told.contains(why), "{drill}: {told}");
    }
}

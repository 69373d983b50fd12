//! Which drills run on a lock that lives in an etcd, and why the others do not.
#![allow(clippy::unwrap_used, reason = "tests")]

use lockdrill::experiment::{Experiment, Overrides, read};
use std::path::Path;

/// A drill that is shipped, on the lock `etcd`.
fn on_etcd(drill: &str) -> Result<Experiment, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("experiments").join(format!("{drill}.toml"));
    let text = std::fs::read_to_string(file).unwrap();
    let overrides = Overrides {
        lock: Some("etcd".to_owned()),
        ..Overrides::default()
    };
    let name = format!("{drill}.toml");
    read(drill, &name, &text, &overrides).map_err(|refused| refused.to_string())
}

#[test]
fn what_means_something_on_an_etcd_is_taken_with_every_control_that_applies() {
    for (drill, left_out) in [
        ("pause", None),
        ("partition", None),
        ("partition-reset", None),
        ("herd", None),
        ("worker-clock", None),
        ("zombie-refence", None),
        ("kill", Some("cannot be given the flaw `set_then_pexpire`")),
        ("restart", Some("forgets nothing when its server is killed")),
    ] {
        let taken = on_etcd(drill).unwrap();
        assert_eq!(taken.main.lock.backend, "etcd", "{drill}");
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
fn what_means_nothing_on_an_etcd_is_refused_with_the_reason() {
    for (drill, why) in [
        ("evict", "`evict` is a command to Redis"),
        ("flush", "`flush` is a command to Redis"),
        (
            "held-reply",
            "no request of the lock `etcd` can be told from others",
        ),
        ("restart-none", "forgets nothing when its server is killed"),
        (
            "restart-everysec",
            "the lock `etcd` keeps all that it has answered",
        ),
        ("clock-jump", "ends leases by a clock that nobody can set"),
        ("clock-back", "ends leases by a clock that nobody can set"),
        ("outage", "may keep a lease of 1200 ms for up to 3000 ms"),
        ("partition-reply", "begins with a question"),
        ("stop-server", "begins with a question"),
    ] {
        let told = on_etcd(drill).unwrap_err();
        assert!(told.contains(why), "{drill}: {told}");
    }
}

//! Which drills run on a lock that lives in a ZooKeeper, and why the others do not.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::shipped::{
    are_refused_with_the_reason, are_taken_with_every_control_that_applies,
};

#[test]
fn what_means_something_on_a_zookeeper_are_taken_with_every_control_that_applies() {
    are_taken_with_every_control_that_applies(
        "zookeeper",
        &[
            ("pause", None),
            ("partition", None),
            ("partition-reset", None),
            ("herd", None),
            // What is done to it lasts longer than the server may keep a session.
            ("outage", None),
            ("worker-clock", None),
            ("zombie-refence", None),
            ("zk-session", None),
            ("kill", Some("cannot be given the flaw `set_then_pexpire`")),
        ],
    );
}

#[test]
fn what_means_nothing_on_a_zookeeper_are_refused_with_the_reason() {
    are_refused_with_the_reason(
        "zookeeper",
        &[
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
        ],
    );
}

//! Which drills run on a lock that lives in an etcd, and why the others do not.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::shipped::{
    are_refused_with_the_reason, are_taken_with_every_control_that_applies,
};

#[test]
fn what_means_something_on_an_etcd_are_taken_with_every_control_that_applies() {
    are_taken_with_every_control_that_applies(
        "etcd",
        &[
            ("pause", None),
            ("partition", None),
            ("partition-reset", None),
            ("herd", None),
            ("worker-clock", None),
            ("zombie-refence", None),
            ("kill", Some("cannot be given the flaw `set_then_pexpire`")),
            ("restart", Some("forgets nothing when its server is killed")),
        ],
    );
}

#[test]
fn what_means_nothing_on_an_etcd_are_refused_with_the_reason() {
    are_refused_with_the_reason(
        "etcd",
        &[
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
        ],
    );
}

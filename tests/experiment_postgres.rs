//! Which drills run on a lock that lives on a Postgres server, and why the others do not.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::shipped::{are_refused_with_the_reason, on};

#[test]
fn what_means_something_on_postgres_is_taken() {
    for drill in [
        "pause",
        "kill",
        "partition",
        "partition-reset",
        "stop-server",
        "restart",
        "outage",
        "herd",
        "worker-clock",
    ] {
        let taken = on("postgres", drill);
        assert_eq!(taken.unwrap().main.lock.backend, "postgres", "{drill}");
    }
    let pause = on("postgres", "pause").unwrap();
    assert_eq!(pause.controls.len(), 3, "every control of it applies");
    assert!(pause.not_applicable.is_empty());
}

#[test]
fn a_control_that_does_not_fit_postgres_does_not_apply() {
    let kill = on("postgres", "kill").unwrap();
    let why = &kill.not_applicable.first().unwrap().why;
    assert!(
        why.contains("cannot be given the flaw `set_then_pexpire`"),
        "{why}"
    );
    let restart = on("postgres", "restart").unwrap();
    let why = &restart.not_applicable.first().unwrap().why;
    assert!(
        why.contains("forgets nothing when its server is killed"),
        "{why}"
    );
}

#[test]
fn what_means_nothing_on_postgres_are_refused_with_the_reason() {
    are_refused_with_the_reason(
        "postgres",
        &[
            ("evict", "`evict` is a command to Redis"),
            ("flush", "`flush` is a command to Redis"),
            ("counter-reset", "`counter-reset` is a command to Redis"),
            ("noscript", "`forget-scripts` is a command to Redis"),
            ("refuse-writes", "`refuse-writes` is a command to Redis"),
            (
                "held-reply",
                "no request of the lock `postgres` can be told from others",
            ),
            ("restart-none", "forgets nothing when its server is killed"),
            (
                "restart-everysec",
                "the lock `postgres` keeps all that it has answered",
            ),
        ],
    );
}

#[test]
fn on_locks_that_sessions_hold_a_drill_runs_that_shows_when_they_end() {
    for lock in ["postgres-advisory", "postgres-row"] {
        assert!(on(lock, "pause").is_ok() && on(lock, "partition").is_ok());
    }
    assert!(on("postgres-advisory", "session-is-the-lock").is_ok());
    let told = on("postgres", "session-is-the-lock").unwrap_err();
    assert!(told.contains("`postgres` outlives every session"), "{told}");
    let told = on("postgres-advisory", "session-killed").unwrap_err();
    assert!(
        told.contains("`postgres-advisory` ends with its session"),
        "{told}"
    );
    let told = on("postgres-advisory", "kill").unwrap_err();
    assert!(
        told.contains("no drill runs on the lock `postgres-advisory`"),
        "{told}"
    );
    assert!(told.contains("the end of a session"), "{told}");
}

#[test]
fn sessions_are_ended_only_where_a_postgres_has_them() {
    for lock in ["redis", "etcd", "redlock"] {
        let told = on(lock, "session-killed").unwrap_err();
        let why =
            format!("`kill-session` ends sessions of a Postgres, and the lock `{lock}` has none");
        assert!(told.contains(&why), "{told}");
    }
}

//! The whole suite on each lock back end: what is left out, with which reason, and what is refused
//! because a back end cannot do it.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::shipped::on;
use lockdrill::experiment::{self, LoadRequest, Loaded, Overrides};
use std::path::Path;

fn suite_on(lock: &str) -> LoadRequest {
    LoadRequest {
        all: true,
        overrides: Overrides {
            lock: Some(lock.to_owned()),
            ..Overrides::default()
        },
        root: Path::new(env!("CARGO_MANIFEST_DIR")).to_owned(),
        ..LoadRequest::default()
    }
}

#[test]
fn on_a_lock_for_no_drill_one_reason_is_told_and_it_is_that_of_the_command_line() {
    for (lock, why) in [
        ("memory", "exists within one process only"),
        ("no-such-lock", "no-such-lock"),
    ] {
        let refused = experiment::load_each(&suite_on(lock)).refused;
        let told: Vec<_> = refused.problems().iter().map(|p| p.to_string()).collect();
        assert_eq!(told.len(), 1, "{told:#?}");
        assert!(
            told[0].starts_with("--lock:1:1: ") && told[0].contains(why),
            "{told:?}"
        );
        // Whoever asks what fits hears the same of every drill.
        let Loaded {
            experiments,
            left_out,
            refused,
        } = experiment::load_fitting(&suite_on(lock));
        assert!(experiments.is_empty() && refused.is_empty());
        assert!(left_out.len() > 40);
        assert!(
            left_out.iter().all(|out| out.why.contains(why)),
            "{left_out:#?}"
        );
    }
}

#[test]
fn on_a_lock_that_sessions_are_a_drill_is_played_that_knows_when_one_ends() {
    for lock in ["postgres-advisory", "postgres-row"] {
        let loaded = experiment::load_fitting(&suite_on(lock));
        let played: Vec<_> = loaded.experiments.iter().map(|drill| &drill.name).collect();
        assert_eq!(
            played,
            [
                "black-holed-session",
                "fenced-read",
                "late-first",
                "outage",
                "partition",
                "pause",
                "paused-in-transaction",
                "session-is-the-lock",
                "stale-read",
                "state-machine",
            ],
            "{lock}"
        );
    }
}

#[test]
fn every_drill_of_the_suite_is_played_or_left_out_with_a_reason_on_every_lock() {
    let names = |loaded: &Loaded| {
        let played = loaded.experiments.iter().map(|drill| drill.name.clone());
        let out = loaded.left_out.iter().map(|out| out.drill.clone());
        let mut names: Vec<_> = played.chain(out).collect();
        names.sort();
        names
    };
    let all = LoadRequest {
        overrides: Overrides::default(),
        ..suite_on("redis")
    };
    let all = names(&experiment::load_fitting(&all));
    for lock in experiment::locks() {
        let loaded = experiment::load_fitting(&suite_on(&lock.name));
        assert_eq!(names(&loaded), all, "{}", lock.name);
        assert!(loaded.left_out.iter().all(|out| !out.why.is_empty()));
    }
}

#[test]
fn what_a_back_end_cannot_do_is_refused_before_anything_starts() {
    for (lock, drill, why) in [
        ("redlock", "zombie-refence", "can be drawn without the lock"),
        (
            "redis-sentinel",
            "zombie-refence",
            "can be drawn without the lock",
        ),
        (
            "redis-cluster",
            "clock-jump",
            "each of its servers has its own",
        ),
        (
            "redis-sentinel",
            "clock-back",
            "each of its servers has its own",
        ),
        (
            "redis-sentinel",
            "restart-none",
            "keeps all that it has answered",
        ),
        (
            "redis-cluster",
            "restart-everysec",
            "keeps all that it has answered",
        ),
        ("redis-cluster", "old-primary", "which of them has the lock"),
        ("redis-cluster", "stop-server", "which of them has the lock"),
        ("redis-sentinel", "refuse-writes", "asks for replicas that"),
    ] {
        let told = on(lock, drill).unwrap_err();
        assert!(told.contains(why), "{drill} on {lock}: {told}");
    }
    for (lock, drill) in [
        ("postgres", "zombie-refence"),
        ("etcd", "zombie-refence"),
        ("redis-cluster", "refuse-writes"),
        ("postgres", "clock-jump"),
        ("redis-sentinel", "old-primary"),
        ("redis-sentinel", "stop-server"),
    ] {
        assert!(on(lock, drill).is_ok(), "{drill} on {lock}");
    }
}

#[test]
fn a_server_that_forgets_nothing_makes_its_control_mean_nothing() {
    let restart = on("redis-sentinel", "restart").unwrap();
    assert!(restart.controls.is_empty());
    let why = &restart.not_applicable[0].why;
    assert!(why.contains("keeps all that it has answered"), "{why}");
}

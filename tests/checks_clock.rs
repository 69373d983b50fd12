//! Jumps of one wall clock, and workers that are asked to end, on literal histories: each way to
//! fake one leaves it unproven.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::history::*;

use lockdrill::plan::{FaultPlan, Heal, Service, Target};
use lockdrill::timeline::event::{By, Event};

const FAULT: &str = "f";
/// The jump begins here, is in effect 2 ms later, and is set right from `HEAL` to 2 ms later.
const BEGAN: u64 = 500;
const HEAL: u64 = 900;
const BY_MS: i64 = 31_000;

fn struck(kind: &str, worker: Option<&str>) -> Record {
    let mut h = Record::new();
    h.samples = false;
    let server = worker.is_none().then(|| SERVER.to_owned());
    let worker = worker.map(str::to_owned);
    let lasts = kind == "jump-clock";
    h.plan.faults.push(FaultPlan {
        name: FAULT.to_owned(),
        kind: kind.to_owned(),
        target: match &worker {
            Some(worker) => Target::Worker(worker.clone()),
            None => Target::Server(Service::Lock),
        },
        edge: None,
        command: None,
        by_ms: lasts.then_some(BY_MS),
        when: "a.acquired".to_owned(),
        heal: lasts.then_some(Heal::For(HEAL - BEGAN)),
    });
    h.lab(
        BEGAN + 2,
        Event::FaultOnset {
            fault: FAULT.to_owned(),
            kind: kind.to_owned(),
            worker,
            server,
            grant: None,
            trigger: "t".to_owned(),
            began: ns(BEGAN),
            effective: ns(BEGAN + 2),
        },
    );
    if lasts {
        h.heal(FAULT, HEAL);
    }
    h
}

/// Somebody is asked for the time; the clock is so far ahead of where it began.
fn asked(h: &mut Record, worker: Option<&str>, at: u64, ahead_ms: i64) {
    let (before, after) = (ns(at), ns(at) + 200_000);
    let wall_ms = i64::try_from(SERVER_AHEAD_MS + at).unwrap() + ahead_ms;
    let wall_us = u64::try_from(wall_ms).unwrap() * 1000 + 100;
    match worker {
        Some(worker) => h.push(
            after,
            By::Worker(worker.to_owned()),
            Event::WallClock {
                before,
                after,
                wall_us,
            },
        ),
        None => h.push(
            after,
            By::Server(SERVER.to_owned()),
            Event::ClockSample {
                server: SERVER.to_owned(),
                before,
                after,
                server_us: wall_us,
            },
        ),
    };
}

/// What shows a jump: readings before, at both ends, and after.
const SHOWN: [(u64, i64); 4] = [
    (BEGAN - 1, 0),
    (BEGAN + 1, BY_MS),
    (HEAL - 1, BY_MS),
    (HEAL + 1, 0),
];

fn jumped(worker: Option<&str>, readings: &[(u64, i64)]) -> Record {
    let mut h = struck("jump-clock", worker);
    for (at, ahead) in readings {
        asked(&mut h, worker, *at, *ahead);
    }
    h
}

#[track_caller]
fn lacks(h: &Record, what: &str) {
    assert_unknown(&h.judge("evidence"), what);
}

#[test]
fn a_jump_is_shown_by_what_its_owner_says() {
    for worker in [Some("a"), None] {
        let finding = jumped(worker, &SHOWN).judge("evidence");
        assert_holds(&finding);
        let told = "was to jump by +31.000 s and jumped by +31.000 s";
        assert!(finding.why.contains(told), "{}", finding.why);
    }
}

#[test]
fn each_reading_is_needed() {
    for worker in [Some("a"), None] {
        for (missing, what) in [
            (0, "before the jump"),
            (1, "at both ends of the jump"),
            (2, "at both ends of the jump"),
            (3, "after it was set right"),
        ] {
            let mut shown = SHOWN.to_vec();
            shown.remove(missing);
            lacks(&jumped(worker, &shown), what);
        }
    }
}

#[test]
fn a_clock_that_did_not_move_or_moved_otherwise_did_not_jump() {
    for worker in [Some("a"), None] {
        for (n, ahead) in [(1, 0), (1, 30_000), (2, 0), (2, -BY_MS), (3, BY_MS)] {
            let mut shown = SHOWN;
            shown[n].1 = ahead;
            lacks(&jumped(worker, &shown), "was to be ahead by");
        }
    }
}

#[test]
fn a_clock_that_was_put_back_in_between_did_not_stay() {
    let mut shown = SHOWN.to_vec();
    shown.push((700, 0));
    lacks(
        &jumped(None, &shown),
        "was to be ahead by +31.000 s at 0.70",
    );
    shown[4].1 = BY_MS;
    assert_holds(&jumped(None, &shown).judge("evidence"));
}

#[test]
fn what_the_measure_may_be_off_by_is_no_jump() {
    let off = |ms| {
        let mut shown = SHOWN;
        shown[1].1 += ms;
        jumped(Some("a"), &shown).judge("evidence")
    };
    assert_holds(&off(5));
    assert_unknown(&off(6), "was to be ahead by");
    assert_unknown(&off(-6), "was to be ahead by");
}

#[test]
fn another_ones_clock_shows_nothing() {
    let mut h = struck("jump-clock", Some("a"));
    for (at, ahead) in SHOWN {
        asked(&mut h, Some("b"), at, ahead);
    }
    lacks(&h, "a was not asked");
}

fn said(h: &mut Record, worker: &str, at: u64) {
    h.push(ns(at), By::Worker(worker.to_owned()), Event::AskedToEnd);
}

fn exited(h: &mut Record, at: u64, code: Option<i32>, signal: Option<i32>) {
    let worker = "a".to_owned();
    h.lab(
        at,
        Event::WorkerExited {
            worker,
            code,
            signal,
        },
    );
}

#[test]
fn who_was_asked_to_end_says_so_and_ends_by_itself() {
    let asked = || {
        let mut h = struck("terminate", Some("a"));
        said(&mut h, "a", BEGAN + 1);
        h
    };
    for code in [0, 143] {
        let mut h = asked();
        exited(&mut h, 800, Some(code), None);
        assert_holds(&h.judge("evidence"));
    }
    lacks(&asked(), "ended by itself");
    let mut killed = asked();
    exited(&mut killed, 800, None, Some(9));
    lacks(&killed, "ended by itself");
    let mut silent = struck("terminate", Some("a"));
    exited(&mut silent, 800, Some(0), None);
    lacks(&silent, "did not say");
    for (who, at) in [("a", BEGAN - 1), ("a", BEGAN + 3), ("b", BEGAN + 1)] {
        let mut h = struck("terminate", Some("a"));
        said(&mut h, who, at);
        exited(&mut h, 800, Some(0), None);
        lacks(&h, "did not say");
    }
}

//! `evidence` of injured edges on literal histories: what a stranger who tries them must see at
//! the onset, just before the heal and after it.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::history as support;

use lockdrill::plan::Service;
use lockdrill::timeline::event::{Event, Seen};
use support::*;

/// What is seen on an edge, at a time, ms.
struct Tried {
    at: u64,
    moment: &'static str,
    edge: &'static str,
    fresh: Seen,
    old: Option<Seen>,
}

/// The edge of worker a to the lock server is cut from 0.5 s to 1.5 s.
fn cut() -> Vec<Tried> {
    let tried = |at, moment, edge, fresh, old| Tried {
        at,
        moment,
        edge,
        fresh,
        old,
    };
    vec![
        tried(504, "cut", "a>store", Seen::Answered, None),
        tried(
            650,
            "cut",
            "a>redis",
            Seen::Silent,
            Some(Seen::NeverArrived),
        ),
        tried(1499, "heal", "a>redis", Seen::Silent, None),
        tried(1502, "healed", "a>redis", Seen::Answered, None),
    ]
}

fn story(tries: &[Tried]) -> Record {
    let mut record = Record::new();
    record.fault("island", "cut", "a", (500, 1500));
    record.plan.faults[0].edge = Some(Service::Lock);
    for tried in tries {
        record.lab(
            tried.at,
            Event::Probe {
                fault: "island".to_owned(),
                moment: tried.moment.to_owned(),
                edge: tried.edge.to_owned(),
                hit: tried.edge == "a>redis",
                fresh: tried.fresh,
                old: tried.old,
            },
        );
    }
    record
}

#[track_caller]
fn lacks(change: impl Fn(&mut Vec<Tried>), because: &str) {
    let mut tries = cut();
    change(&mut tries);
    assert_unknown(&story(&tries).judge("evidence"), because);
}

fn without(tries: &mut Vec<Tried>, index: usize) {
    tries.remove(index);
}

#[test]
fn an_edge_that_is_cut_until_the_heal_is_evident() {
    assert_holds(&story(&cut()).judge("evidence"));
}

#[test]
fn a_cut_that_somebody_took_away_before_the_heal_did_not_last() {
    lacks(
        |tries| tries[2].fresh = Seen::Answered,
        "just before the heal a new connection on a>redis was Answered",
    );
    lacks(
        |tries| tries[2].fresh = Seen::Refused,
        "just before the heal a new connection on a>redis was Refused",
    );
}

#[test]
fn an_edge_that_nobody_tried_just_before_the_heal_proves_nothing() {
    let nobody = "nobody tried the edge of a as `heal`";
    lacks(|tries| without(tries, 2), nobody);
    lacks(|tries| tries[2].edge = "a>store", nobody);
    // While it was being injured, or mended, it may have been anything.
    let untimely = "a>redis was not tried at its time as `heal`";
    lacks(|tries| tries[2].at = 501, untimely);
    lacks(|tries| tries[2].at = 1501, untimely);
}

#[test]
fn the_onset_and_the_removal_are_seen_on_every_edge() {
    lacks(
        |tries| without(tries, 1),
        "nobody tried the edge of a as `cut`",
    );
    lacks(
        |tries| tries[1].fresh = Seen::Answered,
        "a new connection on a>redis",
    );
    lacks(
        |tries| tries[1].old = Some(Seen::ReplyLost),
        "an old connection on a>redis",
    );
    lacks(
        |tries| tries[0].fresh = Seen::Silent,
        "a>store, which it must leave alone",
    );
    lacks(
        |tries| tries[3].fresh = Seen::Silent,
        "a>redis did not answer after the heal",
    );
    lacks(
        |tries| without(tries, 3),
        "nobody tried the edge of a as `healed`",
    );
}

/// By the kernel's tables the worker has a connection that leads past the edge.
#[test]
fn a_worker_with_a_way_past_its_edge_is_not_cut_off() {
    let past = |at, fresh| Tried {
        at,
        moment: "past",
        edge: "a>redis",
        fresh,
        old: None,
    };
    let mut tries = cut();
    tries.push(past(651, Seen::NeverArrived));
    tries.push(past(1499, Seen::NeverArrived));
    assert_holds(&story(&tries).judge("evidence"));
    let because = "not shown that there was no way past a>redis";
    for fresh in [Seen::Answered, Seen::Unknown] {
        lacks(|tries| tries.push(past(651, fresh)), because);
        lacks(|tries| tries.push(past(1499, fresh)), because);
    }
}

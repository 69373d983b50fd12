//! Grants of a lock on several servers of which a quorum has to agree, on literal histories.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::history::{Held, KEY, LEASE_MS, Record, SERVER, SERVER_AHEAD_MS, ns};
use lockdrill::checks::Outcome;
use lockdrill::ids::FencingToken;
use lockdrill::plan::{FaultPlan, Heal, Target};
use lockdrill::timeline::event::{Answer, By, Change, Event, Outcome as Told};
use lockdrill::timeline::history::{Cause, KeyEnd, QUORUM};

const SERVERS: [&str; 3] = [SERVER, "two", "three"];

/// A record of three servers, and the next place in the order of each.
struct Three {
    h: Record,
    pos: [u64; 3],
}

impl Three {
    fn new() -> Three {
        let mut h = Record::new();
        h.plan.lock.voters = 3;
        h.samples = false;
        for name in &SERVERS[1..] {
            let server = (*name).to_owned();
            h.lab(0, Event::ObserverSynced { server });
        }
        for server in SERVERS {
            for at in (0..5_000).step_by(100) {
                let sample = Event::ClockSample {
                    server: server.to_owned(),
                    before: ns(at),
                    after: ns(at),
                    server_us: (SERVER_AHEAD_MS + at) * 1000,
                };
                h.lab(at, sample);
            }
        }
        Three { h, pos: [0; 3] }
    }

    fn effect(&mut self, server: usize, at: u64, change: Change) {
        let name = SERVERS[server].to_owned();
        let event = Event::Effect {
            server: name.clone(),
            pos: self.pos[server],
            key: KEY.to_owned(),
            change,
        };
        self.pos[server] += 1;
        self.h.push(ns(at), By::Server(name), event);
    }

    fn vote(&mut self, server: usize, at: u64, held: &Held) {
        let change = Change::Set {
            owner: held.owner.clone(),
            fencing: held.fencing,
            until_ms: Some(SERVER_AHEAD_MS + at + LEASE_MS),
        };
        self.effect(server, at, change);
    }

    /// An attempt that these servers vote for.
    fn acquire(&mut self, worker: &str, at: u64, token: u64, servers: &[usize]) -> Held {
        let (mut held, op) = self.h.attempt(worker, at - 1);
        held.fencing = Some(FencingToken(token));
        for (step, server) in servers.iter().enumerate() {
            self.vote(*server, at + step as u64, &held);
        }
        self.h.told_granted(&held, op, at + 10);
        held
    }

    fn release(&mut self, held: &Held, at: u64, servers: &[usize]) {
        let op = self.h.send_release(held, at - 1);
        for server in servers {
            self.effect(*server, at, Change::Deleted);
        }
        self.h
            .ret(&held.worker, op, at + 1, Told::Ok, Answer::Released);
    }

    fn outcome(&self, check: &str) -> (Outcome, bool) {
        let finding = lockdrill::checks::find(check)
            .unwrap()
            .judge(&self.h.history());
        (finding.outcome, finding.vacuous)
    }
}

#[test]
fn a_grant_is_there_while_a_quorum_holds_its_key() {
    let mut three = Three::new();
    let a = three.acquire("a", 100, 1, &[0, 1, 2]);
    three.release(&a, 400, &[0, 1, 2]);
    let b = three.acquire("b", 500, 2, &[2, 0]);
    three.release(&b, 600, &[0, 2]);
    three.h.ends(5_000, "complete");
    let history = three.h.history();
    let [one, two] = &history.grants[..] else {
        panic!("{:#?}", history.grants);
    };
    assert!(one.server == QUORUM && one.worker == Some(0) && two.worker == Some(1));
    // With the second vote, and not with the first; until the second is gone.
    assert!(one.granted.latest >= ns(101) && one.granted.earliest < ns(102));
    assert!(matches!(one.end, KeyEnd::Released { .. }));
    assert_eq!(two.fencing, Some(FencingToken(2)));
    for check in ["single_holder", "fencing_rises", "owner_only"] {
        assert_eq!(three.outcome(check).0, Outcome::Holds, "{check}");
    }
}

/// The third server votes, and renews, when two have decided and the holder has been told; and what a
/// holder had for a moment alone is read at once, come and gone.
#[test]
fn a_vote_that_comes_late_belongs_to_its_attempt() {
    let mut three = Three::new();
    let a = three.acquire("a", 100, 1, &[0, 1]);
    three.vote(2, 125, &a);
    let op = three.h.send_renewal(&a, 400);
    let until_ms = Some(SERVER_AHEAD_MS + 401 + LEASE_MS);
    for server in [0, 2] {
        three.effect(server, 401, Change::Extended { until_ms });
    }
    three.h.ret("a", op, 403, Told::Ok, Answer::Renewed);
    three.release(&a, 600, &[0, 1, 2]);
    let (mut b, op) = three.h.attempt("b", 699);
    b.fencing = Some(FencingToken(2));
    three.h.told_granted(&b, op, 702);
    let release = three.h.send_release(&b, 704);
    for server in [0, 1] {
        let change = Change::Set {
            owner: b.owner.clone(),
            fencing: b.fencing,
            until_ms: Some(SERVER_AHEAD_MS + 700 + LEASE_MS),
        };
        three.effect(server, 706, change);
        three.effect(server, 706, Change::Deleted);
    }
    three.h.ret("b", release, 706, Told::Ok, Answer::Released);
    three.h.ends(5_000, "complete");
    let history = three.h.history();
    let [one, two] = &history.grants[..] else {
        panic!("{:#?}", history.grants);
    };
    assert!(one.worker == Some(0) && two.worker == Some(1) && two.doubt.is_none());
    assert_eq!(one.extensions.len(), 1, "{one:#?}");
    for check in ["outcome_honesty", "single_holder", "owner_only"] {
        assert_eq!(three.outcome(check).0, Outcome::Holds, "{check}");
    }
}

/// A holder takes and gives back twice while the observers read nothing, and all of it is read at
/// once: which release ended which vote cannot be told, and nothing is called a lie.
#[test]
fn what_came_and_went_twice_before_it_was_read_is_a_doubt() {
    let mut three = Three::new();
    let mut changes = Vec::new();
    for (token, at) in [(1, 100), (2, 110)] {
        let (mut held, op) = three.h.attempt("a", at);
        held.fencing = Some(FencingToken(token));
        three.h.told_granted(&held, op, at + 3);
        let release = three.h.send_release(&held, at + 4);
        let end = (Told::Ok, Answer::Released);
        three.h.ret("a", release, at + 6, end.0, end.1);
        let set = Change::Set {
            owner: held.owner.clone(),
            fencing: held.fencing,
            until_ms: Some(SERVER_AHEAD_MS + at + 1 + LEASE_MS),
        };
        changes.extend([set, Change::Deleted]);
    }
    for (server, seen) in [(0, 130), (2, 132)] {
        for change in &changes {
            three.effect(server, seen, change.clone());
        }
    }
    three.h.ends(5_000, "complete");
    let history = three.h.history();
    let [one, two] = &history.grants[..] else {
        panic!("{:#?}", history.grants);
    };
    assert!(one.doubt.is_some() && two.worker == Some(0), "{one:#?}");
    assert_ne!(three.outcome("outcome_honesty").0, Outcome::Violated);
}

#[test]
fn one_vote_of_three_is_no_grant() {
    let mut three = Three::new();
    three.acquire("a", 100, 1, &[0]);
    three.acquire("b", 110, 1, &[1]);
    three.h.ends(5_000, "complete");
    assert!(three.h.history().grants.is_empty());
    assert_eq!(three.outcome("single_holder"), (Outcome::Holds, true));
}

#[test]
fn a_server_that_forgets_gives_a_second_quorum() {
    let mut three = Three::new();
    three.acquire("a", 100, 5, &[0, 1]);
    let change = Change::Restarted {
        owner: None,
        fencing: None,
        until_ms: None,
    };
    three.effect(1, 300, change);
    three.acquire("b", 400, 1, &[1, 2]);
    three.h.ends(5_000, "complete");
    let history = three.h.history();
    let lost = &history.grants[0].end;
    assert!(
        matches!(
            lost,
            KeyEnd::Taken {
                cause: Cause::Restart,
                ..
            }
        ),
        "{lost:?}"
    );
    assert_eq!(three.outcome("single_holder").0, Outcome::Violated);
    assert_eq!(three.outcome("fencing_rises").0, Outcome::Violated);
}

#[test]
fn the_lease_of_a_quorum_is_as_long_as_the_second_longest() {
    let mut three = Three::new();
    let a = three.acquire("a", 100, 1, &[0, 1, 2]);
    let op = three.h.send_renewal(&a, 599);
    for server in [0, 1] {
        let until_ms = Some(SERVER_AHEAD_MS + 600 + LEASE_MS);
        three.effect(server, 600, Change::Extended { until_ms });
    }
    three.h.ret("a", op, 601, Told::Ok, Answer::Renewed);
    three.h.ends(5_000, "complete");
    let history = three.h.history();
    let ends = history.grants[0].lease_ends;
    assert!(
        ends.earliest <= ns(1_600) && ns(1_600) <= ends.latest,
        "{ends:?}"
    );
    assert_eq!(history.grants[0].extensions.len(), 1);
    assert_eq!(three.outcome("owner_only").0, Outcome::Holds);
}

/// The first vote of a try that was withdrawn may or may not have been gone when the second try
/// got one elsewhere: nothing is said of that, neither red nor green.
#[test]
fn a_quorum_with_a_withdrawn_vote_that_was_seen_for_a_moment_is_a_doubt() {
    let mut three = Three::new();
    three.acquire("a", 100, 1, &[1, 2]);
    let flushed = three.h.attempt("c", 290).0;
    three.effect(1, 200, Change::Flushed);
    let mut b = flushed;
    b.fencing = Some(FencingToken(2));
    three.vote(0, 300, &b);
    three.vote(1, 302, &b);
    three.effect(0, 303, Change::Deleted);
    three.effect(1, 304, Change::Deleted);
    three.h.ends(5_000, "complete");
    assert_eq!(three.outcome("single_holder").0, Outcome::Unknown);
}

#[test]
fn a_gap_of_one_observer_leaves_everything_open() {
    let mut three = Three::new();
    let a = three.acquire("a", 100, 1, &[0, 1]);
    three.release(&a, 400, &[0, 1]);
    let gap = Event::ObserverGap {
        server: SERVERS[2].to_owned(),
        why: "the stream broke off".to_owned(),
    };
    three
        .h
        .push(ns(450), By::Server(SERVERS[2].to_owned()), gap);
    three.acquire("b", 500, 2, &[0, 1]);
    three.h.ends(5_000, "complete");
    assert_eq!(three.outcome("single_holder").0, Outcome::Unknown);
}

/// Three servers of which these hang, each from when to when, while c waits from 150 ms on in vain.
fn hanging(hangs: &[(&str, u64, u64)]) -> Three {
    let mut three = Three::new();
    for (server, from, to) in hangs {
        three.h.plan.faults.push(FaultPlan {
            name: format!("{server}-{from}"),
            kind: "stop-server".to_owned(),
            target: Target::Member((*server).to_owned()),
            edge: None,
            command: None,
            by_ms: None,
            when: "a.acquired".to_owned(),
            heal: Some(Heal::For(to - from)),
        });
        three.h.lab(
            *from,
            Event::FaultOnset {
                fault: format!("{server}-{from}"),
                kind: "stop-server".to_owned(),
                worker: None,
                server: Some((*server).to_owned()),
                grant: None,
                trigger: "t".to_owned(),
                began: ns(*from),
                effective: ns(*from),
            },
        );
        three.h.heal(&format!("{server}-{from}"), *to);
    }
    let op = three.h.enter("c", 150);
    three.h.ret("c", op, 3_000, Told::Fail, Answer::TimedOut);
    three.h.ends(5_000, "complete");
    three
}

/// Lease and bound are 1.5 s. What leaves a quorum alone need not be healed before a free lock is owed.
#[test]
fn a_minority_that_hangs_keeps_the_lock_from_nobody() {
    let judged = |hangs: &[_]| hanging(hangs).outcome("recovers");
    let violated = (Outcome::Violated, false);
    assert_eq!(judged(&[("two", 100, 4_000)]), violated);
    // One after the other, the second for a second of the wait and more.
    let in_turn = [("two", 100, 1_000), ("three", 1_100, 4_000)];
    assert_eq!(judged(&in_turn), violated);
    // Two at a time are a majority, and the wait was over when they were back.
    let at_once = [("two", 100, 4_000), ("three", 1_000, 4_500)];
    assert_eq!(judged(&at_once), (Outcome::Holds, true));
    let of_one = {
        let mut three = hanging(&[("two", 100, 4_000)]);
        three.h.plan.lock.voters = 0;
        three.outcome("recovers")
    };
    assert_eq!(of_one, (Outcome::Holds, true), "nobody else decides");
}

//! Literal lines, and what is known after them.

use super::*;
use crate::timeline::event::Change;

fn line(by: By, event: Event) -> Line {
    Line {
        seq: 0,
        at: 0,
        by,
        event,
    }
}

#[test]
fn the_holder_is_whom_the_server_names_while_the_lease_lasts() {
    let mut truth = Truth::default();
    let owner = OwnerDigest("aa".into());
    let grant = GrantId("a.1".into());
    let server = || By::Server("redis".into());
    truth.note(&line(
        By::Worker("a".into()),
        Event::Invoke {
            op: 1,
            step: None,
            call: Call::Attempt {
                grant: grant.clone(),
                owner: owner.clone(),
            },
        },
    ));
    assert!(truth.holder(0).is_err());
    truth.note(&line(
        server(),
        Event::ClockSample {
            server: "redis".into(),
            before: 0,
            after: 0,
            server_us: 1_000_000,
        },
    ));
    truth.note(&line(
        server(),
        Event::Effect {
            server: "redis".into(),
            pos: 0,
            key: "k".into(),
            change: Change::Set {
                owner,
                fencing: None,
                until_ms: Some(2000),
            },
        },
    ));
    assert_eq!(truth.holder(999_000_000), Ok(("a".into(), grant)));
    assert!(truth.holder(1_000_000_000).is_err(), "the lease has ended");
}

#[test]
fn of_several_servers_the_one_that_took_over_last_says_who_holds() {
    let mut truth = Truth::default();
    let role = |server: &str, primary, links, since| {
        let server = server.to_owned();
        let event = Event::ServerRole {
            server,
            primary,
            links,
            since,
        };
        line(By::Lab, event)
    };
    truth.note(&role("one", true, 2, None));
    truth.note(&role("two", false, 1, None));
    assert_eq!(truth.copies("one"), None, "one says that two copy it");
    truth.note(&role("one", true, 1, Some(5)));
    assert_eq!(truth.copies("one"), Some(1));
    assert_eq!(truth.copies("two"), None);
    // One that never takes over keeps its link.
    assert!(truth.is_cut_off("one", &["two"]));
    assert_eq!(truth.takes_writes(), Some("one"));
    assert!(!truth.is_cut_off("one", &[]));
    truth.note(&role("one", true, 0, Some(10)));
    assert!(!truth.is_cut_off("one", &[]), "the other still has a link");
    truth.note(&role("two", false, 0, Some(20)));
    assert!(truth.is_cut_off("one", &[]));
    assert_eq!(truth.copies("one"), None);
    truth.note(&role("two", true, 0, Some(30)));
    assert_eq!(truth.takes_writes(), Some("two"));
    // That another count of links is seen does not make it the newer one.
    truth.note(&role("one", true, 1, Some(40)));
    assert_eq!(truth.takes_writes(), Some("two"));
    assert!(truth.is_primary("one") && truth.is_primary("two"));
}

#[test]
fn of_several_votes_a_quorum_says_who_holds() {
    let mut truth = Truth::by(2);
    let names = ["redis-1", "redis-2", "redis-3"];
    for (worker, owner) in [("a", "aa"), ("b", "bb")] {
        let call = Call::Attempt {
            grant: GrantId(format!("{worker}.1")),
            owner: OwnerDigest(owner.into()),
        };
        let (op, step) = (1, None);
        truth.note(&line(
            By::Worker(worker.into()),
            Event::Invoke { op, step, call },
        ));
    }
    for server in names.map(str::to_owned) {
        let sample = Event::ClockSample {
            server,
            before: 0,
            after: 0,
            server_us: 1_000_000,
        };
        truth.note(&line(By::Lab, sample));
    }
    let mut vote = |server: &str, owner: &str| {
        let change = Change::Set {
            owner: OwnerDigest(owner.into()),
            fencing: None,
            until_ms: Some(2000),
        };
        let event = Event::Effect {
            server: server.into(),
            pos: 0,
            key: "k".into(),
            change,
        };
        truth.note(&line(By::Server(server.into()), event));
        truth.holder(0).map(|(worker, _)| worker)
    };
    assert!(vote("redis-1", "aa").is_err(), "one vote");
    assert!(vote("redis-2", "bb").is_err(), "one each");
    assert_eq!(vote("redis-3", "bb"), Ok("b".to_owned()));
}

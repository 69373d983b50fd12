//! Literal lines, and what is known after them.

use super::*;

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

//! One command after the other, in words.

use super::*;
use crate::ids::{FencingToken, OwnerDigest};

fn read(effects: &mut Effects, command: &str) -> Vec<Seen> {
    effects.read(
        &command
            .split(' ')
            .map(|word| word.as_bytes().to_vec())
            .collect(),
    )
}

fn change(seen: &[Seen]) -> Option<(u64, String, Change)> {
    match seen {
        [
            Seen::Effect(Event::Effect {
                pos, key, change, ..
            }),
        ] => Some((*pos, key.clone(), change.clone())),
        _ => None,
    }
}

#[test]
fn a_grant_a_renewal_and_an_end_in_the_servers_order() {
    let mut effects = Effects::new("redis", "lab:");
    assert_eq!(
        change(&read(&mut effects, "INCR lab:{orders}:fence")),
        Some((0, "orders".into(), Change::Counter { value: Some(1) }))
    );
    let owner = OwnerDigest::of(b"s3cret");
    assert_eq!(
        change(&read(&mut effects, "SET lab:{orders} s3cret:1 PXAT 1700")),
        Some((
            1,
            "orders".into(),
            Change::Set {
                owner,
                fencing: Some(FencingToken(1)),
                until_ms: Some(1700)
            }
        ))
    );
    assert_eq!(
        change(&read(&mut effects, "PEXPIREAT lab:{orders} 1900")),
        Some((
            2,
            "orders".into(),
            Change::Extended {
                until_ms: Some(1900)
            }
        ))
    );
    assert_eq!(
        change(&read(&mut effects, "DEL lab:{orders}")),
        Some((3, "orders".into(), Change::Deleted))
    );
}

#[test]
fn a_lock_that_is_set_to_what_it_holds_is_extended_and_set_anew_after_its_end_is_granted() {
    let mut effects = Effects::new("redis", "lab:");
    let mut told = |command: &str| change(&read(&mut effects, command)).unwrap().2;
    let is_grant = |change: &Change| matches!(change, Change::Set { .. });
    let extended = |until| Change::Extended {
        until_ms: Some(until),
    };
    assert!(is_grant(&told("SET lab:{k} a:1 PXAT 1700")));
    assert_eq!(told("SET lab:{k} a:1 PXAT 1900"), extended(1900));
    assert_eq!(told("SET lab:{k} a:1 PXAT 1900"), extended(1900));
    for end in ["DEL lab:{k}", "FLUSHALL"] {
        told(end);
        assert!(is_grant(&told("SET lab:{k} a:1 PXAT 2000")), "{end}");
    }
    for other in ["a:2", "b:2", "b"] {
        assert!(
            is_grant(&told(&format!("SET lab:{{k}} {other} PXAT 9"))),
            "{other}"
        );
    }
    assert!(is_grant(&told("SET lab:{j} b PXAT 2000")), "another lock");
}

#[test]
fn a_lock_that_was_held_before_is_extended() {
    let mut effects = Effects::new("redis", "lab:");
    effects.go_on("k", (OwnerDigest::of(b"a"), Some(FencingToken(3))));
    let seen = change(&read(&mut effects, "SET lab:{k} a:3 PXAT 1900"));
    assert!(
        matches!(seen, Some((_, _, Change::Extended { .. }))),
        "{seen:?}"
    );
}

#[test]
fn a_value_without_a_number_names_its_owner_alone() {
    for (value, owner, number) in [
        ("s3cret:7", "s3cret", Some(7)),
        ("s3cret:", "s3cret", None),
        ("s3cret", "s3cret", None),
        ("s3cret:x", "s3cret:x", None),
        ("s3:cret:7", "s3:cret", Some(7)),
    ] {
        let mut effects = Effects::new("redis", "lab:");
        let seen = read(&mut effects, &format!("SET lab:{{orders}} {value} PXAT 5"));
        let Some((
            _,
            _,
            Change::Set {
                owner: o, fencing, ..
            },
        )) = change(&seen)
        else {
            panic!("{value}: {seen:?}");
        };
        assert_eq!(o, OwnerDigest::of(owner.as_bytes()), "{value}");
        assert_eq!(fencing, number.map(FencingToken), "{value}");
    }
}

#[test]
fn a_counter_that_was_deleted_or_flushed_counts_from_nothing() {
    let mut effects = Effects::new("redis", "lab:");
    let mut counts = |command: &str| match change(&read(&mut effects, command)) {
        Some((_, key, Change::Counter { value })) if key == "orders" => value,
        _other => None,
    };
    assert_eq!(counts("INCRBY lab:{orders}:fence 4"), Some(4));
    assert_eq!(counts("DEL lab:{orders}:fence"), Some(0));
    assert_eq!(counts("INCR lab:{orders}:fence"), Some(1));
    assert_eq!(counts("UNLINK lab:{orders}:fence"), Some(0));
    assert_eq!(counts("SET lab:{orders}:fence 9"), Some(9));
    assert_eq!(counts("FLUSHALL"), None);
    assert_eq!(counts("INCR lab:{orders}:fence"), Some(1));
}

#[test]
fn foreign_keys_and_helper_keys_are_not_ours() {
    let mut effects = Effects::new("redis", "lab:");
    for command in [
        "SET other x PXAT 1",
        "SET lab:{orders}:queue x PXAT 1",
        "DEL lab:{orders}:queue",
        "PING",
        "MULTI",
        "EXEC",
        "SELECT 0",
    ] {
        assert_eq!(read(&mut effects, command), vec![], "{command}");
    }
}

#[test]
fn what_is_done_in_another_database_is_not_done_to_the_lab() {
    let mut effects = Effects::new("redis", "lab:");
    let mut seen = |command: &str| read(&mut effects, command).len();
    assert_eq!(seen("SELECT 3"), 0);
    assert_eq!(seen("FLUSHDB"), 0);
    assert_eq!(seen("DEL lab:{orders}"), 0);
    assert_eq!(seen("FLUSHALL"), 1);
    assert_eq!(seen("SELECT 0"), 0);
    assert_eq!(seen("FLUSHDB"), 1);
    assert_eq!(seen("DEL lab:{orders}"), 1);
}

#[test]
fn a_mark_is_seen_as_such() {
    let mut effects = Effects::new("redis", "lab:");
    assert_eq!(
        read(&mut effects, "SET lab:mark end PXAT 5"),
        vec![Seen::Mark("end".into())]
    );
}

#[test]
fn what_nobody_can_read_of_a_key_of_a_lock_is_told() {
    for (command, told) in [
        ("RENAME other lab:{orders}", 1),
        ("RENAME other lab:{orders}:fence", 1),
        ("RENAME lab:{orders} lab:{bills}", 2),
        ("COPY other lab:{orders}", 1),
        ("COPY other lab:{orders} DB 3", 0),
        ("COPY lab:{orders} other", 0),
        ("RESTORE lab:{orders} 0 xyz ABSTTL", 1),
        ("SET lab:{orders} x KEEPTTL", 1),
        ("APPEND lab:{orders}:fence 1", 1),
        ("SWAPDB 0 1", 1),
        ("SWAPDB 2 1", 0),
        ("CLUSTER FLUSHSLOT 7", 1),
        ("TRIMSLOTS RANGES 1 0 7", 1),
        ("NOSUCHCOMMAND a lab:{orders} b", 1),
        ("NOSUCHCOMMAND a lab:{orders}:wake b", 0),
        ("PUBLISH lab:{orders} lab:{orders}", 0),
    ] {
        let seen = read(&mut Effects::new("redis", "lab:"), command);
        assert_eq!(seen.len(), told, "{command}: {seen:?}");
        let last = seen.last();
        assert!(matches!(last, None | Some(Seen::Lost(_))), "{command}");
    }
}

/// From another database into the lab's.
#[test]
fn what_comes_from_another_database_is_told_too() {
    let mut effects = Effects::new("redis", "lab:");
    read(&mut effects, "SELECT 3");
    for command in [
        "MOVE lab:{orders} 0",
        "COPY a lab:{orders} DB 0",
        "SWAPDB 3 0",
    ] {
        let seen = read(&mut effects, command);
        assert!(matches!(seen[..], [Seen::Lost(_)]), "{command}: {seen:?}");
    }
    for command in [
        "MOVE lab:{orders} 4",
        "COPY a lab:{orders}",
        "RENAME a lab:{orders}",
    ] {
        assert_eq!(read(&mut effects, command), vec![], "{command}");
    }
}

#[test]
fn a_counter_goes_down_too_and_is_unknown_once_it_is_no_number() {
    let mut effects = Effects::new("redis", "lab:");
    let mut counts = |command: &str| match change(&read(&mut effects, command)) {
        Some((_, _, Change::Counter { value })) => value,
        other => panic!("{other:?}"),
    };
    assert_eq!(counts("INCRBY lab:{orders}:fence 4"), Some(4));
    assert_eq!(counts("INCRBY lab:{orders}:fence -1"), Some(3));
    assert_eq!(counts("DECR lab:{orders}:fence"), Some(2));
    assert_eq!(counts("DECRBY lab:{orders}:fence 5"), None);
    assert_eq!(counts("INCRBY lab:{orders}:fence 9"), Some(6));
    assert_eq!(counts("SET lab:{orders}:fence 1.5 KEEPTTL"), None);
    assert_eq!(counts("INCR lab:{orders}:fence"), None);
    assert_eq!(counts("DEL lab:{orders}:fence"), Some(0));
}

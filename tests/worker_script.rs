//! What a worker does with its script and what it says while it does it.
#![allow(clippy::unwrap_used)]

use crate::support;

use lockdrill::ids::FencingToken;
use lockdrill::plan::StepAction::{self, *};
use lockdrill::store::Fence;
use lockdrill::timeline::event::{Answer, Call, Event, Outcome};
use lockdrill::worker::WorkerLine;
use std::collections::HashMap;
use support::drill::{Drill, script};
use support::played_director::{Played, transcript};

/// Plays the whole script of the only worker; returns what it said.
fn play(drill: &Drill) -> Played {
    let mut played = drill.start("a", &[]);
    let status = played.finish();
    let log = std::fs::read_to_string(&played.stderr).unwrap();
    assert!(status.success(), "{status}: {log}");
    played
}

fn alone(actions: &[StepAction]) -> Drill {
    Drill::alone(script(actions))
}

#[test]
fn a_script_is_told_step_by_step_each_thing_before_it_is_done() {
    let drill = alone(&[Acquire, Check, Write, Read, Release]);
    let played = play(&drill);
    let granted = r#"{"granted":{"grant":"a.1","fencing":1,"lease_ms":60000}}"#;
    let expected = [
        "at a.start",
        "at a.acquire.1.before",
        "1 acquire.1: acquire",
        "2 acquire.1: attempt",
        "at a.acquire.1.armed",
        &format!("2 ok: {granted}"),
        &format!("1 ok: {granted}"),
        "at a.acquire.1.after",
        "at a.check.1.before",
        "3 check.1: check",
        r#"3 ok: {"locked":{"locked":true}}"#,
        "at a.check.1.after",
        "at a.write.1.before",
        "4 write.1: read",
        r#"4 ok: {"value":{"write":null}}"#,
        "5 write.1: write",
        "at a.write.1.armed",
        r#"5 ok: "accepted""#,
        "at a.write.1.after",
        "at a.read.1.before",
        "6 read.1: read_under",
        "at a.read.1.armed",
        r#"6 ok: {"value":{"write":"a.write.1"}}"#,
        "at a.read.1.after",
        "at a.release.1.before",
        "7 release.1: release",
        r#"7 ok: "released""#,
        "at a.release.1.after",
    ];
    assert_eq!(transcript(&played.seen), expected);
}

#[test]
fn operations_are_paired_and_times_rise() {
    let played = play(&alone(&[Acquire, Write, Renew, Write, Release, Check]));
    let mut open: HashMap<u64, &WorkerLine> = HashMap::new();
    let mut last_op = 0;
    let mut last_at = 0;
    for line in &played.seen {
        assert!(line.at >= last_at, "times rise");
        last_at = line.at;
        match &line.event {
            Event::Invoke { op, .. } => {
                assert_eq!(*op, last_op + 1, "numbers without gaps");
                last_op = *op;
                open.insert(*op, line);
            }
            Event::Return { op, .. } => {
                open.remove(op).expect("invoked before it returned");
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "never answered: {open:?}");
}

#[test]
fn the_store_applies_a_write_between_its_armed_point_and_its_answer() {
    let drill = alone(&[Acquire, Write, Write]);
    let played = play(&drill);
    for line in drill.store_log() {
        let armed = format!("{}.armed", line.attempt.write);
        let at_armed = played
            .seen
            .iter()
            .position(|said| matches!(&said.event, Event::Point { point, .. } if *point == armed))
            .unwrap();
        let [before, after] = &played.seen[at_armed..=at_armed + 1] else {
            panic!("{armed} is the last word");
        };
        assert!(before.at <= line.applied_ns, "told before it is done");
        assert!(line.applied_ns <= after.at);
    }
}

#[test]
fn a_seal_follows_the_grant_and_precedes_the_next_step() {
    let mut drill = alone(&[Acquire, Write]);
    drill.plan.store.seal = true;
    let told = transcript(&play(&drill).seen);
    let at = |text: &str| told.iter().position(|line| line == text).unwrap();
    assert!(at("3 acquire.1: seal") < at("at a.acquire.1.after"));
    let order = [
        ("a.seal.1".to_owned(), true),
        ("a.write.1".to_owned(), true),
    ];
    assert_eq!(drill.attempts(), order);
}

#[test]
fn a_write_names_the_grant_the_fencing_token_and_what_it_is_based_on() {
    let drill = alone(&[Acquire, Write, Write, Release, Acquire, Write]);
    play(&drill);
    let log = drill.store_log().into_iter().map(|line| line.attempt);
    let said: Vec<_> = log
        .map(|put| (put.based_on, put.grant.map(|g| g.0), put.fencing))
        .collect();
    let (one, two) = (Some(FencingToken(1)), Some(FencingToken(2)));
    let name = |text: &str| Some(text.to_owned());
    let expected = [
        (None, name("a.1"), one),
        (name("a.write.1"), name("a.1"), one),
        (name("a.write.2"), name("a.2"), two),
    ];
    assert_eq!(said, expected);
}

#[test]
fn a_write_reads_first_unless_its_grant_has_read_or_written() {
    let actions = [
        Acquire, Write, Write, Release, Acquire, Write, Release, Acquire, Read, Write,
    ];
    let told = transcript(&play(&alone(&actions)).seen);
    let reads: Vec<&str> = told
        .iter()
        .filter_map(|line| {
            let told = line.split_once(' ')?.1;
            told.strip_suffix(": read")
                .or_else(|| told.strip_suffix(": read_under"))
        })
        .collect();
    assert_eq!(reads, ["write.1", "write.3", "read.1"]);
}

#[test]
fn a_script_does_what_it_says_even_without_the_lock() {
    let drill = alone(&[Write, Check, Release]);
    let played = play(&drill);
    let write = played.seen.iter().find_map(|line| match &line.event {
        Event::Invoke {
            call: Call::Write { grant, fencing, .. },
            ..
        } => Some((grant.clone(), *fencing)),
        _ => None,
    });
    assert_eq!(write, Some((None, None)));
    assert_eq!(drill.attempts(), [("a.write.1".to_owned(), false)]);
    let told = transcript(&played.seen);
    assert!(
        told.contains(&r#"3 ok: {"locked":{"locked":false}}"#.to_owned()),
        "{told:#?}"
    );
}

#[test]
fn off_takes_a_write_without_a_lock() {
    let mut drill = alone(&[Write]);
    drill.fence = Fence::Off;
    play(&drill);
    assert_eq!(drill.attempts(), [("a.write.1".to_owned(), true)]);
}

#[test]
fn a_lost_lock_is_told_once_and_ends_a_script_that_asks() {
    let mut drill = alone(&[Acquire, Hold { for_ms: 500 }, Check, StopIfLost, Write]);
    drill.plan.lock.lease_ms = 100;
    let played = play(&drill);
    let told = transcript(&played.seen);
    let lost = told.iter().filter(|line| *line == "lost a.1: deadline");
    assert_eq!(lost.count(), 1, "{told:#?}");
    assert!(told.contains(&"at a.stop_if_lost.1.after".to_owned()));
    assert!(
        !told.contains(&"at a.write.1.before".to_owned()),
        "{told:#?}"
    );
    assert_eq!(drill.attempts(), []);

    // The deadline is lab time: after the attempt was sent, at most a lease later.
    let sent = played.seen.iter().find_map(|line| match line.event {
        Event::Invoke {
            call: Call::Attempt { .. },
            ..
        } => Some(line.at),
        _ => None,
    });
    let (deadline, told_at) = played
        .seen
        .iter()
        .find_map(|line| match line.event {
            Event::Lost { deadline, .. } => Some((deadline, line.at)),
            _ => None,
        })
        .unwrap();
    let sent = sent.unwrap();
    assert!(
        deadline > sent && deadline <= sent + 101_000_000,
        "{sent} {deadline}"
    );
    assert!(told_at >= deadline, "not before its own deadline");
}

#[test]
fn without_stop_if_lost_the_script_goes_on() {
    let mut drill = alone(&[Acquire, Hold { for_ms: 300 }, Write]);
    drill.plan.lock.lease_ms = 100;
    play(&drill);
    assert_eq!(drill.attempts(), [("a.write.1".to_owned(), true)]);
}

#[test]
fn the_lock_is_renewed_while_the_script_is_parked() {
    let mut drill = alone(&[Acquire, Write, Check, Release]);
    drill.plan.lock.lease_ms = 400;
    drill.plan.lock.renew_ms = Some(100);
    let mut a = drill.start("a", &["a.write.1.armed"]);
    a.until_waiting("a.write.1.armed");
    // Longer than three leases: without renewals the lock is gone.
    let mut renewals = 0;
    while renewals < 15 {
        a.until("renewal", |event| {
            matches!(
                event,
                Event::Return {
                    answer: Answer::Renewed,
                    outcome: Outcome::Ok,
                    ..
                }
            )
        });
        renewals += 1;
    }
    a.go();
    assert!(a.finish().success());
    let told = transcript(&a.seen);
    assert!(
        !told.iter().any(|line| line.starts_with("lost")),
        "{told:#?}"
    );
    let auto = told.iter().filter(|line| line.ends_with(" -: renew"));
    assert!(
        auto.count() >= 15,
        "the lock's own renewals belong to no step"
    );
}

#[test]
fn a_worker_waits_for_its_start_for_events_and_where_it_is_parked() {
    let event = || "b.acquired".to_owned();
    let steps = [
        Await { event: event() },
        HoldUntil { event: event() },
        Check,
    ];
    let mut drill = alone(&steps);
    drill.plan.workers[0].start = Some("b.acquired".to_owned());
    let mut a = drill.start("a", &["a.check.1.after"]);
    for point in [
        "a.start",
        "a.await.1.before",
        "a.hold.1.before",
        "a.check.1.after",
    ] {
        a.until_waiting(point);
        a.go();
        let resumed = a.next_within(support::played_director::PATIENCE).unwrap();
        let expected = Event::Resumed {
            point: point.to_owned(),
        };
        assert_eq!(resumed.event, expected, "the first thing after the byte");
    }
    assert!(a.finish().success());
}

#[test]
fn a_handle_that_is_held_at_the_end_is_given_back_and_told() {
    let played = play(&alone(&[Acquire, Write]));
    let told = transcript(&played.seen);
    let tail = &told[told.len() - 3..];
    let expected = ["at a.write.1.after", "5 -: release", r#"5 ok: "released""#];
    assert_eq!(tail, expected, "by no step");
}

#[test]
fn what_cannot_be_worked_with_is_told_apart() {
    let drill = alone(&[Check]);
    let mut a = drill.start("a", &[]);
    assert_eq!(a.finish().code(), Some(0));

    let mut nobody = drill.start("nobody", &[]);
    assert_eq!(nobody.finish().code(), Some(2), "no such worker");

    let dir = tempfile::tempdir().unwrap();
    let mut garbled = Played::start(&dir.path().join("a"), "{}");
    assert_eq!(garbled.finish().code(), Some(2), "not a specification");

    std::fs::remove_file(&drill.store_spec().location).unwrap();
    std::fs::create_dir(&drill.store_spec().location).unwrap();
    let mut homeless = drill.start("a", &[]);
    assert_eq!(homeless.finish().code(), Some(4), "no store");
    assert!(
        matches!(&homeless.seen[..], [WorkerLine { event: Event::Note { text }, .. }] if text.contains("store")),
        "{:?}",
        homeless.seen
    );
}

//! Reads, the queue beside the store and the order of two faults, judged on literal histories.
#![allow(clippy::unwrap_used)]

use crate::support::history::*;

use lockdrill::checks::Outcome::{Holds, Violated};
use lockdrill::plan::{Evidence, Step, StepAction};
use lockdrill::timeline::event::{Answer, By, Call, Event, Outcome};
use proptest::prelude::*;

/// a is granted at 100 ms and its lease ends at 1100 ms; b is granted at this time.
fn then_b(at: u64) -> (Record, Held, Held) {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 200, true);
    h.delete(1_101);
    let b = h.acquire("b", at);
    (h, a, b)
}

#[test]
fn a_late_read_that_is_answered_is_seen_with_its_reader() {
    let (mut h, a, _) = then_b(1_200);
    h.read(&a, 1_300, true);
    let finding = h.judge("no_stale_read");
    assert_violated(&finding, "a");
    assert_eq!(finding.by[0], "a");
    let told = "was shown a.write.2 at 1.30 s, 0.20 s after a's grant (fencing token 1) had ended and 0.10 s after b was granted 2";
    assert!(finding.why.contains(told), "{}", finding.why);
    // It changes nothing: writes are judged without it.
    for check in ["no_lost_update", "effects_once", "records_agree"] {
        assert_eq!(h.judge(check).outcome, Holds, "{check}");
    }
}

#[test]
fn a_late_read_that_is_refused_puts_the_store_to_the_test() {
    let (mut h, a, b) = then_b(1_200);
    h.write(&b, 1_250, true);
    h.read(&a, 1_300, false);
    let finding = h.judge("no_stale_read");
    assert_holds(&finding);
    assert!(
        finding.why.contains("was refused at 1.30 s"),
        "{}",
        finding.why
    );
    assert_eq!(finding.events.len(), 1);
}

#[test]
fn reads_of_holders_put_nothing_to_the_test() {
    let (mut h, _, b) = then_b(1_200);
    assert_vacuous(&h.judge("no_stale_read"));
    h.read(&b, 1_300, true);
    assert_vacuous(&h.judge("no_stale_read"));
    // Nor does a late one, if nobody has been granted since.
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.read(&a, 5_000, true);
    assert_vacuous(&h.judge("no_stale_read"));
}

#[test]
fn a_read_at_the_edge_proves_nothing() {
    // b was granted just before, by less than can be told.
    let (mut h, a, _) = then_b(1_200);
    h.read(&a, 1_201, true);
    assert_holds(&h.judge("no_stale_read"));
    // b was let in too early: a is entitled for a while yet.
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.effect(400, lockdrill::timeline::event::Change::Flushed);
    h.acquire("b", 500);
    h.read(&a, 1_101, true);
    assert_holds(&h.judge("no_stale_read"));
    h.read(&a, 1_110, true);
    assert_violated(&h.judge("no_stale_read"), "a");
}

#[test]
fn an_observer_that_lost_its_place_leaves_reads_open() {
    let (mut h, a, _) = then_b(1_200);
    h.goes_blind(1_250);
    h.read(&a, 1_300, true);
    h.sees_again(1_400);
    let finding = h.judge("no_stale_read");
    assert!(finding.outcome != Holds, "{finding:#?}");
    // Nothing is called late of a grant that nobody saw.
    let mut h = Record::new();
    h.goes_blind(50);
    let a = h.acquire("a", 100);
    h.acquire("b", 1_200);
    h.read(&a, 1_300, true);
    assert_unknown(&h.judge("no_stale_read"), "effects may be missing");
}

#[test]
fn the_only_holder_whose_read_is_refused_is_wronged() {
    let (mut h, _, b) = then_b(1_200);
    h.read(&b, 1_300, false);
    assert_violated(&h.judge("rightful_served"), "b");
}

#[test]
fn a_read_that_nobody_asked_for_is_our_own_defect() {
    let (mut h, a, _) = then_b(1_200);
    let id = h.read(&a, 1_300, true);
    assert_holds(&h.judge("records_agree"));
    for line in &mut h.lines {
        if let Event::Invoke { call, .. } = &mut line.event
            && matches!(call, Call::ReadUnder { .. })
        {
            *call = Call::Hold;
        }
    }
    let finding = h.judge("records_agree");
    assert_eq!(finding.outcome, Violated);
    assert!(finding.why.contains(&id), "{}", finding.why);
}

proptest! {
    /// The definition once more, in one line, over times that are further apart than ε.
    #[test]
    fn reads_are_judged_by_the_definition(
        granted in 111_u64..200, read in 30_u64..300, accepted: bool, held: bool,
    ) {
        let (granted, read) = (granted * 10, read * 10 + 5);
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        h.delete(1_101);
        let b = h.acquire("b", granted);
        h.read(if held { &b } else { &a }, read, accepted);
        let late = !held && accepted && read > 1_100 && read > granted;
        let finding = h.judge("no_stale_read");
        prop_assert_eq!(finding.outcome == Violated, late, "{:#?}", finding);
    }
}

/// a does this job and b that; each line of the queue's log: by whom, which job, known before.
fn queue(jobs: [&str; 2], log: &[(&str, &str, bool)]) -> Record {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 200, true);
    h.release(&a, 300);
    let b = h.acquire("b", 400);
    h.write(&b, 500, true);
    h.release(&b, 600);
    let mut jobs = jobs.iter();
    for line in &mut h.lines {
        if let Event::StoreAttempt { job, .. } = &mut line.event {
            *job = Some((*jobs.next().unwrap()).to_owned());
        }
    }
    h.plan.workers[0].script = vec![Step {
        name: "publish.1".to_owned(),
        action: StepAction::Publish {
            job: "one".to_owned(),
        },
    }];
    for ((worker, job, known), n) in log.iter().zip(1_u64..) {
        let (publish, message) = (format!("{worker}.publish.{n}"), (*job).to_owned());
        let call = Call::Publish {
            publish: publish.clone(),
            message: message.clone(),
        };
        let op = h.invoke(worker, 700 + 10 * n, Some("publish.1"), call);
        h.ret(worker, op, 702 + 10 * n, Outcome::Ok, Answer::Accepted);
        let event = Event::Published {
            n,
            message,
            publish,
            known_before: *known,
            applied: ns(701 + 10 * n),
        };
        h.push(ns(800), By::Store, event);
    }
    let published = log.len() as u64;
    h.push(ns(800), By::Store, Event::FinalQueue { published });
    h
}

#[test]
fn what_was_done_and_published_once_is_whole() {
    let h = queue(["one", "two"], &[("a", "one", false), ("b", "two", false)]);
    assert_holds(&h.judge("published_once"));
    assert_holds(&h.judge("records_agree"));
    // Published again, and known: nothing changed.
    let again = ("b", "one", true);
    let h = queue(
        ["one", "two"],
        &[("a", "one", false), again, ("b", "two", false)],
    );
    assert_holds(&h.judge("published_once"));
}

#[test]
fn what_was_done_and_never_published_is_half_done() {
    let h = queue(["one", "two"], &[("b", "two", false)]);
    let finding = h.judge("published_once");
    assert_violated(&finding, "a");
    assert!(
        finding
            .why
            .contains("one was done by a.write.2 at 0.20 s and was never published")
    );
}

#[test]
fn what_was_published_twice_or_without_being_done_is_seen() {
    let all = [
        ("a", "one", false),
        ("b", "one", false),
        ("b", "two", false),
    ];
    let finding = queue(["one", "two"], &all).judge("published_once");
    assert_violated(&finding, "b");
    assert_eq!(finding.by[0], "b");
    assert!(finding.why.contains("one was published 2 times"));
    let finding =
        queue(["one", "one"], &[("a", "one", false), ("b", "two", false)]).judge("published_once");
    assert_violated(&finding, "b");
    assert!(finding.why.contains("no accepted write had done"));
}

#[test]
fn a_queue_that_was_not_read_to_its_end_leaves_it_open() {
    let end = |event: &Event| matches!(event, Event::FinalQueue { .. });
    let mut h = queue(["one", "two"], &[("b", "two", false)]);
    h.lines.retain(|line| !end(&line.event));
    assert_unknown(&h.judge("published_once"), "not read to its end");
    // But what is there twice is there twice.
    let twice = [("a", "one", false), ("b", "one", false)];
    let mut h = queue(["one", "one"], &twice);
    h.lines.retain(|line| !end(&line.event));
    assert_violated(&h.judge("published_once"), "b");
    // A line is missing.
    let mut h = queue(["one", "two"], &[("a", "one", false), ("b", "two", false)]);
    h.lines
        .retain(|line| !matches!(&line.event, Event::Published { n: 2, .. }));
    for (seq, line) in h.lines.iter_mut().enumerate() {
        line.seq = seq as u64;
    }
    assert_unknown(
        &h.judge("published_once"),
        "has 2 publications and 1 are on the record",
    );
    assert_eq!(h.judge("records_agree").outcome, Violated);
}

#[test]
fn without_a_queue_there_is_nothing_to_publish() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 200, true);
    assert_vacuous(&h.judge("published_once"));
    // With one, but without a job: nothing was to be published.
    let mut h = queue(["one", "two"], &[]);
    for line in &mut h.lines {
        if let Event::StoreAttempt { job, .. } = &mut line.event {
            *job = None;
        }
    }
    assert_vacuous(&h.judge("published_once"));
}

proptest! {
    #[test]
    fn publications_are_judged_by_the_definition(
        second: bool, log in prop::collection::vec((0_usize..3, any::<bool>()), 0..5),
    ) {
        let names = ["one", "two", "three"];
        let lines: Vec<_> = log.iter().map(|(job, known)| ("b", names[*job], *known)).collect();
        let h = queue(["one", if second { "two" } else { "one" }], &lines);
        let done = [true, second, false];
        let wrong = (0..3).any(|job| {
            let fresh = log.iter().filter(|(of, known)| *of == job && !known).count();
            fresh != usize::from(done[job])
        });
        let finding = h.judge("published_once");
        prop_assert_eq!(finding.outcome == Violated, wrong, "{:#?}", finding);
    }
}

#[test]
fn one_fault_can_be_shown_to_begin_soon_after_another() {
    let within = |within_ms, later: u64| {
        let mut h = Record::new();
        h.acquire("a", 100);
        h.fault("first", "pause", "a", (200, 3_000));
        h.fault("second", "pause", "b", (later, 3_000));
        h.plan.evidence = vec![Evidence::BeganWithin {
            fault: "second".to_owned(),
            of: "first".to_owned(),
            within_ms,
        }];
        let mut finding = h.judge("evidence");
        let mut told = finding.why.split("second began");
        finding.why = told.nth(1).unwrap_or("").to_owned();
        finding.why
    };
    // Both begin 2 ms after they were asked for: 302 - 200.
    assert!(!within(102, 300).contains("not within"));
    assert!(within(101, 300).contains("not within"));
    assert!(within(1_000, 150).contains("before first was in effect"));
}

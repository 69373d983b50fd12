//! The checks of the protected work, on literal histories.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::history as support;

use lockdrill::checks::Outcome;
use lockdrill::ids::FencingToken;
use lockdrill::timeline::event::{Change, Event};
use lockdrill::verdict::{Protection, protection};
use support::*;

/// The story of the pause drill up to a's late write: a writes, sleeps through its lease, b is
/// granted and writes. Returns both, at 3.0 s.
fn late_holder() -> (Record, Held, Held) {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 200, true);
    h.delete(1101);
    let b = h.acquire("b", 2000);
    h.write(&b, 2900, true);
    (h, a, b)
}

fn protected(h: &Record) -> Protection {
    let history = h.history();
    protection(&history, &lockdrill::checks::judge_all(&history))
}

// ---- no_stale_write ----

#[test]
fn a_late_write_that_is_refused_is_kept_by_fencing() {
    let (mut h, a, _) = late_holder();
    h.write(&a, 3000, false);
    let finding = h.judge("no_stale_write");
    assert_holds(&finding);
    assert!(
        finding.why.starts_with(
            "a wrote with fencing token 1 at 3.00 s, 1.90 s after its lease ended and 1.00 s after \
             b was granted 2; the store refused it"
        ),
        "{}",
        finding.why
    );
    assert_eq!(protected(&h), Protection::KeptByFencing);
}

#[test]
fn a_late_write_that_is_accepted_is_stale() {
    let (mut h, a, _) = late_holder();
    h.write(&a, 3000, true);
    let finding = h.judge("no_stale_write");
    assert_violated(&finding, "a");
    assert_eq!(finding.by[0], "a");
    assert_eq!(protected(&h), Protection::Lost);
}

/// The server forgot the key and the counter while a held: b is granted the lock with a token
/// that the store knows of a, so the store refuses b, whom the server granted it last.
fn forgotten() -> (Record, Held, Held) {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 200, true);
    h.effect(300, Change::Flushed);
    let b = h.acquire_with("b", 400, 1);
    h.write(&b, 500, false);
    (h, a, b)
}

#[test]
fn a_rightful_holder_that_is_refused_is_not_kept_by_fencing() {
    let (h, ..) = forgotten();
    assert_eq!(protected(&h), Protection::Kept);
}

#[test]
fn the_older_holder_accepted_and_the_newer_refused_is_lost() {
    let (mut h, a, _) = forgotten();
    h.write(&a, 600, true);
    assert_holds(&h.judge("no_lost_update"));
    assert_holds(&h.judge("no_stale_write"));
    assert_eq!(protected(&h), Protection::Lost);
}

#[test]
fn a_late_write_that_is_accepted_in_order_is_lost_all_the_same() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 200, true);
    h.delete(1101);
    h.acquire("b", 2000);
    h.write(&a, 2900, true);
    assert_eq!(protected(&h), Protection::Lost);
}

#[test]
fn a_borrowed_token_is_stale_even_if_it_is_the_newest() {
    let (mut h, mut a, b) = late_holder();
    a.fencing = b.fencing;
    h.write(&a, 3000, true);
    let finding = h.judge("no_stale_write");
    assert_violated(&finding, "a");
    assert!(
        finding.why.contains("never issued to its grant"),
        "{}",
        finding.why
    );
}

#[test]
fn a_token_of_the_future_is_borrowed() {
    let mut h = Record::new();
    let mut a = h.acquire("a", 100);
    a.fencing = Some(FencingToken(99));
    h.write(&a, 200, true);
    let b = h.acquire("b", 1200);
    h.write(&b, 1300, false);
    assert_violated(&h.judge("no_stale_write"), "a");
}

#[test]
fn a_write_without_any_token_is_stale_where_tokens_are_issued() {
    let (mut h, mut a, _) = late_holder();
    a.fencing = None;
    h.write(&a, 3000, true);
    assert_violated(&h.judge("no_stale_write"), "a");
}

#[test]
fn a_write_under_the_same_token_of_the_same_grant_is_in_order() {
    let (mut h, _, b) = late_holder();
    h.write(&b, 2950, true);
    h.write(&b, 2960, true);
    assert_holds(&h.judge("no_stale_write"));
    assert_eq!(protected(&h), Protection::Kept);
}

/// A refused write of the newer holder raises no mark: the older one's is still in order.
#[test]
fn only_an_accepted_write_makes_an_older_one_stale() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 200, true);
    h.delete(1101);
    let b = h.acquire("b", 1200);
    h.write(&b, 1300, false);
    h.write(&a, 1400, true);
    assert_holds(&h.judge("no_stale_write"));
}

#[test]
fn an_equal_token_of_another_grant_is_stale() {
    let mut h = Record::new();
    let a = h.acquire_with("a", 100, 7);
    h.write(&a, 200, true);
    h.delete(1101);
    let b = h.acquire_with("b", 1200, 7);
    h.write(&b, 1300, true);
    assert_violated(&h.judge("no_stale_write"), "b");
}

#[test]
fn the_store_s_own_order_decides_not_the_arrival_of_lines() {
    let (mut h, a, _) = late_holder();
    h.write(&a, 3000, true);
    // The same two accepted writes the other way round in the store: legal.
    let mut entries: Vec<&mut u64> = h
        .lines
        .iter_mut()
        .filter_map(|line| match &mut line.event {
            Event::StoreAttempt { n, .. } => Some(n),
            _ => None,
        })
        .collect();
    (*entries[1], *entries[2]) = (3, 2);
    assert_holds(&h.judge("no_stale_write"));
}

#[test]
fn a_late_write_in_legal_order_is_told_beside_it() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.delete(1101);
    let b = h.acquire("b", 2000);
    h.write(&a, 2500, true); // b was granted, but has not written
    h.write(&b, 2900, true);
    let finding = h.judge("no_stale_write");
    assert_holds(&finding);
    assert!(
        finding
            .why
            .contains("1 accepted after its writer's lease had ended"),
        "{}",
        finding.why
    );
    assert_eq!(protected(&h), Protection::Lost, "a late write was taken");
}

#[test]
fn the_grant_of_an_unanswered_attempt_was_issued_too() {
    let mut h = Record::new();
    let (mut a, _) = h.attempt("a", 99);
    h.grant(&mut a, 100);
    h.write(&a, 200, true);
    let b = h.acquire("b", 1200);
    h.write(&b, 1300, true);
    assert_holds(&h.judge("no_stale_write"));
}

#[test]
fn one_writer_alone_tests_nothing() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 200, true);
    assert_vacuous(&h.judge("no_stale_write"));
    assert_eq!(protected(&h), Protection::Kept);
    assert_eq!(protected(&Record::new()), Protection::NotTested);
}

// ---- no_lost_update ----

#[test]
fn a_chain_of_updates_loses_none() {
    let (h, ..) = late_holder();
    assert_holds(&h.judge("no_lost_update"));
}

#[test]
fn lock_and_fence_work_and_an_update_is_lost_all_the_same() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 200, true);
    h.delete(1101);
    let b = h.acquire("b", 2000);
    let read = h.last_write(); // b reads …
    h.write(&a, 2500, true); // … a's late write comes first …
    h.write_on(&b, 2900, true, read); // … and b overwrites it.
    assert_holds(&h.judge("no_stale_write"));
    let finding = h.judge("no_lost_update");
    assert_violated(&finding, "b");
    assert_violated(&finding, "a");
    assert_eq!(protected(&h), Protection::Lost);
}

#[test]
fn a_refused_write_breaks_no_chain() {
    let (mut h, a, b) = late_holder();
    h.write_on(&a, 3000, false, None);
    h.write(&b, 3100, true);
    assert_holds(&h.judge("no_lost_update"));
}

#[test]
fn one_write_is_no_chain() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 200, true);
    assert_vacuous(&h.judge("no_lost_update"));
}

// ---- effects_once ----

#[test]
fn the_final_data_are_those_of_the_last_accepted_write() {
    let (h, ..) = late_holder();
    assert_holds(&h.judge("effects_once"));
    assert_vacuous(&Record::new().judge("effects_once"));
}

#[test]
fn final_data_of_another_write_are_seen() {
    let (h, ..) = late_holder();
    let mut lines = h.finished();
    for line in &mut lines {
        if let Event::FinalValue { write, .. } = &mut line.event {
            *write = Some("a.write.2".to_owned());
        }
    }
    let history = lockdrill::timeline::history::History::from_lines(&h.plan, lines);
    assert_violated(&judge(&history, "effects_once"), "b");
}

#[test]
fn a_write_accepted_twice_is_seen() {
    let (mut h, _, b) = late_holder();
    let id = h.last_write().unwrap();
    h.log(&b, 2950, (&id, Some(id.clone())), true);
    assert_violated(&h.judge("effects_once"), "b");
}

#[test]
fn without_final_data_nothing_is_known() {
    let (h, ..) = late_holder();
    let mut lines = h.finished();
    lines.retain(|line| !matches!(line.event, Event::FinalValue { .. }));
    let history = lockdrill::timeline::history::History::from_lines(&h.plan, lines);
    assert_unknown(&judge(&history, "effects_once"), "not on the record");
}

// ---- rightful_served ----

#[test]
fn the_only_holder_is_served() {
    let (mut h, a, _) = late_holder();
    h.write(&a, 3000, false); // a is no holder any more
    assert_holds(&h.judge("rightful_served"));
}

#[test]
fn the_only_holder_refused_is_seen() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 300, false);
    assert_violated(&h.judge("rightful_served"), "a");
}

#[test]
fn with_two_who_may_hold_nobody_is_wronged() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.acquire("b", 500);
    h.write(&a, 700, false);
    assert_vacuous(&h.judge("rightful_served"));
}

#[test]
fn at_the_edge_of_a_lease_nobody_is_wronged() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 1100, false);
    assert_vacuous(&h.judge("rightful_served"));
}

#[test]
fn once_mode_refuses_the_second_write_by_contract() {
    let mut h = Record::new();
    h.plan.store.once = true;
    let a = h.acquire("a", 100);
    h.write(&a, 300, true);
    h.write(&a, 400, false);
    assert_holds(&h.judge("rightful_served"));
    let mut wronged = Record::new();
    wronged.plan.store.once = true;
    let a = wronged.acquire("a", 100);
    wronged.write(&a, 300, false);
    assert_eq!(wronged.judge("rightful_served").outcome, Outcome::Violated);
}

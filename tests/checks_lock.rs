//! The checks of the lock itself, on literal histories: holds, violated, vacuous, boundary, unknown.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::history as support;

use lockdrill::checks::{self, Outcome};
use lockdrill::ids::FencingToken;
use lockdrill::timeline::event::{Answer, By, Call, Change, Event, Outcome as Told};
use lockdrill::timeline::history::{Cause, History, KeyEnd};
use support::*;

// ---- single_holder ----

#[test]
fn one_after_the_other_is_a_single_holder() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.release(&a, 400);
    let b = h.acquire("b", 401);
    h.release(&b, 500);
    assert_holds(&h.judge("single_holder"));
}

#[test]
fn a_grant_right_after_an_expiry_is_no_overlap() {
    let mut h = Record::new();
    h.acquire("a", 100);
    h.delete(1101);
    h.acquire("b", 1101);
    assert_holds(&h.judge("single_holder"));
}

#[test]
fn an_overlap_within_epsilon_proves_nothing() {
    let mut h = Record::new();
    h.acquire("a", 100);
    h.delete(1099);
    h.acquire("b", 1099);
    let finding = h.judge("single_holder");
    assert_ne!(finding.outcome, Outcome::Violated, "{finding:?}");
}

#[test]
fn an_overlap_of_half_a_lease_is_two_holders() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let b = h.acquire("b", 600);
    let finding = h.judge("single_holder");
    assert_violated(&finding, "a");
    assert_violated(&finding, "b");
    assert!(finding.why.contains("overwrote"), "{}", finding.why);
    drop((a, b));
}

#[test]
fn a_blind_delete_is_named_with_its_author() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.delete(1102); // a's lease has ended
    h.acquire("b", 1105);
    h.release(&a, 1200); // deletes b's key
    h.acquire("c", 1210);
    let finding = h.judge("single_holder");
    assert_eq!(finding.by[0], "a", "{finding:?}");
    assert_violated(&finding, "c");
    assert!(
        finding.why.contains("a release by a deleted its key"),
        "{}",
        finding.why
    );
}

#[test]
fn renewals_prolong_the_entitlement() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.renew(&a, 600);
    h.delete(1300); // the first lease would have ended at 1100, the renewed one ends at 1600
    h.acquire("b", 1301);
    assert_violated(&h.judge("single_holder"), "b");
}

#[test]
fn a_server_clock_that_jumps_ends_the_key_not_the_entitlement() {
    let mut h = Record::new();
    h.samples = false;
    let sample = |h: &mut Record, at: u64, ahead: u64| {
        h.lab(
            at,
            Event::ClockSample {
                server: SERVER.to_owned(),
                before: ns(at),
                after: ns(at),
                server_us: (SERVER_AHEAD_MS + ahead + at) * 1000,
            },
        );
    };
    for at in [0, 100, 200] {
        sample(&mut h, at, 0);
    }
    h.acquire("a", 150);
    for at in [300, 400, 500, 600] {
        sample(&mut h, at, 5000);
    }
    h.delete(350);
    let (mut b, op) = h.attempt("b", 399);
    b.fencing = Some(FencingToken(2));
    let until_ms = Some(SERVER_AHEAD_MS + 5000 + 400 + LEASE_MS);
    let (owner, fencing) = (b.owner.clone(), b.fencing);
    h.effect(
        400,
        Change::Set {
            owner,
            fencing,
            until_ms,
        },
    );
    h.told_granted(&b, op, 401);
    let history = h.history();
    let KeyEnd::Taken { cause, .. } = &history.grants[0].end else {
        panic!("{:?}", history.grants[0].end);
    };
    assert_eq!(*cause, Cause::Clock);
    let finding = judge(&history, "single_holder");
    assert_violated(&finding, "b");
    assert!(finding.why.contains("clock"), "{}", finding.why);
}

#[test]
fn a_flush_is_named() {
    let mut h = Record::new();
    h.acquire("a", 100);
    h.effect(300, Change::Flushed);
    h.acquire("b", 310);
    let finding = h.judge("single_holder");
    assert!(finding.why.contains("flushed"), "{}", finding.why);
    assert_violated(&finding, "b");
}

#[test]
fn fewer_than_two_grants_test_nothing() {
    let mut h = Record::new();
    h.acquire("a", 100);
    assert_vacuous(&h.judge("single_holder"));
}

#[test]
fn a_gap_of_the_observer_makes_the_grants_that_touch_it_unknown() {
    let mut h = Record::new();
    h.acquire("a", 100);
    let (server, why) = (SERVER.to_owned(), "replica was cut off".to_owned());
    h.lab(
        150,
        Event::ObserverGap {
            server: server.clone(),
            why,
        },
    );
    h.lab(200, Event::ObserverSynced { server });
    h.acquire("b", 600);
    assert_unknown(&h.judge("single_holder"), "replica was cut off");
}

#[test]
fn no_observer_is_no_server_truth() {
    let mut h = Record::bare();
    let (a, op) = h.attempt("a", 100);
    h.told_granted(&a, op, 101);
    assert_unknown(&h.judge("single_holder"), "no server truth");
}

#[test]
fn an_unanswered_release_leaves_the_end_of_an_entitlement_open() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.send_release(&a, 300);
    h.delete(301);
    h.acquire("b", 302);
    assert_holds(&h.judge("single_holder"));
}

#[test]
fn single_holder_answers_without_any_worker_event() {
    let mut h = Record::new();
    h.acquire("a", 100);
    h.acquire("b", 600);
    let mut lines = h.finished();
    lines.retain(|line| !matches!(line.by, By::Worker(_)));
    for (seq, line) in lines.iter_mut().enumerate() {
        line.seq = seq as u64;
    }
    let history = History::from_lines(&h.plan, lines);
    let finding = judge(&history, "single_holder");
    assert_eq!(finding.outcome, Outcome::Violated, "{finding:?}");
    assert_eq!(judge(&history, "records_agree").outcome, Outcome::Holds);
}

#[test]
fn two_grants_under_one_owner_string_are_two() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let (mut b, op) = h.attempt("b", 599);
    b.owner = a.owner.clone();
    if let Some(line) = h.lines.last_mut()
        && let Event::Invoke {
            call: Call::Attempt { owner, .. },
            ..
        } = &mut line.event
    {
        *owner = a.owner.clone();
    }
    h.grant(&mut b, 600);
    h.told_granted(&b, op, 601);
    let history = h.history();
    assert_eq!(history.grants[0].id.as_ref(), Some(&a.grant));
    assert_eq!(history.grants[1].id.as_ref(), Some(&b.grant));
    assert_violated(&judge(&history, "single_holder"), "b");
}

// ---- honest_belief ----

#[test]
fn a_claim_before_the_deadline_is_honest() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.check(&a, 1000, true);
    assert_holds(&h.judge("honest_belief"));
}

#[test]
fn a_claim_after_the_deadline_is_not() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.check(&a, 1200, true);
    let finding = h.judge("honest_belief");
    assert_violated(&finding, "a");
    assert!(
        finding
            .why
            .contains("0.11 s after its own deadline at 1.09 s"),
        "{}",
        finding.why
    );
}

#[test]
fn at_the_deadline_itself_nothing_is_proven() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.check(&a, 1099, true); // sent at 99: the deadline, exactly
    h.check(&a, 1100, true); // within ε after it
    assert_holds(&h.judge("honest_belief"));
}

#[test]
fn a_process_stopped_inside_the_call_is_not_a_liar() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let grant = Some(a.grant.clone());
    let op = h.invoke("a", 1000, None, Call::Check { grant });
    h.ret("a", op, 5000, Told::Ok, Answer::Locked { locked: true });
    assert_holds(&h.judge("honest_belief"));
}

#[test]
fn an_unconfirmed_renewal_is_no_ground_for_belief() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let op = h.send_renewal(&a, 600);
    h.extend(601);
    let message = "timed out".to_owned();
    h.ret("a", op, 700, Told::Info, Answer::Error { message });
    h.check(&a, 1300, true);
    assert_violated(&h.judge("honest_belief"), "a");
}

#[test]
fn a_confirmed_renewal_is() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.renew(&a, 600);
    h.check(&a, 1300, true);
    assert_holds(&h.judge("honest_belief"));
}

#[test]
fn saying_no_after_the_deadline_is_honest() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.check(&a, 5000, false);
    assert_holds(&h.judge("honest_belief"));
}

#[test]
fn nobody_asked_nobody_lied() {
    let mut h = Record::new();
    h.acquire("a", 100);
    assert_vacuous(&h.judge("honest_belief"));
}

// ---- fencing_rises ----

#[test]
fn rising_tokens_rise() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.release(&a, 200);
    h.acquire("b", 300);
    assert_holds(&h.judge("fencing_rises"));
}

#[test]
fn an_equal_token_of_another_grant_is_no_rise() {
    let mut h = Record::new();
    let a = h.acquire_with("a", 100, 7);
    h.release(&a, 200);
    h.acquire_with("b", 300, 7);
    assert_violated(&h.judge("fencing_rises"), "b");
}

#[test]
fn a_counter_that_starts_anew_is_no_rise() {
    let mut h = Record::new();
    let a = h.acquire_with("a", 100, 7);
    h.release(&a, 200);
    h.acquire_with("b", 300, 1);
    assert_violated(&h.judge("fencing_rises"), "b");
}

/// Two grants told by workers alone, without a server: the second asked at `second`.
fn told_tokens(first: u64, second: u64, (asked, answered): (u64, u64)) -> checks::Finding {
    let mut h = Record::new();
    let (mut a, op) = h.attempt("a", 100);
    a.fencing = Some(FencingToken(first));
    h.told_granted(&a, op, answered);
    let (mut b, op) = h.attempt("b", asked);
    b.fencing = Some(FencingToken(second));
    h.told_granted(&b, op, asked + 5);
    h.judge("fencing_rises")
}

#[test]
fn in_real_time_only_what_was_answered_before_the_question_counts() {
    assert_violated(&told_tokens(5, 4, (300, 200)), "b");
    assert_violated(&told_tokens(5, 5, (300, 200)), "b");
    assert_holds(&told_tokens(5, 6, (300, 200)));
    assert_holds(&told_tokens(5, 4, (150, 200)));
    assert_holds(&told_tokens(5, 4, (200, 200)));
    assert_holds(&told_tokens(5, 4, (201, 200)));
}

#[test]
fn a_resent_attempt_may_be_told_its_token_again() {
    let mut h = Record::new();
    let (mut a, first) = h.attempt("a", 99);
    h.grant(&mut a, 100);
    let message = "reply lost".to_owned();
    h.ret("a", first, 200, Told::Info, Answer::Error { message });
    let second = h.resend(&a, 210);
    h.told_granted(&a, second, 220);
    let third = h.resend(&a, 230);
    h.told_granted(&a, third, 240);
    let finding = h.judge("fencing_rises");
    assert_eq!(finding.outcome, Outcome::Holds, "{finding:?}");
    assert_holds(&h.judge("outcome_honesty"));
}

#[test]
fn without_tokens_nothing_can_fall() {
    let mut h = Record::new();
    h.acquire("a", 100);
    assert_vacuous(&h.judge("fencing_rises"));
}

// ---- owner_only ----

#[test]
fn a_late_release_that_changes_nothing_is_fine() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.delete(1102);
    let b = h.acquire("b", 1105);
    h.release_in_vain(&a, 1200);
    h.release(&b, 1300);
    assert_holds(&h.judge("owner_only"));
}

#[test]
fn a_late_release_that_deletes_anothers_key_is_not() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.delete(1102);
    h.acquire("b", 1105);
    h.release(&a, 1200);
    let finding = h.judge("owner_only");
    assert_violated(&finding, "a");
    assert_eq!(finding.by[0], "a");
    assert!(finding.why.contains("b's grant"), "{}", finding.why);
}

#[test]
fn a_late_release_may_delete_the_key_of_the_same_worker_s_next_grant() {
    let mut h = Record::new();
    let before = h.acquire("a", 100);
    h.delete(1102);
    h.acquire("a", 1105);
    h.release(&before, 1200);
    let finding = h.judge("owner_only");
    assert_violated(&finding, "a");
    let said = "by a release of a, for another attempt of its own, which did not hold it";
    assert!(finding.why.ends_with(said), "{}", finding.why);
}

/// Whether its sender was told so, or had given up long before.
#[test]
fn a_renewal_that_takes_an_ended_key_anew_is_not_its_owner_s_to_make() {
    for told in [true, false] {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        let op = h.send_renewal(&a, 600);
        if !told {
            let message = "timed out".to_owned();
            h.ret("a", op, 900, Told::Info, Answer::Error { message });
        }
        h.delete(1102);
        h.grant(&mut a.clone(), 1200);
        if told {
            h.ret("a", op, 1201, Told::Ok, Answer::Renewed);
        }
        let finding = h.judge("owner_only");
        assert_violated(&finding, "a");
        assert!(finding.why.contains("took the key anew"), "{}", finding.why);
        assert_holds(&h.judge("records_agree"));
    }
}

#[test]
fn a_late_release_that_was_never_answered_still_has_its_author() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.delete(1102);
    h.acquire("b", 1105);
    h.send_release(&a, 1199);
    h.delete(1200);
    assert_violated(&h.judge("owner_only"), "a");
}

#[test]
fn a_renewal_of_anothers_lease_is_not_fine() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.delete(1102);
    h.acquire("b", 1105);
    h.renew(&a, 1200);
    assert_violated(&h.judge("owner_only"), "a");
}

#[test]
fn a_renewal_of_the_holder_beside_a_refused_one_is_its_own() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.delete(1102);
    let b = h.acquire("b", 1105);
    let late = h.send_renewal(&a, 1199);
    h.renew(&b, 1200);
    let reason = "not the owner".to_owned();
    h.ret("a", late, 1202, Told::Ok, Answer::Lost { reason });
    assert_holds(&h.judge("owner_only"));
}

#[test]
fn two_who_both_say_that_they_renewed_cannot_be_told_apart() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.delete(1102);
    let b = h.acquire("b", 1105);
    let late = h.send_renewal(&a, 1199);
    h.renew(&b, 1200);
    h.ret("a", late, 1202, Told::Ok, Answer::Renewed);
    assert_unknown(&h.judge("owner_only"), "cannot be told");
}

#[test]
fn an_expiry_is_nobodys_doing() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.release_in_vain(&a, 1150);
    h.delete(1150);
    let finding = h.judge("owner_only");
    assert_vacuous(&finding);
}

// ---- recovers ----

/// Worker a dies at 500 while it holds; b waits from 200 and is granted at `granted`, if ever.
fn death(granted: Option<u64>, until: u64) -> Record {
    let mut h = Record::new();
    h.acquire("a", 100);
    let wait = h.enter("b", 200);
    h.died("a", 500);
    if let Some(at) = granted {
        h.delete(at);
        let b = h.acquire("b", at);
        h.told_granted(&b, wait, at + 2);
    }
    h.ends(until, "complete");
    h
}

#[test]
fn a_contender_gets_the_dead_holders_lock() {
    assert_holds(&death(Some(1102), 2000).judge("recovers"));
}

#[test]
fn a_contender_that_waits_in_vain_is_seen() {
    // Dead at 500, lease 1000, bound 500: at 2000 the lock was due.
    assert_violated(&death(None, 2500).judge("recovers"), "b");
    assert_violated(&death(Some(2100), 2500).judge("recovers"), "b");
}

#[test]
fn what_was_done_to_a_worker_need_not_be_healed_when_that_is_dead() {
    let mut h = Record::new();
    h.acquire("a", 100);
    h.enter("b", 200);
    h.fault("nap", "pause", "a", (300, 2900));
    h.died("a", 500);
    h.ends(3000, "complete");
    assert_violated(&h.judge("recovers"), "b");
    // One that lives on may have kept the lock to itself until then.
    let mut h = Record::new();
    h.acquire("a", 100);
    h.enter("b", 200);
    h.fault("nap", "pause", "a", (300, 2900));
    h.ends(3000, "complete");
    assert_holds(&h.judge("recovers"));
}

#[test]
fn at_the_bound_itself_nothing_is_proven() {
    assert_holds(&death(Some(2000), 2500).judge("recovers"));
    assert_holds(&death(None, 2000).judge("recovers"));
}

#[test]
fn a_stall_larger_than_the_margin_leaves_it_open() {
    let mut h = death(None, 2500);
    h.stalled(1000, 1600);
    assert_unknown(&h.judge("recovers"), "stalled");
    let mut h = death(None, 2500);
    h.stalled(1000, 1100);
    assert_violated(&h.judge("recovers"), "b");
}

#[test]
fn stopped_time_of_the_waiter_does_not_count() {
    let mut h = death(None, 2500);
    h.fault("nap", "pause", "b", (600, 1500));
    h.look("nap", "stopped", 603, stopped_threads());
    let finding = h.judge("recovers");
    assert_ne!(finding.outcome, Outcome::Violated, "{finding:?}");
}

#[test]
fn a_lock_that_a_live_worker_holds_is_owed_to_nobody() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.fault("nap", "pause", "c", (150, 160));
    h.enter("b", 200);
    for at in (600..5000).step_by(500) {
        h.renew(&a, at);
    }
    assert_holds(&h.judge("recovers"));
}

#[test]
fn without_death_or_heal_nothing_is_owed() {
    let mut h = Record::new();
    h.acquire("a", 100);
    h.enter("b", 200);
    assert_vacuous(&h.judge("recovers"));
}

// ---- outcome_honesty ----

#[test]
fn busy_that_took_effect_and_was_kept_is_a_lie() {
    let mut h = Record::new();
    let (mut a, op) = h.attempt("a", 99);
    h.grant(&mut a, 100);
    h.ret("a", op, 101, Told::Ok, Answer::Busy);
    assert_violated(&h.judge("outcome_honesty"), "a");
}

#[test]
fn busy_that_took_effect_and_was_taken_back_is_not() {
    let mut h = Record::new();
    let (mut a, op) = h.attempt("a", 99);
    h.grant(&mut a, 100);
    h.ret("a", op, 101, Told::Ok, Answer::Busy);
    h.release(&a, 105);
    assert_holds(&h.judge("outcome_honesty"));
}

/// A lease of 10 ms is granted at 100; the answer comes, and is told as a failure, at `told`.
fn refused_as_too_late(told: u64) -> Record {
    let mut h = Record::new();
    h.plan.lock.lease_ms = 10;
    let (mut a, op) = h.attempt("a", 99);
    a.fencing = Some(FencingToken(1));
    let (owner, fencing) = (a.owner.clone(), a.fencing);
    let until_ms = Some(SERVER_AHEAD_MS + 110);
    h.effect(
        100,
        Change::Set {
            owner,
            fencing,
            until_ms,
        },
    );
    let message = "granted too late".to_owned();
    h.ret("a", op, told, Told::Fail, Answer::Error { message });
    h
}

/// A grant whose answer comes when its lease is over is rightly refused: nothing of it is kept,
/// though its own release finds nothing left to take back.
#[test]
fn refused_because_its_lease_is_over_is_no_lie() {
    let mut h = refused_as_too_late(120);
    h.delete(121);
    assert_holds(&h.judge("outcome_honesty"));
    assert_holds(&refused_as_too_late(111).judge("outcome_honesty")); // within ε of the end
    assert_violated(&refused_as_too_late(105).judge("outcome_honesty"), "a");
}

#[test]
fn busy_and_perhaps_taken_back_proves_nothing() {
    let mut h = Record::new();
    let b = h.acquire("b", 100);
    h.release(&b, 200);
    let (mut a, op) = h.attempt("a", 299);
    h.grant(&mut a, 300);
    h.ret("a", op, 301, Told::Ok, Answer::Busy);
    // Its own release and another's are under way, neither answered, when the key is deleted.
    h.send_release(&a, 303);
    h.send_release(&b, 304);
    h.delete(306);
    assert_unknown(
        &h.judge("outcome_honesty"),
        "which of several requests changed a's grant",
    );
}

#[test]
fn a_renewal_told_as_lost_that_extended_the_lease_is_a_lie() {
    let renewed = |told: u64| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        let op = h.send_renewal(&a, 599);
        h.extend(600);
        let reason = "not the owner".to_owned();
        h.ret("a", op, told, Told::Ok, Answer::Lost { reason });
        h.judge("outcome_honesty")
    };
    assert_violated(&renewed(601), "a");
    assert_violated(&renewed(1590), "a");
    assert_holds(&renewed(1605)); // the extended lease was over as well
}

#[test]
fn unknown_is_always_honest() {
    let mut h = Record::new();
    let (mut a, op) = h.attempt("a", 99);
    h.grant(&mut a, 100);
    let message = "timed out".to_owned();
    h.ret("a", op, 101, Told::Info, Answer::Error { message });
    let finding = h.judge("outcome_honesty");
    assert_eq!(finding.outcome, Outcome::Holds, "{finding:?}");
}

#[test]
fn granted_without_a_grant_is_a_lie() {
    let mut h = Record::new();
    let (mut a, op) = h.attempt("a", 99);
    a.fencing = Some(FencingToken(1));
    h.told_granted(&a, op, 101);
    assert_violated(&h.judge("outcome_honesty"), "a");
}

/// The bound is half a second; the lease, of one, ends at 1100.
#[test]
fn a_release_told_as_done_long_before_the_lease_ended_is_a_lie() {
    let told = |gone: u64, stalled: Option<(u64, u64)>| {
        let mut h = Record::new();
        h.plan.recovery_bound_ms = 500;
        let a = h.acquire("a", 100);
        let op = h.send_release(&a, 299);
        h.ret("a", op, 300, Told::Ok, Answer::Released);
        if let Some((from, to)) = stalled {
            h.stalled(from, to);
        }
        h.delete(gone);
        h.judge("outcome_honesty")
    };
    assert_violated(&told(1105, None), "a");
    // Seen late, but not when a lease ends; or the host stood still meanwhile.
    assert_holds(&told(900, None));
    assert_holds(&told(1105, Some((400, 750))));
    assert_violated(&told(1105, Some((400, 600))), "a");
}

#[test]
fn renewed_and_released_without_effect_are_lies() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let op = h.send_renewal(&a, 600);
    h.ret("a", op, 602, Told::Ok, Answer::Renewed);
    assert_violated(&h.judge("outcome_honesty"), "a");
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let op = h.send_release(&a, 600);
    h.ret("a", op, 602, Told::Ok, Answer::Released);
    assert_violated(&h.judge("outcome_honesty"), "a");
}

#[test]
fn a_wait_that_timed_out_with_the_lock_in_hand_is_a_lie() {
    let mut h = Record::new();
    let wait = h.enter("a", 90);
    h.acquire("a", 100);
    h.ret("a", wait, 110, Told::Fail, Answer::TimedOut);
    assert_violated(&h.judge("outcome_honesty"), "a");
}

/// The wait is over while its last attempt is still under way, and that attempt succeeds.
#[test]
fn a_wait_told_as_failed_whose_last_attempt_succeeds_is_a_lie() {
    let wait = |taken_back: bool| {
        let mut h = Record::new();
        let wait = h.enter("a", 90);
        let (mut a, op) = h.attempt("a", 99);
        h.ret("a", wait, 110, Told::Fail, Answer::TimedOut);
        h.grant(&mut a, 120);
        let message = "abandoned".to_owned();
        h.ret("a", op, 130, Told::Info, Answer::Error { message });
        if taken_back {
            h.release(&a, 140);
        }
        h.judge("outcome_honesty")
    };
    assert_violated(&wait(false), "a");
    assert_holds(&wait(true));
}

/// An attempt after the wait is no part of it.
#[test]
fn a_wait_answers_for_its_own_attempts_alone() {
    let mut h = Record::new();
    let wait = h.enter("a", 90);
    h.ret("a", wait, 98, Told::Fail, Answer::TimedOut);
    h.acquire("a", 100);
    assert_holds(&h.judge("outcome_honesty"));
}

// ---- loss_noticed, no_false_loss, stops_after_loss ----

#[test]
fn a_loss_told_in_time_is_noticed() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.lost(&a, 1095, 1090);
    h.ends(4000, "complete");
    assert_holds(&h.judge("loss_noticed"));
    assert_holds(&h.judge("no_false_loss"));
}

#[test]
fn a_loss_told_late_or_never_or_twice_is_seen() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.ends(4000, "complete");
    assert_violated(&h.judge("loss_noticed"), "a");
    h.lost(&a, 2000, 1090);
    assert_violated(&h.judge("loss_noticed"), "a");
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.lost(&a, 1095, 1090);
    h.lost(&a, 1099, 1090);
    assert_violated(&h.judge("loss_noticed"), "a");
}

#[test]
fn a_worker_that_was_stopped_cannot_notice() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.fault("nap", "pause", "a", (500, 4000));
    h.look("nap", "stopped", 503, stopped_threads());
    h.lost(&a, 4005, 1090);
    h.ends(6000, "complete");
    assert_holds(&h.judge("loss_noticed"));
}

#[test]
fn one_who_gave_the_lock_back_is_owed_no_news() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.release(&a, 300);
    h.ends(4000, "complete");
    assert_vacuous(&h.judge("loss_noticed"));
}

#[test]
fn lost_while_the_server_holds_it_is_false() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.lost(&a, 500, 490);
    assert_violated(&h.judge("no_false_loss"), "a");
}

#[test]
fn lost_at_the_margin_is_not_false() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.lost(&a, 1087, 1087); // deadline 1099, margin 1 % + 2 ms
    assert_holds(&h.judge("no_false_loss"));
}

#[test]
fn lost_after_the_key_was_taken_is_true() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.effect(300, Change::Flushed);
    h.lost(&a, 400, 1090);
    assert_holds(&h.judge("no_false_loss"));
}

#[test]
fn a_step_begun_after_the_loss_is_seen() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.lost(&a, 1095, 1090);
    h.write(&a, 1200, false);
    assert_violated(&h.judge("stops_after_loss"), "a");
}

#[test]
fn a_step_begun_before_the_loss_is_the_late_holder() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let id = h.write_id("a");
    let op = h.ask_write(&a, 1000, &id, None);
    h.lost(&a, 1095, 1090);
    h.log(&a, 1200, (&id, None), false);
    h.ret("a", op, 1201, Told::Ok, Answer::Rejected { highest: None });
    assert_holds(&h.judge("stops_after_loss"));
}

#[test]
fn a_step_in_the_moment_of_the_loss_proves_nothing() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.lost(&a, 1095, 1090);
    h.write(&a, 1096, false); // asked at 1095
    assert_holds(&h.judge("stops_after_loss"));
}

#[test]
fn nobody_lost_anything() {
    let mut h = Record::new();
    h.acquire("a", 100);
    assert_vacuous(&h.judge("stops_after_loss"));
    assert_vacuous(&h.judge("no_false_loss"));
}

// ---- retry_budget, no_leftovers ----

fn busy_attempts(times: &[u64]) -> checks::Finding {
    let mut h = Record::new();
    h.enter("b", 1);
    for at in times {
        let (_, op) = h.attempt("b", *at);
        h.ret("b", op, at + 1, Told::Ok, Answer::Busy);
    }
    h.judge("retry_budget")
}

#[test]
fn three_commands_a_second_are_within_the_budget() {
    assert_holds(&busy_attempts(&[10, 20, 30, 1010, 1020, 1030]));
    assert_violated(&busy_attempts(&[10, 20, 30, 500]), "b");
    assert_holds(&busy_attempts(&[10, 20, 30, 915])); // too near to a second to be sure
    assert_vacuous(&busy_attempts(&[]));
}

#[test]
fn a_key_without_a_lease_or_past_it_is_left_over() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    assert_holds(&h.judge("no_leftovers"));
    let mut fine = h.clone();
    fine.final_key(900, Some(200), &a);
    assert_holds(&fine.judge("no_leftovers"));
    let mut eternal = h.clone();
    eternal.final_key(900, None, &a);
    assert_violated(&eternal.judge("no_leftovers"), "a");
    h.final_key(3000, Some(200), &a);
    assert_violated(&h.judge("no_leftovers"), "a");
}

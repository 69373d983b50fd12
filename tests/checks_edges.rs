//! The exact edges of the checks, to the nanosecond: what is just within proves nothing, what is one
//! nanosecond outside is told. And the less travelled ways through them.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::history as support;

use lockdrill::checks;
use lockdrill::ids::FencingToken;
use lockdrill::timeline::event::{Answer, Call, Change, Event, Outcome as Told};
use lockdrill::timeline::history::History;
use support::*;

/// ε of these records: the millisecond that the server rounds to, and half a microsecond.
const EPSILON_NS: u64 = 1_000_499;

/// Moves the last line of the record by so many nanoseconds.
fn later(h: &mut Record, by_ns: u64) {
    h.lines.last_mut().unwrap().at += by_ns;
}

#[test]
fn epsilon_is_what_these_tests_take_it_for() {
    assert_eq!(Record::new().history().epsilon_ns, EPSILON_NS);
}

// ---- single_holder, witnesses ----

/// A fault that hit somebody else, or never began, is no witness.
#[test]
fn only_a_fault_that_hit_a_witness_is_one() {
    let by = |hit: &str| {
        let mut h = Record::new();
        h.acquire("a", 100);
        h.fault("nap", "pause", hit, (200, 300));
        h.acquire("b", 600);
        h.judge("single_holder").by
    };
    assert!(by("a").contains(&"nap".to_owned()));
    assert!(!by("c").contains(&"nap".to_owned()));
    let mut h = Record::new();
    h.fault("nap", "pause", "a", (200, 300));
    h.lines
        .retain(|line| !matches!(line.event, Event::FaultOnset { .. }));
    h.acquire("a", 400);
    h.acquire("b", 600);
    assert!(!h.judge("single_holder").by.contains(&"nap".to_owned()));
}

// ---- honest_belief ----

#[test]
fn a_claim_within_epsilon_of_the_deadline_is_honest_to_the_nanosecond() {
    let claim = |ns_after: u64| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        let grant = Some(a.grant.clone());
        let op = h.invoke("a", 1099, None, Call::Check { grant });
        later(&mut h, ns_after);
        h.ret("a", op, 1105, Told::Ok, Answer::Locked { locked: true });
        h.judge("honest_belief")
    };
    let held = claim(EPSILON_NS);
    assert_holds(&held);
    assert!(held.why.starts_with("1 claim to hold"), "{}", held.why);
    assert_violated(&claim(EPSILON_NS + 1), "a");
}

/// Answers may come in another order than the requests went: the latest *sent* counts.
#[test]
fn the_latest_request_counts_not_the_latest_answer() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let first = h.send_renewal(&a, 600);
    h.extend(610);
    let second = h.send_renewal(&a, 700);
    h.extend(710);
    h.ret("a", second, 800, Told::Ok, Answer::Renewed);
    h.ret("a", first, 900, Told::Ok, Answer::Renewed);
    h.check(&a, 1650, true);
    assert_holds(&h.judge("honest_belief"));
}

/// A renewal begun after the deadline claims to hold; what is confirmed later does not excuse it.
#[test]
fn a_late_renewal_is_a_late_claim() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.renew(&a, 1301);
    h.renew(&a, 1401);
    let finding = h.judge("honest_belief");
    assert_violated(&finding, "a");
    assert!(finding.why.contains("said at 1.30 s"), "{}", finding.why);
}

/// Two renewals are answered in one instant: each is known when the other claims.
#[test]
fn what_is_confirmed_in_the_same_instant_is_known() {
    for swapped in [false, true] {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        let first = h.send_renewal(&a, 1050);
        let second = h.send_renewal(&a, 1305);
        h.extend(1308);
        let (one, other) = if swapped {
            (second, first)
        } else {
            (first, second)
        };
        h.ret("a", one, 1310, Told::Ok, Answer::Renewed);
        h.ret("a", other, 1310, Told::Ok, Answer::Renewed);
        assert_holds(&h.judge("honest_belief"));
    }
}

#[test]
fn an_answer_that_leaves_it_open_is_no_ground_for_belief() {
    for outcome in [Told::Info, Told::Fail] {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        let op = h.send_renewal(&a, 600);
        h.ret("a", op, 602, outcome, Answer::Renewed);
        h.check(&a, 1300, true);
        assert_violated(&h.judge("honest_belief"), "a");
    }
}

/// A lock that records no attempts: all that is known is when `enter` said that it was granted.
#[test]
fn where_no_attempt_is_recorded_the_entry_is_the_ground() {
    let claim = |outcome: Told, at: u64| {
        let mut h = Record::new();
        let (a, _) = h.clone().attempt("a", 1);
        let wait = h.enter("a", 90);
        let (grant, fencing) = (a.grant.clone(), Some(FencingToken(1)));
        let lease_ms = 2000;
        let granted = Answer::Granted {
            grant,
            fencing,
            lease_ms,
        };
        h.ret("a", wait, 100, outcome, granted);
        h.check(&a, at, true);
        h.judge("honest_belief")
    };
    assert_holds(&claim(Told::Ok, 2099));
    assert_violated(&claim(Told::Ok, 2102), "a");
    assert_violated(&claim(Told::Info, 200), "a");
}

// ---- fencing_rises, by what the workers were told ----

/// (grant, fencing token, asked, answered) of each attempt, by workers a, b and c.
fn told_tokens(tokens: &[(&str, u64, u64, u64)]) -> checks::Finding {
    let mut h = Record::new();
    let mut known: Vec<Held> = Vec::new();
    for (worker, fencing, asked, answered) in tokens {
        let again = known.iter().find(|held| held.worker == *worker).cloned();
        let (mut held, op) = match again {
            Some(held) => (held.clone(), h.resend(&held, *asked)),
            None => h.attempt(worker, *asked),
        };
        held.fencing = Some(FencingToken(*fencing));
        h.told_granted(&held, op, *answered);
        known.push(held);
    }
    h.judge("fencing_rises")
}

/// a is told 7, b meanwhile 6; then a's attempt is resent. Its own 7 is no predecessor, b's 6 is.
#[test]
fn a_resent_attempt_is_compared_with_the_others() {
    let both = [("a", 7, 100, 200), ("b", 6, 150, 250)];
    let then = |fencing| told_tokens(&[both[0], both[1], ("a", fencing, 300, 310)]);
    assert_holds(&then(7));
    let finding = then(5);
    assert_violated(&finding, "b");
    assert!(finding.why.contains("granted 6"), "{}", finding.why);
    // The lower one was answered first.
    let both = [("b", 6, 100, 200), ("a", 7, 150, 250)];
    let then = |fencing| told_tokens(&[both[0], both[1], ("a", fencing, 300, 310)]);
    assert_holds(&then(7));
    assert_violated(&then(5), "b");
    assert_violated(&then(6), "b");
}

/// Of two others the higher one counts, whichever was answered first.
#[test]
fn the_highest_of_the_others_counts() {
    for (b, c) in [((6, 250), (4, 260)), ((4, 250), (6, 260))] {
        let finding = told_tokens(&[
            ("a", 7, 100, 200),
            ("b", b.0, 150, b.1),
            ("c", c.0, 150, c.1),
            ("a", 5, 300, 310),
        ]);
        assert!(finding.why.contains("granted 6"), "{}", finding.why);
    }
    // Equal ones: the one answered first is named.
    let finding = told_tokens(&[
        ("a", 7, 100, 200),
        ("b", 6, 150, 250),
        ("c", 6, 150, 260),
        ("a", 5, 300, 310),
    ]);
    assert_violated(&finding, "b");
}

/// a resent its own attempt and was told another token each time: a grant does not precede itself.
#[test]
fn a_grant_does_not_precede_itself() {
    assert_holds(&told_tokens(&[
        ("a", 7, 100, 110),
        ("a", 8, 120, 130),
        ("a", 7, 140, 150),
    ]));
}

/// Whatever else was answered since, the highest token that was told counts.
#[test]
fn the_highest_token_is_not_forgotten() {
    // By the same attempt, told a higher one when it was resent.
    let resent = [("a", 7, 100, 110), ("a", 9, 120, 130), ("b", 8, 140, 150)];
    assert_violated(&told_tokens(&resent), "b");
    // Before two lower ones that were under way beside it.
    let beside = [
        ("a", 9, 100, 200),
        ("b", 5, 100, 210),
        ("c", 4, 100, 220),
        ("d", 7, 300, 310),
    ];
    assert_violated(&told_tokens(&beside), "d");
}

#[test]
fn just_before_is_not_before_to_the_nanosecond() {
    let asked = |ns_after: u64| {
        let mut h = Record::new();
        let (mut a, op) = h.attempt("a", 100);
        a.fencing = Some(FencingToken(5));
        h.told_granted(&a, op, 200);
        let (mut b, op) = h.attempt("b", 200);
        later(&mut h, ns_after);
        b.fencing = Some(FencingToken(4));
        h.told_granted(&b, op, 210);
        h.judge("fencing_rises")
    };
    assert_holds(&asked(EPSILON_NS));
    assert_violated(&asked(EPSILON_NS + 1), "b");
}

/// Nobody was answered: the server's own order tells.
#[test]
fn tokens_fall_by_the_server_though_nobody_was_told() {
    let unanswered = |first: u64, second: u64| {
        let mut h = Record::new();
        for (worker, at, fencing) in [("a", 100, first), ("b", 1200, second)] {
            let (mut held, _) = h.attempt(worker, at - 1);
            held.fencing = Some(FencingToken(fencing));
            h.set(&held, at);
            h.delete(at + 1001);
        }
        h.judge("fencing_rises")
    };
    assert_holds(&unanswered(7, 8));
    assert_violated(&unanswered(7, 7), "b");
    assert_violated(&unanswered(7, 6), "b");
}

/// The server sets the key of one attempt twice under its token: that is one grant.
#[test]
fn a_key_set_again_for_the_same_attempt_is_no_second_grant() {
    let mut h = Record::new();
    let (mut a, _) = h.attempt("a", 99);
    h.grant(&mut a, 100);
    let again = h.resend(&a, 199);
    h.set(&a, 200);
    h.told_granted(&a, again, 201);
    let finding = h.judge("fencing_rises");
    assert_eq!(finding.outcome, checks::Outcome::Holds, "{finding:?}");
}

// ---- loss_noticed, no_false_loss ----

#[test]
fn news_within_the_bound_is_in_time_to_the_nanosecond() {
    let told = |ns_after: u64| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        h.lost(&a, 1599, 1099); // sent at 99, lease 1 s, bound 0.5 s
        later(&mut h, ns_after);
        h.ends(4000, "complete");
        h.judge("loss_noticed")
    };
    assert_holds(&told(EPSILON_NS));
    assert_violated(&told(EPSILON_NS + 1), "a");
}

/// The request took 600 ms, so that the worker's own deadline lies far before the lease's end; it
/// dies at that end, and news of it was never owed.
#[test]
fn one_who_dies_as_the_lease_ends_is_owed_no_news() {
    let died = |at: u64| {
        let mut h = Record::new();
        let (mut a, op) = h.attempt("a", 100);
        h.grant(&mut a, 700);
        h.told_granted(&a, op, 701);
        h.died("a", at);
        h.ends(4000, "complete");
        h.judge("loss_noticed")
    };
    assert_vacuous(&died(1701)); // the server rounds to milliseconds: the lease may last until 1701
    assert_violated(&died(1702), "a");
}

/// It gave the lock back in time, though there was nothing left to give.
#[test]
fn one_who_tried_to_give_the_lock_back_is_owed_no_news() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.effect(300, Change::Flushed);
    h.release_in_vain(&a, 400);
    h.ends(4000, "complete");
    assert_vacuous(&h.judge("loss_noticed"));
}

#[test]
fn a_stall_as_long_as_the_delay_leaves_it_open() {
    let mut h = Record::new();
    h.acquire("a", 100);
    h.ends(4000, "complete"); // 2901 ms after the deadline of 1099, 2400 ms more than the bound
    let stalled = |from: u64, to: u64| {
        let mut h = h.clone();
        h.stalled(from, to);
        h.judge("loss_noticed")
    };
    assert_unknown(&stalled(1200, 3700), "stalled");
    assert_unknown(&stalled(1200, 3600), "stalled");
    assert_violated(&stalled(1200, 3599), "a");
    assert_violated(&stalled(1200, 1300), "a");
}

/// Of two late losses the one that no stall explains decides.
#[test]
fn a_stall_excuses_only_what_it_covers() {
    let mut h = Record::new();
    h.acquire("a", 100);
    h.delete(1101);
    h.died("a", 2000); // told nothing for 901 ms
    h.stalled(1100, 1990);
    h.acquire("b", 3000);
    h.ends(6000, "complete");
    assert_violated(&h.judge("loss_noticed"), "b");
}

/// Told Lost, and the lock given back a moment later: both by the worker's own clock.
#[test]
fn lost_just_before_its_own_release_is_false_all_the_same() {
    let told = |release: u64| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        h.lost(&a, 380, 1099);
        let op = h.send_release(&a, release);
        h.delete(390);
        h.ret("a", op, 391, Told::Ok, Answer::Released);
        h.judge("no_false_loss")
    };
    assert_violated(&told(381), "a");
    assert_holds(&told(380));
}

#[test]
fn lost_within_epsilon_of_the_cause_is_true_to_the_nanosecond() {
    let told = |ns_before: u64| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        h.effect(800, Change::Flushed);
        h.lost(&a, 800, 1099);
        h.lines.last_mut().unwrap().at -= ns_before;
        h.judge("no_false_loss")
    };
    assert_holds(&told(EPSILON_NS));
    assert_unknown(&told(EPSILON_NS + 1), "cannot be told");
}

/// The line that says that it sends was written 3.5 ms after the lock had looked at its clock, and
/// the loss came 54 ms before the deadline that this line gives: 2 ms before the margin of 52.
#[test]
fn a_line_written_late_makes_no_loss_false() {
    let told = |early: u64, stall: Option<(u64, u64)>| {
        let mut h = Record::new();
        let a = h.acquire("a", 100); // asked at 99
        if let Some((from, to)) = stall {
            h.stalled(from, to);
        }
        h.lost(&a, 1087 - early, 1086 - early);
        h.judge("no_false_loss")
    };
    assert_holds(&told(0, None));
    assert_unknown(&told(2, None), "its own look at the clock");
    assert_unknown(&told(15, None), "its own look at the clock");
    assert_violated(&told(17, None), "a");
    assert_unknown(&told(40, Some((60, 99))), "its own look at the clock");
    assert_violated(&told(40, Some((99, 140))), "a");
    assert_violated(&told(400, Some((60, 99))), "a");
}

/// It says that it renews, and the server shows nothing of it.
#[test]
fn a_renewal_that_the_server_does_not_show_moves_no_deadline() {
    let cut_off = |check: u64| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        for at in [500, 900] {
            let op = h.send_renewal(&a, at);
            h.ret("a", op, at + 50, Told::Ok, Answer::Renewed);
        }
        h.delete(1101);
        h.check(&a, check, true);
        (h, a)
    };
    let (mut h, a) = cut_off(1480);
    h.release_in_vain(&a, 1500);
    h.ends(6000, "complete");
    assert_violated(&h.judge("honest_belief"), "a");
    let noticed = h.judge("loss_noticed");
    assert_vacuous(&noticed);
    assert!(
        noticed
            .why
            .starts_with("1 lease ended under a holder that was not told of it")
    );

    let (mut h, _) = cut_off(1480);
    h.ends(6000, "complete");
    let never = h.judge("loss_noticed");
    assert_violated(&never, "a");
    assert!(
        never.why.contains("after its own deadline at 1.09 s"),
        "{}",
        never.why
    );

    let (mut h, _) = cut_off(1099);
    h.ends(1200, "complete");
    assert_holds(&h.judge("honest_belief"));
}

/// One whose effect may only be missing from the record is believed.
#[test]
fn a_renewal_that_nobody_could_see_is_believed() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let op = h.send_renewal(&a, 500);
    h.ret("a", op, 501, Told::Ok, Answer::Renewed);
    h.check(&a, 1300, true);
    assert_violated(&h.judge("honest_belief"), "a");
    let mut broken_off = h.finished();
    broken_off.retain(|line| !matches!(line.event, Event::End { .. }));
    let history = History::from_lines(&h.plan, broken_off);
    let check = checks::find("honest_belief").unwrap();
    assert_holds(&check.judge(&history));
}

// ---- what is untested, and why ----

#[test]
fn a_write_in_the_moment_of_its_grant_is_named_where_none_counts() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 101, true);
    h.ends(2000, "complete");
    let finding = h.judge("rightful_served");
    assert_vacuous(&finding);
    assert!(
        finding.why.contains("accepted and not counted"),
        "{}",
        finding.why
    );
    assert!(
        finding
            .why
            .contains("1 so near to the begin or the end of its writer's entitlement")
    );
}

// ---- no_leftovers ----

#[test]
fn a_key_left_belongs_to_the_owner_that_stands_in_it() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.delete(1101);
    h.acquire("b", 1200);
    h.final_key(2000, Some(100), &a);
    assert_violated(&h.judge("no_leftovers"), "a");
}

#[test]
fn a_key_is_past_its_lease_to_the_nanosecond() {
    let seen = |ns_after: u64| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        h.final_key(1101, Some(1), &a); // the lease may last until 1101
        later(&mut h, ns_after);
        h.judge("no_leftovers")
    };
    assert_holds(&seen(EPSILON_NS));
    assert_violated(&seen(EPSILON_NS + 1), "a");
}

// ---- no_stale_write ----

#[test]
fn a_write_is_late_to_the_nanosecond() {
    let late = |ns_after: u64| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        h.write(&a, 1101, true);
        for line in &mut h.lines {
            if let Event::StoreAttempt { applied, .. } = &mut line.event {
                *applied += ns_after;
            }
        }
        h.delete(1150);
        let b = h.acquire("b", 1200);
        h.write(&b, 1300, true);
        h.judge("no_stale_write").why
    };
    assert!(late(EPSILON_NS).contains("0 accepted after its writer's lease"));
    assert!(late(EPSILON_NS + 1).contains("1 accepted after its writer's lease"));
}

/// b was granted in the very instant of a's write: that is not before it.
#[test]
fn a_grant_in_the_instant_of_a_write_is_not_told_as_before_it() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.delete(1101);
    let b = h.acquire("b", 2000);
    h.write(&b, 2000, true);
    h.write(&a, 2000, false);
    let why = h.judge("no_stale_write").why;
    assert!(why.contains("0.90 s after its lease ended"), "{why}");
    assert!(!why.contains("after b was granted"), "{why}");
}

// ---- outcome_honesty ----

#[test]
fn a_lie_is_told_with_what_was_asked() {
    let mut h = Record::new();
    let (mut a, op) = h.attempt("a", 99);
    h.grant(&mut a, 100);
    h.ret("a", op, 101, Told::Ok, Answer::Busy);
    let why = h.judge("outcome_honesty").why;
    assert!(
        why.starts_with("a's attempt, asked at 0.099 s, was answered at 0.10 s"),
        "{why}"
    );
}

/// The effect is seen in the instant in which the renewal was sent.
#[test]
fn an_effect_in_the_instant_of_the_request_is_its_effect() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let op = h.send_renewal(&a, 600);
    h.extend(600);
    h.ret("a", op, 601, Told::Ok, Answer::Renewed);
    assert_holds(&h.judge("outcome_honesty"));
}

#[test]
fn the_effect_of_a_later_renewal_does_not_excuse_an_earlier_one() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let op = h.send_renewal(&a, 300);
    h.ret("a", op, 302, Told::Ok, Answer::Renewed);
    h.renew(&a, 600);
    assert_violated(&h.judge("outcome_honesty"), "a");
}

/// a and b, both past their leases, are told that they renewed while one extension of c's lease is
/// seen. With one of them alone it is no lie: it did change something.
#[test]
fn one_of_two_trespassers_may_have_lied() {
    let renewed = |both: bool| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        h.delete(1101);
        let b = h.acquire("b", 1110);
        h.delete(2112);
        h.acquire("c", 2120);
        let first = h.send_renewal(&a, 2299);
        let second = both.then(|| h.send_renewal(&b, 2299));
        h.extend(2300);
        h.ret("a", first, 2301, Told::Ok, Answer::Renewed);
        if let Some(second) = second {
            h.ret("b", second, 2301, Told::Ok, Answer::Renewed);
        }
        h.judge("outcome_honesty")
    };
    assert_unknown(
        &renewed(true),
        "which of several requests changed c's grant",
    );
    assert_holds(&renewed(false));
}

/// One key is deleted while two strangers are told that they released it.
#[test]
fn one_of_two_strangers_may_have_lied_about_a_deletion() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.delete(1101);
    let b = h.acquire("b", 1110);
    h.delete(2112);
    h.acquire("c", 2120);
    let first = h.send_release(&a, 2299);
    let second = h.send_release(&b, 2299);
    h.delete(2300);
    h.ret("a", first, 2301, Told::Ok, Answer::Released);
    h.ret("b", second, 2301, Told::Ok, Answer::Released);
    assert_unknown(
        &h.judge("outcome_honesty"),
        "which of several requests changed c's grant",
    );
}

#[test]
fn a_refusal_is_a_lie_while_the_lease_lasts_to_the_nanosecond() {
    let told = |ns_after: u64| {
        let mut h = Record::new();
        let (mut a, op) = h.attempt("a", 99);
        h.grant(&mut a, 100);
        // The lease lasts until 1100 at least, less the microsecond to which the clock was read.
        h.ret("a", op, 1098, Told::Ok, Answer::Busy);
        later(&mut h, ns_after);
        h.judge("outcome_honesty")
    };
    let edge = 2_000_000 - 999 - EPSILON_NS;
    assert_holds(&told(edge));
    assert_violated(&told(edge - 1), "a");
}

// ---- single_holder ----

#[test]
fn an_overlap_is_certain_to_the_nanosecond() {
    let overlap = |ns_after: u64| {
        let mut h = Record::new();
        h.acquire("a", 100); // until 1100, less a microsecond
        let (mut b, op) = h.attempt("b", 1098);
        h.grant(&mut b, 1098);
        later(&mut h, ns_after);
        h.told_granted(&b, op, 1105);
        h.judge("single_holder").outcome
    };
    let edge = 2_000_000 - 999 - EPSILON_NS;
    assert_ne!(overlap(edge), checks::Outcome::Violated);
    assert_eq!(overlap(edge - 1), checks::Outcome::Violated);
}

/// b's lease may have been extended to 2200 by its own renewal, or by a's; c is granted at 2196.
#[test]
fn an_overlap_is_possible_to_the_nanosecond() {
    let overlap = |ns_after: u64| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        h.delete(1102);
        let b = h.acquire("b", 1105);
        let late = h.send_renewal(&a, 1199);
        h.renew(&b, 1200);
        h.ret("a", late, 1202, Told::Ok, Answer::Renewed);
        h.delete(2195);
        let (mut c, op) = h.attempt("c", 2196);
        later(&mut h, ns_after);
        h.grant(&mut c, 2196);
        later(&mut h, 1_000_000);
        h.told_granted(&c, op, 2198);
        h.judge("single_holder")
    };
    // The lease may last until 2201, and two bounds are each up to two ε wide.
    let edge = 5_000_000 - 4 * EPSILON_NS;
    assert_holds(&overlap(edge));
    assert_unknown(
        &overlap(edge - 1),
        "b's grant (fencing token 2) may have been in force",
    );
}

/// The grant before the one in doubt has long ended; the doubt is about the later one.
#[test]
fn the_grant_that_may_last_longest_is_the_one_in_doubt() {
    let mut h = Record::new();
    h.acquire("a", 100);
    h.delete(1102);
    h.acquire("b", 1200);
    h.goes_blind(1300);
    h.sees_again(1400);
    h.acquire("c", 1600);
    assert_unknown(
        &h.judge("single_holder"),
        "b's grant (fencing token 2) may have been",
    );
}

// ---- owner_only ----

/// a's release is sent as b's lease ends: nobody else held the key, and nothing was put to the test.
#[test]
fn a_release_as_the_others_lease_ends_tests_nothing() {
    let sent = |ns_before: u64| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        h.delete(1101);
        h.acquire("b", 1110); // until 2110, less a microsecond
        let op = h.send_release(&a, 2110);
        h.lines.last_mut().unwrap().at -= ns_before;
        h.ret("a", op, 2112, Told::Ok, Answer::AlreadyLost);
        h.judge("owner_only")
    };
    // At the very end of b's lease, or answered after it: it may have come when nobody held.
    assert_vacuous(&sent(999));
    assert_vacuous(&sent(1000));
}

/// What was answered counts if it was under way while the other held, from its request to its
/// answer.
#[test]
fn a_release_counts_if_the_other_held_all_the_while() {
    let sent = |(sent, ns_after): (u64, u64), (answered, ns_before): (u64, u64)| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        h.delete(1101);
        h.acquire("b", 1110); // until 2110, less a microsecond
        let op = h.send_release(&a, sent);
        later(&mut h, ns_after);
        h.ret("a", op, answered, Told::Ok, Answer::AlreadyLost);
        h.lines.last_mut().unwrap().at -= ns_before;
        h.judge("owner_only")
    };
    assert_holds(&sent((1110, 0), (2110, 999)));
    assert_vacuous(&sent((1110, 0), (2110, 998)));
    assert_vacuous(&sent((1109, 999_999), (2110, 999)));
}

/// A renewal without an answer may have come before the next grant, or never: it tests nothing, and is
/// told if it was sent under the other's lease.
#[test]
fn a_renewal_without_an_answer_is_told_only_if_it_was_sent_under_anothers_lease() {
    let sent = |at: u64| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        if at < 1101 {
            h.send_renewal(&a, at);
        }
        h.delete(1101);
        h.acquire("b", 1110);
        if at > 1101 {
            h.send_renewal(&a, at);
        }
        h.judge("owner_only")
    };
    let told = |at: u64| {
        let found = sent(at);
        assert_vacuous(&found);
        found.why.contains("without an answer that shows")
    };
    assert!(!told(900));
    assert!(told(1200));
}

// ---- recovers ----

/// What a dead holder's lease kept others waiting is said apart.
#[test]
fn the_lease_of_a_dead_holder_is_told_as_such() {
    let mut h = Record::new();
    h.acquire("a", 100);
    let waits = h.enter("b", 200);
    h.died("a", 500);
    h.delete(1101);
    let b = h.acquire("b", 1200);
    h.told_granted(&b, waits, 1205);
    let finding = h.judge("recovers");
    assert_holds(&finding);
    let words = "until the lease of its dead holder had ended, and";
    assert!(finding.why.contains(words), "{}", finding.why);
}

/// a dies at 500; b waits in vain until the record ends.
fn in_vain(end: u64, ns_after: u64) -> Record {
    let mut h = Record::new();
    h.acquire("a", 100);
    h.enter("b", 200);
    h.died("a", 500);
    let text = "the end".to_owned();
    h.lab(end, Event::Note { text });
    later(&mut h, ns_after);
    h.ends(600, "complete");
    h
}

#[test]
fn a_lock_is_owed_to_the_nanosecond() {
    assert_holds(&in_vain(2000, EPSILON_NS).judge("recovers"));
    assert_violated(&in_vain(2000, EPSILON_NS + 1).judge("recovers"), "b");
}

#[test]
fn the_stalls_that_leave_it_open_are_named_and_no_other() {
    let mut h = in_vain(2500, 0);
    h.stalled(300, 500); // before anything was owed
    let before = h.lines.len() as u64 - 1;
    h.stalled(700, 1300);
    let finding = h.judge("recovers");
    assert_unknown(&finding, "stalled for 0.60 s");
    assert!(finding.events.contains(&(before + 1)), "{finding:?}");
    assert!(!finding.events.contains(&before), "{finding:?}");
}

// ---- retry_budget ----

#[test]
fn a_wait_counts_from_its_own_instant_and_is_told_with_its_numbers() {
    let mut h = Record::new();
    h.enter("b", 10);
    for at in [10, 20, 30, 500] {
        let (_, op) = h.attempt("b", at);
        h.ret("b", op, at + 1, Told::Ok, Answer::Busy);
    }
    let finding = h.judge("retry_budget");
    assert_violated(&finding, "b");
    let told = "b sent 4 commands within 0.49 s from 0.010 s, while it waited";
    assert_eq!(finding.why, told);
    // What a stall of 410 ms leaves of nine tenths of a second is just what passed.
    h.stalled(50, 460);
    assert_unknown(&h.judge("retry_budget"), told);
}

// ---- stops_after_loss ----

#[test]
fn a_step_is_begun_after_the_loss_to_the_nanosecond() {
    let begun = |ns_after: u64| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        h.lost(&a, 1095, 1090);
        let id = h.write_id("a");
        h.ask_write(&a, 1095, &id, None);
        later(&mut h, ns_after);
        h.judge("stops_after_loss")
    };
    assert_holds(&begun(EPSILON_NS));
    assert_violated(&begun(EPSILON_NS + 1), "a");
}

/// Lines arrive in any order; the earlier news counts.
#[test]
fn the_first_news_of_a_loss_counts() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.lost(&a, 1300, 1090);
    h.lost(&a, 1095, 1090);
    h.write(&a, 1200, false);
    assert_violated(&h.judge("stops_after_loss"), "a");
}

// ---- rightful_served ----

/// a, alone, is granted at 100; its write is refused so many nanoseconds after a millisecond.
fn refused(at: u64, ns_after: u64) -> checks::Finding {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, at, false);
    for line in &mut h.lines {
        if let Event::StoreAttempt { applied, .. } = &mut line.event {
            *applied += ns_after;
        }
    }
    h.judge("rightful_served")
}

#[test]
fn a_holder_is_wronged_within_its_lease_to_the_nanosecond() {
    assert_vacuous(&refused(100, EPSILON_NS));
    assert_violated(&refused(100, EPSILON_NS + 1), "a");
    let edge = 2_000_000 - 999 - EPSILON_NS; // the lease lasts until 1100, less a microsecond
    assert_vacuous(&refused(1098, edge));
    assert_violated(&refused(1098, edge - 1), "a");
}

/// In `once` mode a write that was refused is not the one that was served.
#[test]
fn a_refused_write_is_not_the_one_that_once_mode_allows() {
    let mut h = Record::new();
    h.plan.store.once = true;
    let a = h.acquire("a", 100);
    h.write(&a, 101, false); // too near to the grant to be called a wrong
    h.write(&a, 300, false);
    assert_violated(&h.judge("rightful_served"), "a");
}

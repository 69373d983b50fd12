//! The exact edges of the checks, to the nanosecond: what is just within proves nothing, what is one
//! nanosecond outside is told. And the less travelled ways through them.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::history as support;

use lockdrill::checks;
use lockdrill::ids::FencingToken;
use lockdrill::timeline::event::{Answer, Call, Change, Event, Outcome as Told};
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
    assert!(held.why.starts_with("1 claims to hold"), "{}", held.why);
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
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let op = h.send_renewal(&a, 600);
    h.ret("a", op, 602, Told::Info, Answer::Renewed);
    h.check(&a, 1300, true);
    assert_violated(&h.judge("honest_belief"), "a");
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
    assert!(late(EPSILON_NS).contains("0 accepted after its lease"));
    assert!(late(EPSILON_NS + 1).contains("1 accepted after its lease"));
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
        why.starts_with("a's attempt of 0.099 s was told at 0.10 s"),
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
    assert_unknown(&renewed(true), "whose request changed c's grant");
    assert_holds(&renewed(false));
}

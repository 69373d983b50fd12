//! What the observer did not see, and what a stalled host blurs, is told as unknown: never as held,
//! and never as somebody's fault.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::history as support;

use lockdrill::checks;
use lockdrill::timeline::event::{Answer, Change, Outcome as Told};
use support::*;

/// The observer is cut off from 500 to 1200.
fn cut_off(h: &mut Record, during: impl FnOnce(&mut Record)) {
    h.goes_blind(500);
    during(h);
    h.sees_again(1200);
}

#[track_caller]
fn assert_unseen(h: &Record, check: &str) {
    assert_unknown(&h.judge(check), "replica was cut off");
}

/// b's grant is not on the record; its renewal must not be taken for one of a's lease by a stranger.
#[test]
fn a_renewal_of_a_grant_that_nobody_saw_is_nobodys_trespass() {
    let mut h = Record::new();
    h.acquire("a", 100);
    let mut b = None;
    cut_off(&mut h, |h| {
        h.effect(600, Change::Flushed);
        b = Some(h.acquire("b", 700));
    });
    h.renew(&b.unwrap(), 1300);
    assert_unseen(&h, "owner_only");
    assert_unseen(&h, "outcome_honesty");
    assert_unseen(&h, "single_holder");
    assert_unseen(&h, "fencing_rises");
    assert_holds(&h.judge("records_agree"));
}

/// Nobody asked for a release or a renewal: there is nothing that could have been a trespass.
#[test]
fn an_observer_that_was_cut_off_leaves_an_untested_check_untested() {
    let mut h = Record::new();
    h.acquire("a", 100);
    cut_off(&mut h, |_| {});
    assert_vacuous(&h.judge("owner_only"));
    assert_vacuous(&h.judge("no_false_loss"));
    assert_vacuous(&h.judge("rightful_served"));
    let mut h = Record::new();
    cut_off(&mut h, |_| {});
    assert_vacuous(&h.judge("loss_noticed"));
}

/// a dies at 400; b waits, and c holds the lock from 1400 on: its grant was not seen.
#[test]
fn a_lock_that_an_unseen_grant_may_hold_is_not_owed() {
    let mut h = Record::new();
    h.acquire("a", 100);
    h.enter("b", 200);
    h.died("a", 400);
    h.delete(1102);
    h.goes_blind(1300);
    h.acquire("c", 1400);
    h.sees_again(1500);
    h.ends(3000, "complete");
    assert_unseen(&h, "recovers");
}

/// The store refuses a's write: by right, if somebody unseen holds as well.
#[test]
fn a_refused_write_beside_an_unseen_grant_is_no_wrong() {
    let mut h = Record::new();
    cut_off(&mut h, |h| {
        h.acquire("b", 1100);
    });
    let a = h.acquire("a", 1300);
    h.write(&a, 1400, false);
    assert_unseen(&h, "rightful_served");
}

#[test]
fn a_loss_beside_unseen_effects_may_be_true() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    cut_off(&mut h, |h| {
        h.effect(600, Change::Flushed);
    });
    h.lost(&a, 700, 1099);
    assert_unseen(&h, "no_false_loss");
    let mut h = Record::new();
    h.acquire("a", 100);
    cut_off(&mut h, |_| {});
    h.ends(4000, "complete");
    assert_unseen(&h, "loss_noticed");
}

/// The key at the end may be of a lease that was extended while nobody looked.
#[test]
fn a_key_at_the_end_after_unseen_effects_may_be_in_its_lease() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    cut_off(&mut h, |h| h.renew(&a, 1050));
    h.final_key(1700, Some(350), &a);
    assert_unseen(&h, "no_leftovers");
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    cut_off(&mut h, |_| {});
    h.final_key(1000, None, &a);
    assert_violated(&h.judge("no_leftovers"), "a");
}

/// Without any observer whatever rests on the server's truth is unknown.
#[test]
fn without_server_truth_nothing_is_told_of_the_server() {
    let mut h = Record::bare();
    let (a, op) = h.attempt("a", 100);
    h.told_granted(&a, op, 101);
    h.lost(&a, 300, 1100);
    h.write(&a, 400, false);
    h.release_in_vain(&a, 500);
    h.ends(4000, "complete");
    for check in [
        "single_holder",
        "outcome_honesty",
        "owner_only",
        "rightful_served",
        "no_false_loss",
        "loss_noticed",
    ] {
        assert_unknown(&h.judge(check), "no server truth");
    }
}

/// A flush is seen at 800, and nothing says when it was done: the news at 500 may have been true.
#[test]
fn a_loss_before_its_cause_was_seen_is_neither_true_nor_false() {
    let told = |lost: u64| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        h.effect(800, Change::Flushed);
        h.lost(&a, lost, 1099);
        h.judge("no_false_loss")
    };
    assert_unknown(&told(500), "cannot be told whether its key was gone");
    assert_holds(&told(800));
    assert_holds(&told(799)); // within ε
    // Near its deadline a handle may say Lost for that reason alone.
    assert_holds(&told(1090));
}

// ---- retry_budget ----

/// b waits from 1; it sends an attempt at each time and is told busy.
fn waiter(times: &[u64]) -> Record {
    let mut h = Record::new();
    h.enter("b", 1);
    for at in times {
        let (_, op) = h.attempt("b", *at);
        h.ret("b", op, at + 1, Told::Ok, Answer::Busy);
    }
    h
}

fn spent(h: &Record) -> checks::Finding {
    h.judge("retry_budget")
}

#[test]
fn a_stall_may_have_brought_commands_together() {
    let mut h = waiter(&[10, 20, 30, 500]);
    h.stalled(500, 800); // after the last command, and it touches it
    assert_violated(&spent(&h), "b");
    h.stalled(100, 300);
    assert_unknown(&spent(&h), "stalled");
    let mut h = waiter(&[10, 20, 30, 500]);
    h.stalled(510, 2000); // after them all
    assert_violated(&spent(&h), "b");
    // What is too fast in spite of the stall is told, whatever came before.
    let mut h = waiter(&[10, 20, 30, 500, 2000, 2001, 2002, 2003]);
    h.stalled(100, 600);
    assert_violated(&spent(&h), "b");
}

/// A wait ends when it returns, though its outcome be unknown: what is sent after it is not its own.
#[test]
fn what_is_sent_after_the_wait_is_not_the_waiters() {
    let mut h = Record::new();
    let wait = h.enter("b", 1);
    let message = "nobody knows".to_owned();
    h.ret("b", wait, 5, Told::Info, Answer::Error { message });
    for at in [10, 20, 30, 40] {
        let (_, op) = h.attempt("b", at);
        h.ret("b", op, at + 1, Told::Ok, Answer::Busy);
    }
    assert_vacuous(&spent(&h));
}

/// What an attempt without an answer may have taken is given back: that is a command too. The
/// release of an earlier grant is not the waiter's.
#[test]
fn a_release_that_cleans_up_counts() {
    let mut h = Record::new();
    let earlier = h.acquire("b", 5);
    h.enter("b", 10);
    h.release_in_vain(&earlier, 12);
    let (first, _) = h.attempt("b", 20);
    h.release_in_vain(&first, 30);
    h.attempt("b", 400);
    assert_holds(&spent(&h));
    let (second, _) = h.attempt("b", 500);
    h.release_in_vain(&second, 601);
    assert_violated(&spent(&h), "b");
}

#[test]
fn at_nine_tenths_of_a_second_nothing_is_proven() {
    assert_violated(&spent(&waiter(&[10, 20, 30, 909])), "b");
    assert_holds(&spent(&waiter(&[10, 20, 30, 910])));
}

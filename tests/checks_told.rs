//! What findings tell, on literal histories: who was counted and who was not, what reached the server
//! and what perhaps never did, and one number for one thing wherever it stands.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::history::*;

use lockdrill::checks::Finding;
use lockdrill::checks::say::secs;
use lockdrill::report::scene::Scene;
use lockdrill::report::scene::tenure::Ended;
use lockdrill::timeline::event::{Answer, Event, FrameFate, Outcome, Seen};

#[track_caller]
fn tells(finding: &Finding, what: &str) {
    assert!(finding.why.contains(what), "{what}: {finding:#?}");
}

// ---- rightful_served ----

/// a is granted at 100 and told at 101; it begins to write at once, and gives back as soon as it is
/// answered. Each lies nearer to the edge of its entitlement than the server's times can tell.
fn hasty(accepted: bool, told: u64) -> Record {
    let mut h = Record::new();
    let (mut a, op) = h.attempt("a", 99);
    h.grant(&mut a, 100);
    let answer = Answer::Granted {
        grant: a.grant.clone(),
        fencing: a.fencing,
        lease_ms: LEASE_MS,
    };
    h.ret("a", op, told, Outcome::Ok, answer);
    let id = h.write_id("a");
    let op = h.ask_write(&a, 101, &id, None);
    h.log(&a, 101, (&id, None), accepted);
    let answer = match accepted {
        true => Answer::Accepted,
        false => Answer::Rejected { highest: None },
    };
    h.ret("a", op, 101, Outcome::Ok, answer);
    let op = h.send_release(&a, 101);
    h.delete(102);
    h.ret("a", op, 103, Outcome::Ok, Answer::Released);
    h.ends(2000, "complete");
    h
}

#[test]
fn who_was_told_before_and_gave_back_after_certainly_held() {
    let found = hasty(true, 101).judge("rightful_served");
    assert_holds(&found);
    assert_eq!(
        found.why,
        "accepted writes of the only entitled holder: 1, refused: none"
    );
    assert_violated(&hasty(false, 101).judge("rightful_served"), "a");
    // It had not been told when it began: only the server's times are left.
    assert_vacuous(&hasty(true, 102).judge("rightful_served"));
    assert_vacuous(&hasty(false, 102).judge("rightful_served"));
}

#[test]
fn each_accepted_write_that_is_not_counted_has_its_reason() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.acquire("b", 500); // overwrites
    h.write(&a, 700, true);
    h.write(&a, 1800, true);
    let found = h.judge("rightful_served");
    assert_vacuous(&found);
    tells(
        &found,
        "not counted: 1 while another was entitled as well, or may have been; 1 of a writer that was \
         not entitled, or no longer",
    );
    assert!(!found.why.contains("known to within"), "{found:#?}");
}

// ---- owner_only ----

/// a's lease ends at 1100; b holds from 1110 on. a's release is sent at 1200.
fn late_release(h: &mut Record) -> (Held, u64) {
    let a = h.acquire("a", 100);
    h.delete(1101);
    h.acquire("b", 1110);
    let op = h.send_release(&a, 1200);
    (a, op)
}

fn cut_off(edge: &str) -> Record {
    let mut h = Record::new();
    h.fault("island", "cut", "a", (300, 1900));
    let probe = Event::Probe {
        fault: "island".to_owned(),
        moment: "cut".to_owned(),
        edge: edge.to_owned(),
        hit: true,
        fresh: Seen::Silent,
        old: Some(Seen::NeverArrived),
    };
    h.lab(310, probe);
    h
}

#[test]
fn what_was_sent_into_a_cut_is_not_said_to_have_been_tried() {
    let mut h = cut_off("a>lock");
    late_release(&mut h);
    let found = h.judge("owner_only");
    assert_vacuous(&found);
    tells(
        &found,
        "1 sent into the cut of island while another grant held the key, and never answered",
    );
    assert!(!found.events.is_empty());
    // The edge to the store was cut, not the one to the lock.
    let mut h = cut_off("a>store");
    late_release(&mut h);
    let found = h.judge("owner_only");
    assert_vacuous(&found);
    tells(&found, "without an answer that shows");
    // Another one was answered.
    let mut h = cut_off("a>lock");
    let (a, _) = late_release(&mut h);
    h.release_in_vain(&a, 1950);
    let found = h.judge("owner_only");
    assert_holds(&found);
    tells(&found, "while another grant held the key: 1; none of them");
    tells(&found, "1 sent into the cut of island");
}

#[test]
fn what_is_told_as_done_and_did_nothing_is_no_test() {
    let mut h = Record::new();
    let (_, op) = late_release(&mut h);
    h.ret("a", op, 1201, Outcome::Ok, Answer::Released);
    let found = h.judge("owner_only");
    assert_vacuous(&found);
    tells(&found, "without an answer that shows");
}

/// A release that gave its own key back met no other's, however soon the next was granted.
#[test]
fn a_release_that_made_room_for_the_next_is_no_test() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let op = h.send_release(&a, 299);
    h.delete(300);
    h.acquire("b", 302);
    h.ret("a", op, 310, Outcome::Ok, Answer::Released);
    let found = h.judge("owner_only");
    assert_vacuous(&found);
    tells(&found, "no release or renewal was tried while another");
}

/// One that was held on its way met who held the key when it was sent on.
#[test]
fn a_held_release_counts_when_it_is_sent_on() {
    let story = |delivered: Option<u64>| {
        let mut h = Record::new();
        h.fault("late", "hold-request", "a", (300, 1400));
        let a = h.acquire("a", 400);
        let op = h.send_release(&a, 600);
        let frame = |what| Event::Frame {
            fault: "late".to_owned(),
            edge: "a>lock".to_owned(),
            what,
            reply: false,
        };
        h.lab(601, frame(FrameFate::Held));
        h.delete(1401);
        h.acquire("b", 1410);
        if let Some(at) = delivered {
            h.lab(at, frame(FrameFate::Delivered));
        }
        h.ret("a", op, 1502, Outcome::Ok, Answer::AlreadyLost);
        h.judge("owner_only")
    };
    assert_holds(&story(Some(1500)));
    let found = story(None);
    assert_vacuous(&found);
    tells(&found, "perhaps executed just before or after that");
    assert_vacuous(&story(Some(1405)));
}

// ---- no_leftovers ----

#[test]
fn a_key_that_ends_by_itself_is_not_nothing() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.died("a", 300);
    h.final_key(500, Some(600), &a);
    let found = h.judge("no_leftovers");
    assert_holds(&found);
    assert_eq!(
        found.why,
        "nothing was left but what ends by itself: the key job on lock, of a's grant (fencing token \
         1), had 0.60 s of its lease left at 0.50 s (the process of a had ended at 0.30 s)"
    );
    assert_eq!(found.events.len(), 2);
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.release(&a, 300);
    assert_eq!(h.judge("no_leftovers").why, "nothing was left");
}

// ---- one number for one thing ----

/// The lease is 1 s and its margin 12 ms: a handle of a request that was sent at 99 stops at 1087.
#[test]
fn the_own_deadline_is_told_with_the_locks_margin() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.check(&a, 1487, true);
    let late = "0.40 s after its own deadline at 1.09 s";
    tells(&h.judge("honest_belief"), late);
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.lost(&a, 1887, 1087);
    let never = "only told at 1.89 s that its lock is lost: 0.80 s in which it could run passed \
                 after its own deadline at 1.09 s";
    tells(&h.judge("loss_noticed"), never);
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.lost(&a, 587, 1087);
    let early = "0.50 s before its own deadline at 1.09 s";
    tells(&h.judge("no_false_loss"), early);
}

/// The end of a lease is known within a millisecond: the finding and the picture read it alike.
#[test]
fn a_write_is_late_by_one_number() {
    for ns_after in [0, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000] {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        h.delete(1102);
        let b = h.acquire("b", 1200);
        h.write(&b, 1300, true);
        h.write(&a, 1925, false);
        for line in &mut h.lines {
            if let Event::StoreAttempt { applied, .. } = &mut line.event
                && *applied == ns(1925)
            {
                *applied += ns_after;
            }
        }
        let history = h.history();
        let scene = Scene::of(&history);
        let late = scene.writes.iter().find_map(|write| write.late).unwrap();
        assert_eq!(
            Some(late),
            (ns(1925) + ns_after).checked_sub(scene.tenures[0].until)
        );
        let late = format!("{} after its lease ended", secs(late));
        tells(&judge(&history, "no_stale_write"), &late);
    }
}

#[test]
fn an_accepted_stale_write_is_told_with_what_it_did() {
    let story = |read_it: bool| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        let first = h.write(&a, 200, true);
        h.delete(1102);
        let b = h.acquire("b", 1200);
        let second = h.write(&b, 1300, true);
        let based_on = if read_it { second } else { first };
        h.write_on(&a, 1400, true, Some(based_on));
        h.judge("no_stale_write")
    };
    tells(&story(true), "so no update was lost by it");
    tells(
        &story(false),
        "without having read it, so that update is lost",
    );
}

/// A server that ends nobody's session keeps a lock for longer than it had promised.
#[test]
fn what_is_given_back_after_its_lease_has_ended_with_that() {
    let mut h = Record::new();
    let a = h.acquire("a", 10);
    h.release(&a, 10 + LEASE_MS + 500);
    let scene = Scene::of(&h.history());
    let [tenure] = scene.tenures.as_slice() else {
        panic!("one grant");
    };
    assert_eq!((tenure.ended, tenure.kept_on), (Ended::Expired, true));
    let lease = tenure.until - tenure.from;
    assert!(lease.abs_diff(LEASE_MS * 1_000_000) < 5_000_000, "{lease}");
}

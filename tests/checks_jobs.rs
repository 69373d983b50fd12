//! Jobs, keys of workers and tokens of a second command, judged on literal histories.
#![allow(clippy::unwrap_used)]

use crate::support::history::*;

use lockdrill::ids::FencingToken;
use lockdrill::plan::Evidence;
use lockdrill::timeline::event::{Answer, Call, Event, Line, Outcome};
use lockdrill::timeline::history::History;

/// `a` and then `b` write, each under its own grant.
fn two_writes() -> Record {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 200, true);
    h.release(&a, 300);
    let b = h.acquire("b", 400);
    h.write(&b, 500, true);
    h.release(&b, 600);
    h
}

/// The job of each write in the store's order, `!` in front if it was done before; and how often
/// each job is in the final data, in which the first write stands if the last was done before.
fn with_jobs(h: &Record, jobs: &[&str], done: &[(&str, u64)]) -> History {
    let mut lines = h.finished();
    let mut jobs = jobs.iter();
    let mut standing = None;
    for line in &mut lines {
        match &mut line.event {
            Event::StoreAttempt {
                job,
                done_before,
                write,
                ..
            } => {
                let typed = jobs.next().unwrap();
                *done_before = typed.starts_with('!');
                *job = Some(typed.trim_start_matches('!').to_owned());
                if !*done_before {
                    standing = Some(write.clone());
                }
            }
            Event::FinalValue { jobs, write, .. } => {
                *jobs = done.iter().map(|(job, n)| ((*job).into(), *n)).collect();
                write.clone_from(&standing);
            }
            _other => {}
        }
    }
    History::from_lines(&h.plan, lines)
}

#[test]
fn jobs_that_took_effect_once_are_fine() {
    let history = with_jobs(&two_writes(), &["one", "two"], &[("one", 1), ("two", 1)]);
    assert_holds(&judge(&history, "effects_once"));
}

#[test]
fn a_job_that_was_done_before_changes_nothing_and_is_no_second_effect() {
    let history = with_jobs(&two_writes(), &["one", "!one"], &[("one", 1)]);
    for check in ["effects_once", "records_agree", "rightful_served"] {
        assert_holds(&judge(&history, check));
    }
    // One write took effect: there is no chain and no order to break.
    assert_vacuous(&judge(&history, "no_lost_update"));
}

#[test]
fn a_job_that_took_effect_twice_is_seen_with_its_last_writer() {
    let history = with_jobs(&two_writes(), &["one", "one"], &[("one", 2)]);
    let finding = judge(&history, "effects_once");
    assert_violated(&finding, "b");
    assert_eq!(finding.by[0], "b");
    assert!(
        finding.why.contains("took effect 2 times"),
        "{}",
        finding.why
    );
}

#[test]
fn an_accepted_job_that_is_not_in_the_final_data_is_seen() {
    let history = with_jobs(&two_writes(), &["one", "two"], &[("one", 1)]);
    assert_violated(&judge(&history, "effects_once"), "b");
}

#[test]
fn a_job_called_done_that_never_was_is_seen() {
    let history = with_jobs(&two_writes(), &["one", "!two"], &[("one", 1)]);
    let finding = judge(&history, "effects_once");
    assert!(
        finding.why.contains("two took effect 0 times"),
        "{}",
        finding.why
    );
}

#[test]
fn a_job_that_nobody_delivered_is_seen() {
    let history = with_jobs(
        &two_writes(),
        &["one", "two"],
        &[("one", 1), ("two", 1), ("x", 1)],
    );
    let finding = judge(&history, "effects_once");
    assert!(finding.why.contains("in no write"), "{}", finding.why);
}

#[test]
fn a_late_delivery_of_a_done_job_is_no_stale_write() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let first = h.write(&a, 200, true);
    let b = h.acquire("b", 1_300);
    h.write(&b, 1_400, true);
    h.write_on(&a, 1_500, true, Some(first));
    assert_violated(&h.judge("no_stale_write"), "a");
    let history = with_jobs(&h, &["one", "two", "!one"], &[("one", 1), ("two", 1)]);
    assert_holds(&judge(&history, "no_stale_write"));
    assert_holds(&judge(&history, "no_lost_update"));
}

/// `b` locks another key than `a` and is granted a lower token on it later.
fn two_keys(with_plan: bool) -> History {
    let mut h = Record::new();
    let a = h.acquire_with("a", 100, 5);
    h.release(&a, 300);
    let b = h.acquire_with("b", 500, 1);
    h.release(&b, 700);
    let mut lines = h.finished();
    for line in &mut lines {
        if let Event::Effect { key, .. } = &mut line.event
            && line.at >= ns(400)
        {
            "other".clone_into(key);
        }
    }
    if with_plan {
        h.plan.workers[1].key = Some("other".to_owned());
    }
    History::from_lines(&h.plan, lines)
}

#[test]
fn tokens_rise_for_each_key_by_itself() {
    assert_holds(&judge(&two_keys(true), "fencing_rises"));
    assert_violated(&judge(&two_keys(false), "fencing_rises"), "b");
}

#[test]
fn a_release_of_one_key_is_never_blamed_for_a_change_of_another() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let b = h.acquire("b", 200);
    // Both say that they released; each deleted its own key.
    let first = h.send_release(&a, 299);
    let second = h.send_release(&b, 299);
    h.delete(300);
    h.ret("a", first, 301, Outcome::Ok, Answer::Released);
    h.ret("b", second, 301, Outcome::Ok, Answer::Released);
    let others = |line: &Line| line.at == ns(200);
    let mut lines = h.finished();
    for line in lines.iter_mut().filter(|line| others(line)) {
        if let Event::Effect { key, .. } = &mut line.event {
            "other".clone_into(key);
        }
    }
    assert!(
        judge(&History::from_lines(&h.plan, lines.clone()), "owner_only").outcome
            != lockdrill::checks::Outcome::Holds
    );
    h.plan.workers[1].key = Some("other".to_owned());
    assert_vacuous(&judge(&History::from_lines(&h.plan, lines), "owner_only"));
}

/// The server's value has no token: the worker was told one by a second command.
fn told_later(first: u64, second: u64) -> Record {
    let mut h = Record::new();
    let (mut a, asked) = h.attempt("a", 99);
    h.set(&a, 100);
    let (mut b, asked_b) = h.attempt("b", 1_299);
    h.set(&b, 1_300);
    b.fencing = Some(FencingToken(second));
    h.told_granted(&b, asked_b, 1_301);
    h.write(&b, 1_350, true);
    a.fencing = Some(FencingToken(first));
    h.told_granted(&a, asked, 1_400);
    h
}

#[test]
fn a_token_of_a_second_command_counts_in_the_servers_order() {
    assert_violated(&told_later(2, 1).judge("fencing_rises"), "b");
    assert_holds(&told_later(1, 2).judge("fencing_rises"));
}

#[test]
fn a_token_of_a_second_command_is_not_borrowed() {
    let finding = told_later(1, 2).judge("no_stale_write");
    assert!(!finding.why.contains("never issued"), "{}", finding.why);
    assert_ne!(finding.outcome, lockdrill::checks::Outcome::Violated);
}

fn with_evidence(h: &Record, evidence: Evidence) -> lockdrill::checks::Finding {
    let mut plan = h.plan.clone();
    plan.evidence.push(evidence);
    judge(&History::from_lines(&plan, h.finished()), "evidence")
}

#[test]
fn grants_are_counted_for_a_worker_and_for_a_group() {
    let mut h = two_writes();
    for worker in &mut h.plan.workers {
        worker.group = Some("all".to_owned());
    }
    let granted = |worker: &str, times| Evidence::GrantedTimes {
        worker: worker.to_owned(),
        times,
    };
    assert_holds(&with_evidence(&h, granted("a", 1)));
    assert_holds(&with_evidence(&h, granted("all", 2)));
    assert_unknown(&with_evidence(&h, granted("a", 2)), "grants of a: 1, not 2");
    assert_unknown(&with_evidence(&h, granted("c", 1)), "grants of c: 0, not 1");
}

#[test]
fn to_wait_is_to_ask_while_somebody_else_holds() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let during = h.enter("b", 200);
    h.ret("b", during, 250, Outcome::Fail, Answer::TimedOut);
    let own = h.enter("a", 260);
    h.ret("a", own, 270, Outcome::Fail, Answer::TimedOut);
    h.release(&a, 300);
    let after = h.enter("b", 400);
    h.ret("b", after, 410, Outcome::Fail, Answer::TimedOut);
    let waited = |worker: &str, times| Evidence::Waited {
        worker: worker.to_owned(),
        times,
    };
    assert_holds(&with_evidence(&h, waited("b", 1)));
    assert_unknown(&with_evidence(&h, waited("b", 2)), "1, not 2");
    assert_unknown(&with_evidence(&h, waited("a", 1)), "0, not 1");
}

#[test]
fn a_lease_can_be_shown_to_end_during_a_step() {
    let mut h = Record::new();
    h.acquire("a", 100);
    let hold = h.invoke("a", 150, Some("hold.1"), Call::Hold);
    h.ret("a", hold, 1_500, Outcome::Ok, Answer::Done);
    h.acquire("b", 1_200);
    let ended = |step: &str| Evidence::LeaseEnded {
        worker: "a".to_owned(),
        fault: step.to_owned(),
    };
    assert_holds(&with_evidence(&h, ended("a.hold.1")));
    assert_unknown(&with_evidence(&h, ended("a.hold.2")), "not shown");
    let granted = Evidence::Granted {
        worker: "b".to_owned(),
        fault: "a.hold.1".to_owned(),
    };
    assert_holds(&with_evidence(&h, granted));
}

/// A finding is made of the record alone: of several defects the earliest stands first.
#[test]
fn publications_that_are_missing_are_told_in_the_order_of_the_record() {
    let mut h = Record::new();
    for n in 1..=8 {
        let (publish, message) = (format!("a.publish.{n}"), format!("j{n}"));
        let call = Call::Publish { publish, message };
        let op = h.invoke("a", 100 * n, Some("publish.1"), call);
        h.ret("a", op, 100 * n + 1, Outcome::Ok, Answer::Done);
    }
    h.lab(900, Event::FinalQueue { published: 0 });
    let found = h.judge("records_agree");
    let first = "j1 was told as published by a.publish.1";
    assert!(found.why.starts_with(first), "{found:#?}");
}

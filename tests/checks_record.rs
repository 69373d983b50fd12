//! `evidence` and `records_agree` on literal histories; and that no check sees a name that would
//! tell it which answer is wanted.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::history as support;
use crate::support::pause_drill;

use lockdrill::checks::{self, Outcome};
use lockdrill::plan::{Control, Evidence, Limit};
use lockdrill::timeline::event::{ChildChange, Event, Line};
use lockdrill::timeline::history::History;
use pause_drill::{go, pause_drill, resumed};
use support::*;

/// The pause drill, its late write refused.
fn drill() -> Record {
    pause_drill(false)
}

fn change(h: &mut Record, mut with: impl FnMut(&mut Line)) {
    h.lines.iter_mut().for_each(&mut with);
}

/// Removes lines and counts anew.
fn without(h: &mut Record, is_it: impl Fn(&Event) -> bool) {
    h.lines.retain(|line| !is_it(&line.event));
    for (seq, line) in h.lines.iter_mut().enumerate() {
        line.seq = seq as u64;
    }
}

#[track_caller]
fn lacks(h: &Record, what: &str) {
    assert_unknown(&h.judge("evidence"), what);
}

#[test]
fn the_whole_drill_is_evident() {
    let h = drill();
    let finding = h.judge("evidence");
    assert_holds(&finding);
    assert!(
        finding
            .why
            .contains("nap (pause a) was in effect from 0.50 s to 3.20 s"),
        "{finding:?}"
    );
    assert_holds(&h.judge("records_agree"));
    assert_eq!(h.judge("no_stale_write").outcome, Outcome::Holds);
}

#[test]
fn a_fault_that_never_began_or_was_never_healed_is_missing() {
    let mut h = drill();
    without(&mut h, |event| matches!(event, Event::FaultOnset { .. }));
    lacks(&h, "nap never began");
    let mut h = drill();
    without(&mut h, |event| matches!(event, Event::FaultHeal { .. }));
    lacks(&h, "nap was never healed");
    let mut h = drill();
    let fault = "nap".to_owned();
    h.lab(
        500,
        Event::FaultNotInjected {
            fault,
            why: "two grants".to_owned(),
        },
    );
    lacks(&h, "nap was not injected: two grants");
    let mut h = drill();
    h.heal("nap", 3300);
    lacks(&h, "more than once");
}

#[test]
fn a_heal_by_patience_or_without_removal_proves_nothing() {
    let mut h = drill();
    change(&mut h, |line| {
        if let Event::FaultHeal { cause, .. } = &mut line.event {
            *cause = "patience".to_owned();
        }
    });
    lacks(&h, "not healed by its own trigger");
    let mut h = drill();
    change(&mut h, |line| {
        if let Event::FaultHeal { removed, .. } = &mut line.event {
            *removed = None;
        }
    });
    lacks(&h, "removal was not seen");
}

#[test]
fn every_look_is_needed() {
    for missing in ["stopped", "go", "heal"] {
        let mut h = drill();
        without(
            &mut h,
            |event| matches!(event, Event::Look { moment, .. } if moment == missing),
        );
        lacks(&h, &format!("nobody looked at the moment `{missing}`"));
    }
}

/// Changes the threads of one look.
fn with_look(
    moment: &str,
    change_it: impl Fn(&mut Vec<lockdrill::timeline::event::ThreadLook>),
) -> Record {
    let mut h = drill();
    change(&mut h, |line| {
        if let Event::Look {
            moment: m, threads, ..
        } = &mut line.event
            && m == moment
        {
            change_it(threads);
        }
    });
    h
}

#[test]
fn one_thread_that_is_not_stopped_is_enough() {
    for moment in ["stopped", "go", "heal"] {
        lacks(
            &with_look(moment, |threads| threads[2].state = 'S'),
            "was in state S",
        );
    }
}

#[test]
fn a_thread_that_ran_in_between_shows_in_its_run_time() {
    lacks(
        &with_look("heal", |threads| threads[1].run_ns += 1),
        "thread 101 ran",
    );
    lacks(
        &with_look("heal", |threads| threads[1].switches += 2),
        "thread 101 ran",
    );
}

#[test]
fn a_thread_that_came_or_went_is_seen() {
    let other = |threads: &mut Vec<lockdrill::timeline::event::ThreadLook>| {
        threads.pop();
    };
    lacks(&with_look("heal", other), "are not the same");
    lacks(&with_look("stopped", Vec::clear), "nobody was seen");
}

/// As many threads as before, with the same numbers, but one is another.
#[test]
fn a_thread_in_the_place_of_another_is_seen() {
    lacks(
        &with_look("heal", |threads| threads[2].tid += 1),
        "are not the same",
    );
    lacks(
        &with_look("heal", |threads| threads[2].pid += 1),
        "are not the same",
    );
    lacks(
        &with_look("heal", |threads| threads[2].start_ticks += 1),
        "are not the same",
    );
}

/// Moves the lines that are so to a time.
fn moved(to: u64, is_it: impl Fn(&Event) -> bool) -> Record {
    let mut h = drill();
    change(&mut h, |line| {
        if is_it(&line.event) {
            line.at = ns(to);
        }
    });
    h
}

fn is_look(event: &Event, wanted: &str) -> bool {
    matches!(event, Event::Look { moment, .. } if moment == wanted)
}

#[test]
fn a_look_outside_the_window_shows_nothing() {
    lacks(
        &moved(499, |event| is_look(event, "stopped")),
        "outside its window",
    );
    lacks(
        &moved(3210, |event| is_look(event, "heal")),
        "outside its window",
    );
    assert_holds(&moved(500, |event| is_look(event, "stopped")).judge("evidence"));
    assert_holds(&moved(3202, |event| is_look(event, "heal")).judge("evidence"));
}

/// The look came after the heal had begun, and the byte was written just then.
#[test]
fn a_byte_written_as_the_heal_began_is_seen() {
    let mut h = moved(3201, |event| is_look(event, "heal"));
    without(&mut h, |event| matches!(event, Event::Go { .. }));
    go(&mut h, 3200);
    lacks(&h, "was written while it was stopped");
}

#[test]
fn a_fault_that_was_healed_before_it_was_seen_in_full_is_missing() {
    let mut h = drill();
    change(&mut h, |line| {
        if let Event::FaultOnset { effective, .. } = &mut line.event {
            *effective = ns(3201);
        }
    });
    lacks(&h, "healed before its effect was seen in full");
    change(&mut h, |line| {
        if let Event::FaultOnset { effective, .. } = &mut line.event {
            *effective = ns(499);
        }
    });
    lacks(&h, "healed before its effect was seen in full");
}

/// A worker that had gone on from its point is not parked there: no byte and no look is owed.
#[test]
fn a_worker_that_went_on_before_the_stop_stood_at_no_point() {
    let went_on = |at: u64| {
        let mut h = drill();
        h.plan.faults[0].when = "b.queued".to_owned();
        without(&mut h, |event| {
            is_look(event, "go") || matches!(event, Event::Go { .. } | Event::Resumed { .. })
        });
        resumed(&mut h, at);
        h
    };
    assert_holds(&went_on(498).judge("evidence"));
    assert_holds(&went_on(495).judge("evidence"));
    lacks(&went_on(494), "was written 0 times, not once");
    lacks(&went_on(500), "was written 0 times, not once");
    // Somebody else, or from somewhere else.
    for (who, place) in [("b", "a.write.2.armed"), ("a", "a.write.1.armed")] {
        let mut h = went_on(498);
        let by = lockdrill::timeline::event::By::Worker(who.to_owned());
        change(&mut h, |line| {
            if let Event::Resumed { point } = &mut line.event {
                *point = place.to_owned();
                line.by = by.clone();
            }
        });
        lacks(&h, "was written 0 times, not once");
    }
}

#[test]
fn a_continuation_at_the_heal_is_the_heal() {
    let mut h = drill();
    h.signal("a", 3200, ChildChange::Continued);
    assert_holds(&h.judge("evidence"));
    h.signal("a", 3199, ChildChange::Continued);
    lacks(&h, "was continued at 3.20 s");
}

#[test]
fn a_write_does_not_reach_the_store_after_itself() {
    let mut h = drill();
    if let Some(Evidence::ReachedAfter { late, early }) = h.plan.evidence.last_mut() {
        early.clone_from(late);
    }
    lacks(&h, "before a.write");
}

#[test]
fn one_process_of_the_group_alone_is_not_the_worker() {
    let mut h = drill();
    change(&mut h, |line| {
        if let Event::Look { threads, .. } = &mut line.event {
            for thread in threads {
                thread.pid = 777;
            }
        }
    });
    lacks(&h, "was not among those seen");
}

#[test]
fn a_continue_behind_the_lab_s_back_is_seen() {
    let mut h = drill();
    h.signal("a", 1500, ChildChange::Continued);
    lacks(&h, "was continued at 1.50 s");
}

#[test]
fn a_byte_sent_early_late_or_twice_is_seen() {
    for at in [499, 503, 3199, 3300] {
        let mut h = drill();
        without(&mut h, |event| matches!(event, Event::Go { .. }));
        go(&mut h, at);
        lacks(&h, "was written while it was stopped");
    }
    let mut h = drill();
    go(&mut h, 600);
    lacks(&h, "was written 2 times, not once");
    let mut h = drill();
    without(&mut h, |event| matches!(event, Event::Go { .. }));
    lacks(&h, "was written 0 times, not once");
}

#[test]
fn a_worker_that_went_on_before_it_was_woken_is_seen() {
    let mut h = drill();
    without(&mut h, |event| matches!(event, Event::Resumed { .. }));
    resumed(&mut h, 3100);
    lacks(&h, "before it was woken");
    let mut h = drill();
    without(&mut h, |event| matches!(event, Event::Resumed { .. }));
    lacks(&h, "never went on");
}

#[test]
fn a_worker_that_did_not_stand_at_the_point_is_seen() {
    let mut h = drill();
    without(&mut h, |event| matches!(event, Event::Point { .. }));
    lacks(&h, "did not stand at a.write.2.armed");
}

/// A process that is known of from the very instant of the onset on is the one that was stopped.
#[test]
fn a_worker_known_since_the_onset_is_not_replaced() {
    let h = moved(
        500,
        |event| matches!(event, Event::WorkerStarted { worker, .. } if worker == "a"),
    );
    assert_holds(&h.judge("evidence"));
}

#[test]
fn a_replaced_worker_is_another_process() {
    let mut h = drill();
    let worker = "a".to_owned();
    h.lab(
        1500,
        Event::WorkerStarted {
            worker,
            pid: 900,
            start_ticks: 9,
        },
    );
    lacks(&h, "a was replaced");
    let mut h = drill();
    change(&mut h, |line| {
        if let Event::WorkerStarted {
            worker,
            start_ticks,
            ..
        } = &mut line.event
            && worker == "a"
        {
            *start_ticks += 1;
        }
    });
    lacks(&h, "was not among those seen");
}

#[test]
fn the_target_must_have_held_the_lock() {
    let mut h = drill();
    change(&mut h, |line| {
        if let Event::FaultOnset { worker, .. } = &mut line.event {
            *worker = Some("b".to_owned());
        }
    });
    lacks(&h, "did not certainly hold the lock");
}

#[test]
fn preconditions_are_judged_by_the_server_and_the_store() {
    let clause = |clause: Evidence| {
        let mut h = drill();
        h.plan.evidence = vec![clause];
        h
    };
    let (a, b, c) = ("a".to_owned(), "b".to_owned(), "c".to_owned());
    let nap = || "nap".to_owned();
    lacks(
        &clause(Evidence::LeaseEnded {
            worker: b,
            fault: nap(),
        }),
        "it is not shown that b's lease ended",
    );
    lacks(
        &clause(Evidence::Granted {
            worker: a,
            fault: nap(),
        }),
        "it is not shown that a was granted the lock",
    );
    lacks(
        &clause(Evidence::Granted {
            worker: c,
            fault: nap(),
        }),
        "that c was granted the lock",
    );
    let (late, early) = ("a.write.9".to_owned(), "a.write.9".to_owned());
    lacks(
        &clause(Evidence::ReachedAfter { late, early }),
        "never reached the store",
    );
    let mut h = drill();
    if let Some(Evidence::ReachedAfter { late, early }) = h.plan.evidence.last_mut() {
        std::mem::swap(late, early);
    }
    lacks(&h, "before");
}

#[test]
fn a_lease_that_ends_after_the_heal_did_not_end_in_time() {
    let mut h = Record::new();
    h.acquire("a", 100);
    h.fault("nap", "pause", "a", (150, 900));
    h.delete(1101);
    let (worker, fault) = ("a".to_owned(), "nap".to_owned());
    h.plan.evidence = vec![Evidence::LeaseEnded { worker, fault }];
    lacks(&h, "it is not shown that a's lease ended");
}

#[test]
fn a_lease_that_was_given_back_did_not_end() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.fault("nap", "pause", "a", (150, 3000));
    h.release(&a, 900);
    let (worker, fault) = ("a".to_owned(), "nap".to_owned());
    h.plan.evidence = vec![Evidence::LeaseEnded { worker, fault }];
    lacks(&h, "it is not shown that a's lease ended");
}

#[test]
fn a_run_that_broke_off_or_waited_in_vain_proves_nothing() {
    let mut h = drill();
    h.ends(4000, "interrupted");
    lacks(&h, "did not run to its end: interrupted");
    let mut h = drill();
    let (awaited, by) = ("b.acquired".to_owned(), "nap".to_owned());
    h.lab(3500, Event::PatienceEnded { awaited, by });
    lacks(&h, "nap waited in vain for b.acquired");
    let h = drill();
    let mut lines = h.finished();
    lines.pop();
    let history = History::from_lines(&h.plan, lines);
    assert_unknown(&judge(&history, "evidence"), "breaks off");
    assert_holds(&judge(&history, "records_agree"));
}

#[test]
fn an_observer_that_came_late_proves_nothing() {
    let mut h = drill();
    change(&mut h, |line| {
        if matches!(line.event, Event::ObserverSynced { .. }) {
            line.at = ns(50);
        }
    });
    lacks(&h, "not in sync before the first worker started");
}

#[test]
fn a_plan_without_faults_has_nothing_to_show() {
    assert_vacuous(&Record::new().judge("evidence"));
    // A precondition alone is something.
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    let early = h.write(&a, 200, true);
    let late = h.write(&a, 300, true);
    h.plan.evidence = vec![Evidence::ReachedAfter { late, early }];
    assert_holds(&h.judge("evidence"));
}

#[test]
fn a_fault_must_hit_the_worker_that_it_names() {
    let aimed = |worker: &str| {
        let mut h = drill();
        h.plan.faults[0].target = lockdrill::plan::Target::Worker(worker.to_owned());
        h
    };
    assert_holds(&aimed("a").judge("evidence"));
    lacks(&aimed("b"), "nap did not hit b");
}

/// A fault whose trigger is no point of the one whom it hits finds it wherever it is.
#[test]
fn a_fault_that_awaits_no_point_of_its_target_finds_it_anywhere() {
    for when in ["a.acquired", "b.write.1.armed"] {
        let mut h = drill();
        h.plan.faults[0].when = when.to_owned();
        without(&mut h, |event| {
            is_look(event, "go")
                || matches!(
                    event,
                    Event::Go { .. } | Event::Point { .. } | Event::Resumed { .. }
                )
        });
        assert_holds(&h.judge("evidence"));
    }
}

// ---- records_agree ----

fn disagrees(h: &Record, lines: Vec<Line>, what: &str) {
    let history = History::from_lines(&h.plan, lines);
    let finding = judge(&history, "records_agree");
    assert_eq!(finding.outcome, Outcome::Violated, "{what}: {finding:#?}");
    let told = history
        .defects
        .iter()
        .any(|defect| defect.what.contains(what));
    assert!(told || finding.why.contains(what), "{what}: {finding:#?}");
}

#[test]
fn a_gap_a_duplicate_and_a_swap_are_seen() {
    let h = drill();
    let whole = h.finished();
    for at in 0..whole.len() - 1 {
        let mut lines = whole.clone();
        lines.remove(at);
        disagrees(&h, lines, "lines missing");
        let mut lines = whole.clone();
        lines.insert(at + 1, whole[at].clone());
        disagrees(&h, lines, "lines more than once");
        let mut lines = whole.clone();
        lines.swap(at, at + 1);
        disagrees(&h, lines, "lines out of order");
    }
}

#[test]
fn lines_of_another_record_are_seen() {
    let h = drill();
    let mut lines = h.finished();
    if let Event::Start { arm, .. } = &mut lines[0].event {
        *arm = "unfenced".to_owned();
    }
    disagrees(&h, lines, "another drill or arm");
    let mut lines = h.finished();
    let mut second = lines[0].clone();
    second.seq = lines.len() as u64;
    lines.push(second);
    disagrees(&h, lines, "a second time");
    let mut lines = h.finished();
    lines.remove(0);
    disagrees(&h, lines, "no first line");
}

#[test]
fn an_effect_without_an_operation_is_seen() {
    let mut h = drill();
    let ghost = Held {
        owner: lockdrill::ids::OwnerDigest("ghost".to_owned()),
        fencing: Some(lockdrill::ids::FencingToken(9)),
        ..h.clone().acquire("a", 9000)
    };
    h.set(&ghost, 3500);
    disagrees(&h, h.finished(), "no recorded attempt asked for it");
    let mut h = Record::new();
    h.acquire("a", 100);
    h.extend(500);
    disagrees(&h, h.finished(), "no renewal was recorded");
    let mut h = Record::new();
    h.acquire("a", 100);
    h.delete(500);
    disagrees(&h, h.finished(), "no release was recorded");
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.log(&a, 300, ("a.write.1", None), true);
    disagrees(&h, h.finished(), "no worker recorded it");
}

#[test]
fn an_answer_of_the_store_without_an_entry_is_seen() {
    let entry = |event: &Event| matches!(event, Event::StoreAttempt { .. });
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.write(&a, 200, true);
    without(&mut h, entry);
    disagrees(&h, h.finished(), "was answered and is missing");
    // Before the log was collected nothing is missing.
    h.ends(4000, "interrupted");
    assert_holds(&h.judge("records_agree"));
}

/// A store that refuses has the refusal in its log; one that could not be reached has nothing.
#[test]
fn a_refusal_without_an_entry_is_seen_and_a_failure_is_none() {
    use lockdrill::timeline::event::{Answer, Outcome};
    let told = |answer: Answer| {
        let mut h = Record::new();
        let a = h.acquire("a", 100);
        let id = h.write_id("a");
        let op = h.ask_write(&a, 199, &id, None);
        h.ret("a", op, 201, Outcome::Fail, answer);
        h
    };
    let h = told(Answer::Rejected { highest: None });
    disagrees(&h, h.finished(), "was answered and is missing");
    let message = "connection refused".to_owned();
    assert_holds(&told(Answer::Error { message }).judge("records_agree"));
}

/// Who stops workers deletes no key; what a fault of a server does is not for us to say.
#[test]
fn a_deletion_is_unexplained_unless_a_server_was_hit() {
    let deleted = |kind: &str| {
        let mut h = Record::new();
        h.acquire("a", 100);
        h.fault("nap", kind, "b", (300, 400));
        h.delete(500);
        h
    };
    let h = deleted("pause");
    disagrees(&h, h.finished(), "no release was recorded");
    assert_holds(&deleted("restart").judge("records_agree"));
}

/// What a fault of a server did later explains nothing that was gone before it.
#[test]
fn a_deletion_before_a_servers_fault_is_unexplained() {
    let deleted = |at: u64| {
        let mut h = Record::new();
        h.acquire("a", 100);
        h.fault("nap", "restart", "b", (300, 400));
        h.delete(at);
        h
    };
    let h = deleted(299);
    disagrees(&h, h.finished(), "no release was recorded");
    assert_holds(&deleted(300).judge("records_agree"));
    // Nobody knows when a fault without an onset began.
    let mut h = deleted(299);
    without(&mut h, |event| matches!(event, Event::FaultOnset { .. }));
    assert_holds(&h.judge("records_agree"));
}

#[test]
fn a_position_missing_from_the_server_s_stream_is_seen() {
    let mut h = drill();
    let mut effects = 0;
    change(&mut h, |line| {
        if let Event::Effect { pos, .. } = &mut line.event {
            effects += 1;
            *pos += u64::from(effects > 2);
        }
    });
    disagrees(&h, h.finished(), "effects of the server's stream missing");
    // … unless the observer says so itself.
    let server = SERVER.to_owned();
    h.lab(
        3500,
        Event::ObserverGap {
            server: server.clone(),
            why: "cut".to_owned(),
        },
    );
    h.lab(3501, Event::ObserverSynced { server });
    assert_holds(&h.judge("records_agree"));
}

#[test]
fn operations_that_do_not_pair_are_seen() {
    let mut h = drill();
    h.ret(
        "a",
        999,
        3300,
        lockdrill::timeline::event::Outcome::Ok,
        lockdrill::timeline::event::Answer::Done,
    );
    disagrees(&h, h.finished(), "returns without an invoke");
}

#[test]
fn a_lying_lock_is_not_our_defect() {
    let mut h = Record::new();
    let a = h.acquire("a", 100);
    h.delete(1102);
    h.acquire("b", 1105);
    h.release(&a, 1200);
    assert_holds(&h.judge("records_agree"));
}

// ---- blindness ----

#[test]
fn no_check_sees_arm_flaw_limit_or_control() {
    let mut h = drill();
    let before = checks::judge_all(&h.history());
    h.plan.arm = "unfenced".to_owned();
    h.plan.drill = "renamed".to_owned();
    h.plan.lock.flaw = Some("blind_release".to_owned());
    h.plan.limit = Some(Limit {
        checks: vec!["single_holder".to_owned()],
        why: "said so".to_owned(),
    });
    h.plan.control = Some(Control {
        path: "store.fence".to_owned(),
        from: "atomic".into(),
        to: "off".into(),
        check: "no_stale_write".to_owned(),
        by: "a".to_owned(),
        also: Vec::new(),
    });
    if let Event::Start { arm, drill, .. } = &mut h.lines[0].event {
        *arm = "unfenced".to_owned();
        *drill = "renamed".to_owned();
    }
    assert_eq!(checks::judge_all(&h.history()), before);
}

#[test]
fn the_order_of_arrival_is_no_evidence() {
    let h = drill();
    let before = checks::judge_all(&h.history());
    let mut lines = h.finished();
    // Every line keeps its own time and place in its own order; only arrival changes. Returns stay
    // behind their invokes because arrival is by time within a worker.
    lines[1..].sort_by_key(|line| (line.by.clone(), line.at));
    let end = lines
        .iter()
        .position(|line| matches!(line.event, Event::End { .. }))
        .unwrap();
    let end = lines.remove(end);
    lines.push(end);
    for (seq, line) in lines.iter_mut().enumerate() {
        line.seq = seq as u64;
    }
    let after = checks::judge_all(&History::from_lines(&h.plan, lines));
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(
            (&before.outcome, &before.why),
            (&after.outcome, &after.why),
            "{}",
            before.check
        );
    }
}

#[test]
fn names_are_unique_and_claims_are_sentences() {
    let mut names: Vec<&str> = checks::ALL.iter().map(|check| check.name()).collect();
    assert_eq!(names[..2], [checks::EVIDENCE, checks::RECORDS_AGREE]);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), checks::ALL.len());
    assert!(checks::ALL.iter().all(|check| check.claim().len() > 20));
    assert!(checks::find("no_such_check").is_none());
}

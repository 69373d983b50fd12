//! A worker is stopped where it is parked: the byte is written while every thread is stopped, so
//! that nothing but SIGCONT can let it run.
#![allow(clippy::unwrap_used)]

use crate::support;

use lockdrill::env::look;
use lockdrill::env::stop::stop_group;
use lockdrill::ids::{FencingToken, GrantId};
use lockdrill::plan::StepAction::{Acquire, Check, Write};
use lockdrill::store::{self, Attempt, Fence, StoreAnswer};
use lockdrill::timeline::event::{Answer, Event};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::time::Duration;
use support::drill::{Drill, script};
use support::played_director::{PATIENCE, Played};

/// Long enough for a worker that is not stopped to go on: it takes well below a millisecond.
const A_WHILE: Duration = Duration::from_millis(300);

fn next(worker: &mut Played) -> Event {
    worker.next_within(PATIENCE).unwrap().event
}

fn wake(worker: &Played) {
    killpg(Pid::from_raw(worker.group()), Signal::SIGCONT).unwrap();
}

fn resumed(point: &str) -> Event {
    let point = point.to_owned();
    Event::Resumed { point }
}

#[test]
fn a_stopped_worker_leaves_its_byte_unread_until_it_is_continued() {
    let drill = Drill::alone(script(&[Acquire, Write, Check, Write]));
    let mut a = drill.start("a", &["a.write.2.armed"]);
    a.until_waiting("a.write.2.armed");

    let stopped = stop_group(a.group()).unwrap();
    assert!(
        stopped.threads.len() >= 4,
        "main, script, runtime, lab-watch"
    );
    assert!(look::all_stopped(&stopped.threads));
    a.go();
    assert_eq!(a.next_within(A_WHILE), None, "no `resumed`");
    let later = look::group(a.group()).unwrap();
    assert_eq!(later, stopped.threads, "stopped all along: no run time");
    assert_eq!(drill.attempts(), [("a.write.1".to_owned(), true)]);

    wake(&a);
    assert_eq!(next(&mut a), resumed("a.write.2.armed"));
    assert!(a.finish().success());
    let both = [
        ("a.write.1".to_owned(), true),
        ("a.write.2".to_owned(), true),
    ];
    assert_eq!(drill.attempts(), both);
}

#[test]
fn a_worker_that_is_not_stopped_goes_on_at_the_byte() {
    let drill = Drill::alone(script(&[Acquire, Write]));
    let mut a = drill.start("a", &["a.write.1.armed"]);
    a.until_waiting("a.write.1.armed");
    assert_eq!(a.next_within(A_WHILE), None, "it waits by itself");
    a.go();
    assert_eq!(next(&mut a), resumed("a.write.1.armed"));
    assert!(a.finish().success());
}

/// The worker is overtaken in the store while it is stopped at its `armed` point; what becomes of
/// its write depends on nothing but the fence.
fn overtaken_while_stopped(fence: Fence) -> Answer {
    let mut drill = Drill::alone(script(&[Acquire, Write]));
    drill.fence = fence;
    let mut a = drill.start("a", &["a.write.1.armed"]);
    a.until_waiting("a.write.1.armed");
    stop_group(a.group()).unwrap();
    a.go();

    // A worker that is stopped at a point does not block the store.
    let opened = (store::find("sqlite").unwrap().open)(&drill.store_spec());
    let successor = Attempt {
        resource: "account".to_owned(),
        write: "b.write.1".to_owned(),
        based_on: None,
        grant: Some(GrantId("b.1".to_owned())),
        fencing: Some(FencingToken(1_000)),
        job: None,
        if_pending: false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let mut store = runtime.block_on(opened).unwrap();
    let answer = runtime.block_on(store.write(&successor, &|| ()));
    assert_eq!(answer, StoreAnswer::Accepted);

    wake(&a);
    let answered = a.until("answer of the store", |event| {
        matches!(
            event,
            Event::Return {
                answer: Answer::Accepted | Answer::Rejected { .. },
                ..
            }
        )
    });
    assert!(a.finish().success());
    let order: Vec<String> = drill
        .attempts()
        .into_iter()
        .map(|(write, _)| write)
        .collect();
    assert_eq!(
        order,
        ["b.write.1", "a.write.1"],
        "by the store's own order"
    );
    match answered.event {
        Event::Return { answer, .. } => answer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_late_write_is_refused_by_an_atomic_fence() {
    let highest = Some(FencingToken(1_000));
    assert_eq!(
        overtaken_while_stopped(Fence::Atomic),
        Answer::Rejected { highest }
    );
}

#[test]
fn a_late_write_slips_through_a_racy_fence() {
    assert_eq!(overtaken_while_stopped(Fence::Racy), Answer::Accepted);
}

#[test]
fn a_late_write_slips_through_no_fence() {
    assert_eq!(overtaken_while_stopped(Fence::Off), Answer::Accepted);
}

#[test]
fn a_worker_that_slept_through_its_lease_says_so_when_it_wakes_and_still_writes() {
    let mut drill = Drill::alone(script(&[Acquire, Write, Check]));
    drill.plan.lock.lease_ms = 300;
    drill.plan.lock.renew_ms = Some(100);
    let mut a = drill.start("a", &["a.write.1.armed"]);
    a.until_waiting("a.write.1.armed");
    stop_group(a.group()).unwrap();
    a.go();
    std::thread::sleep(Duration::from_millis(400)); // the lease ends; nobody can say so yet

    wake(&a);
    assert!(a.finish().success());
    let lost = a
        .seen
        .iter()
        .filter(|line| matches!(line.event, Event::Lost { .. }));
    assert_eq!(lost.count(), 1);
    let unlocked = Answer::Locked { locked: false };
    assert!(
        a.seen
            .iter()
            .any(|line| matches!(&line.event, Event::Return { answer, .. } if *answer == unlocked)),
        "{:#?}",
        a.seen
    );
    assert_eq!(
        drill.attempts(),
        [("a.write.1".to_owned(), true)],
        "it was on its way"
    );
}

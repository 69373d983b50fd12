//! A worker outlives its lab by no effect: when either pipe is closed it ends at once.
#![allow(clippy::unwrap_used)]

use crate::support;

use lockdrill::env::stop::stop_group;
use lockdrill::plan::StepAction::{Acquire, Hold, Write};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use support::drill::{Drill, script};

fn parked_before_its_second_write() -> (Drill, support::played_director::Played) {
    let drill = Drill::alone(script(&[Acquire, Write, Write]));
    let mut a = drill.start("a", &["a.write.2.armed"]);
    a.until_waiting("a.write.2.armed");
    (drill, a)
}

fn only_the_first_write(drill: &Drill) {
    assert_eq!(drill.attempts(), [("a.write.1".to_owned(), true)]);
}

#[test]
fn the_end_of_the_go_pipe_ends_a_waiting_worker() {
    let (drill, mut a) = parked_before_its_second_write();
    a.close_go();
    assert_eq!(a.wait().code(), Some(3));
    only_the_first_write(&drill);
}

#[test]
fn the_end_of_the_event_pipe_ends_a_waiting_worker() {
    let (drill, mut a) = parked_before_its_second_write();
    a.close_events();
    assert_eq!(a.wait().code(), Some(3));
    only_the_first_write(&drill);
}

#[test]
fn a_worker_that_works_ends_too() {
    let drill = Drill::alone(script(&[Acquire, Hold { for_ms: 60_000 }, Write]));
    for close in [
        support::played_director::Played::close_go,
        support::played_director::Played::close_events,
    ] {
        let mut a = drill.start("a", &[]);
        a.until("work", |event| {
            matches!(event, lockdrill::timeline::event::Event::Point { point, .. } if point == "a.hold.1.before")
        });
        close(&mut a);
        assert_eq!(a.wait().code(), Some(3), "long before its work is done");
    }
    assert_eq!(drill.attempts(), []);
}

/// The lab dies after it wrote the byte and before it continued the group: the kernel or a guard
/// continues it, the byte is there, and nobody is.
#[test]
fn a_byte_from_a_dead_lab_is_no_byte() {
    let (drill, mut a) = parked_before_its_second_write();
    stop_group(a.group()).unwrap();
    a.go();
    a.close_go();
    a.close_events();
    killpg(Pid::from_raw(a.group()), Signal::SIGCONT).unwrap();
    assert_eq!(a.wait().code(), Some(3));
    only_the_first_write(&drill);
}

/// As above, but the lab's end of the event pipe was inherited by a process that still lives. Ten
/// times, because two threads of the worker see the end of the go pipe and either may be first.
#[test]
fn a_byte_counts_only_while_the_go_pipe_is_open() {
    for _ in 0..10 {
        let (drill, mut a) = parked_before_its_second_write();
        stop_group(a.group()).unwrap();
        a.go();
        a.close_go();
        killpg(Pid::from_raw(a.group()), Signal::SIGCONT).unwrap();
        assert_eq!(a.wait().code(), Some(3));
        only_the_first_write(&drill);
    }
}

#[test]
fn a_termination_request_ends_it_without_another_effect() {
    let (drill, mut a) = parked_before_its_second_write();
    killpg(Pid::from_raw(a.group()), Signal::SIGTERM).unwrap();
    assert!(!a.wait().success());
    only_the_first_write(&drill);
}

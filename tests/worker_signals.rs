//! A worker that is asked by signals: it tells its wall clock, and ends as its plan says.

use crate::support;

use lockdrill::plan::OnSigterm;
use lockdrill::plan::StepAction::{Acquire, Hold, Release, Write};
use lockdrill::timeline::event::{Call, Event};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use support::drill::{Drill, script};
use support::played_director::Played;

fn send(worker: &Played, signal: Signal) {
    kill(Pid::from_raw(worker.group()), signal).unwrap();
}

/// Asked to end in the middle of the first of two rounds.
fn asked_to_end(answer: OnSigterm) -> (Drill, Played) {
    let round = [Acquire, Write, Hold { for_ms: 50 }, Write, Release];
    let mut drill = Drill::alone(script(&[round.clone(), round].concat()));
    drill.plan.workers[0].on_sigterm = answer;
    let mut a = drill.start("a", &["a.hold.1.before"]);
    a.until_waiting("a.hold.1.before");
    send(&a, Signal::SIGTERM);
    a.until("asked to end", |event| *event == Event::AskedToEnd);
    (drill, a)
}

fn place(seen: &Played, what: &str, is_it: impl Fn(&Event) -> bool) -> usize {
    let found = seen.seen.iter().position(|line| is_it(&line.event));
    found.unwrap_or_else(|| panic!("no {what}: {:#?}", seen.seen))
}

fn released(event: &Event) -> bool {
    matches!(
        event,
        Event::Invoke {
            call: Call::Release { .. },
            ..
        }
    )
}

fn at_point(name: &'static str) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::Point { point, .. } if point == name)
}

#[test]
fn it_ends_at_once_unless_its_plan_says_otherwise() {
    let (drill, mut a) = asked_to_end(OnSigterm::End);
    assert_eq!(a.finish().code(), Some(143));
    assert_eq!(drill.attempts(), [("a.write.1".to_owned(), true)]);
    assert!(!a.seen.iter().any(|line| released(&line.event)));
}

#[test]
fn it_finishes_its_work_and_then_gives_back_and_begins_nothing_new() {
    let (drill, mut a) = asked_to_end(OnSigterm::Finish);
    a.go();
    assert!(a.finish().success());
    assert_eq!(drill.attempts().len(), 2, "the round is done, no other");
    let worked = place(&a, "end of the work", at_point("a.write.2.after"));
    assert!(place(&a, "release", released) > worked);
    let again = at_point("a.acquire.2.before");
    assert!(!a.seen.iter().any(|line| again(&line.event)));
}

#[test]
fn one_that_gives_back_first_works_on_without_the_lock() {
    let (drill, mut a) = asked_to_end(OnSigterm::ReleaseFirst);
    a.go();
    assert!(a.finish().success());
    assert_eq!(drill.attempts().len(), 2, "the round is done, no other");
    let worked = place(&a, "end of the work", at_point("a.hold.1.after"));
    assert!(place(&a, "release", released) < worked);
    let releases = a.seen.iter().filter(|line| released(&line.event)).count();
    assert_eq!(releases, 1);
}

#[test]
fn who_has_not_got_the_lock_begins_nothing() {
    let mut drill = Drill::alone(script(&[Acquire, Write]));
    drill.plan.workers[0].on_sigterm = OnSigterm::Finish;
    let mut a = drill.start("a", &["a.start"]);
    a.until_waiting("a.start");
    send(&a, Signal::SIGTERM);
    a.until("asked to end", |event| *event == Event::AskedToEnd);
    a.go();
    assert!(a.finish().success());
    assert!(drill.attempts().is_empty());
}

#[test]
fn it_tells_its_wall_clock_whenever_it_is_asked() {
    let drill = Drill::alone(script(&[Acquire, Write]));
    let mut a = drill.start("a", &["a.write.1.armed"]);
    a.until_waiting("a.write.1.armed");
    for _ in 0..2 {
        send(&a, Signal::SIGUSR1);
        let line = a.until("time", |event| matches!(event, Event::WallClock { .. }));
        let Event::WallClock {
            before,
            after,
            wall_us,
        } = line.event
        else {
            unreachable!();
        };
        assert!(before <= after && after <= line.at);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let told = Duration::from_micros(wall_us);
        assert!(now.abs_diff(told) < Duration::from_secs(60), "{told:?}");
    }
    a.go();
    assert!(a.finish().success());
}

//! A worker that is more than one process, of which only one is stopped: what the kernel says of a
//! real group, put in the place of the looks of a pause drill.
//!
//! No run from outside shows this: a process joins a group only from within its session, and a
//! worker's session is the guard's.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::history as support;
use crate::support::pause_drill::pause_drill;

use lockdrill::env::look;
use lockdrill::timeline::event::{Event, ThreadLook};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use support::{Record, assert_holds, assert_unknown};

/// A leader and its helper, in a group of their own; both are killed in the end.
struct Group(Child);

impl Group {
    fn new() -> Group {
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 600 & wait"]).process_group(0);
        let group = Group(shell.spawn().unwrap());
        group.until("two processes", |threads| {
            let asleep = threads.iter().filter(|thread| thread.state == 'S');
            asleep.count() == 2
        });
        group
    }

    fn leader(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.0.id()).unwrap())
    }

    fn look(&self) -> Vec<ThreadLook> {
        look::group(self.leader().as_raw()).unwrap()
    }

    fn until(&self, what: &str, is_so: impl Fn(&[ThreadLook]) -> bool) {
        let begun = Instant::now();
        while !is_so(&self.look()) {
            assert!(begun.elapsed() < Duration::from_secs(60), "never: {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn stopped(&self, how_many: usize) {
        self.until("a standstill", |threads| {
            threads.iter().filter(|thread| thread.state == 'T').count() == how_many
        });
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = killpg(self.leader(), Signal::SIGKILL);
        let _ = self.0.wait();
    }
}

/// The pause drill with what the kernel said of this group; its leader is the worker.
fn drill(group: &Group) -> Record {
    let mut h = pause_drill(false);
    let leader = group.leader().as_raw();
    for line in &mut h.lines {
        match &mut line.event {
            Event::Look { threads, .. } => *threads = group.look(),
            Event::WorkerStarted {
                worker,
                pid,
                start_ticks,
            } if worker == "a" => {
                let itself = group.look().into_iter().find(|one| one.pid == leader);
                (*pid, *start_ticks) = (leader, itself.unwrap().start_ticks);
            }
            _ => {}
        }
    }
    h
}

#[test]
fn a_group_of_which_all_stand_still_is_stopped() {
    let group = Group::new();
    killpg(group.leader(), Signal::SIGSTOP).unwrap();
    group.stopped(2);
    assert_holds(&drill(&group).judge("evidence"));
}

#[test]
fn a_group_of_which_one_goes_on_is_not() {
    let group = Group::new();
    kill(group.leader(), Signal::SIGSTOP).unwrap();
    group.stopped(1);
    assert_unknown(&drill(&group).judge("evidence"), "was in state S");
}

/// The helper is woken behind the lab's back, and stopped again before anybody looks.
#[test]
fn a_helper_that_was_woken_and_stopped_again_has_run() {
    let group = Group::new();
    killpg(group.leader(), Signal::SIGSTOP).unwrap();
    group.stopped(2);
    let mut h = drill(&group);
    let helper = group
        .look()
        .into_iter()
        .find(|one| one.pid != group.leader().as_raw());
    let helper = Pid::from_raw(helper.unwrap().pid);
    kill(helper, Signal::SIGCONT).unwrap();
    group.stopped(1);
    kill(helper, Signal::SIGSTOP).unwrap();
    group.stopped(2);
    for line in &mut h.lines {
        if let Event::Look {
            moment, threads, ..
        } = &mut line.event
            && moment == "heal"
        {
            *threads = group.look();
        }
    }
    assert_unknown(&h.judge("evidence"), "ran between");
}

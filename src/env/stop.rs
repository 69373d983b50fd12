//! Stops and continues a whole process group, and shows that it really happened.
//!
//! `kill()` returns long before the last thread has stopped (measured: 40 µs against 2 ms), so
//! the stop is told only once every thread has been seen in state T twice, with no run time in
//! between.

use crate::clock::monotonic_ns;
use crate::env::{look, procfs};
use crate::timeline::event::ThreadLook;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::io;
use std::thread::sleep;
use std::time::Duration;

/// Between two looks.
const PERIOD: Duration = Duration::from_micros(500);

/// Longest wait for a group to be seen stopped or running.
const LIMIT_NS: u64 = 5_000_000_000;

/// A group that has been seen stopped in full.
#[derive(Debug, Clone)]
pub struct Stopped {
    /// Just before the signal was sent, ns of `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    /// When every thread had been seen stopped, ns.
    pub effective_ns: u64,
    /// The look that showed it.
    pub threads: Vec<ThreadLook>,
}

/// SIGSTOP to the group; returns when every thread stands still.
///
/// # Errors
/// When the group does not exist, or is not seen stopped within 5 s.
pub fn stop_group(pgid: i32) -> io::Result<Stopped> {
    let began_ns = monotonic_ns();
    signal(pgid, Signal::SIGSTOP)?;
    let mut before = Vec::new();
    loop {
        let threads = look::group(pgid)?;
        if threads.iter().any(|look| look.state != 'T') {
            // One may have been started before its parent stood still.
            signal_apart(pgid, Signal::SIGSTOP)?;
        }
        if look::all_stopped(&threads) && threads == before {
            return Ok(Stopped {
                began_ns,
                effective_ns: monotonic_ns(),
                threads,
            });
        }
        if monotonic_ns() - began_ns > LIMIT_NS {
            return Err(io::Error::other("not every thread stopped within 5 s"));
        }
        before = threads;
        sleep(PERIOD);
    }
}

/// SIGKILL to the group; returns when those who led groups of their own are gone. The leader itself
/// is waited for by its parent.
///
/// # Errors
/// When the group does not exist, or is not gone within 5 s.
pub fn kill_group(pgid: i32) -> io::Result<()> {
    let began_ns = monotonic_ns();
    let mut others = apart(pgid)?;
    if !others.is_empty() {
        // While it stands still it starts no more.
        killpg(Pid::from_raw(pgid), Signal::SIGSTOP)?;
        others = apart(pgid)?;
    }
    killpg(Pid::from_raw(pgid), Signal::SIGKILL)?;
    for pid in &others {
        // Gone already is as good as killed.
        let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
    }
    let lives = |pid: &i32| procfs::stat(*pid).is_ok_and(|stat| !stat.is_dead());
    while others.iter().any(lives) {
        if monotonic_ns() - began_ns > LIMIT_NS {
            return Err(io::Error::other("a process of it was not gone within 5 s"));
        }
        sleep(PERIOD);
    }
    Ok(())
}

/// To the group, then to those of it that lead groups of their own.
fn signal(pgid: i32, which: Signal) -> io::Result<()> {
    killpg(Pid::from_raw(pgid), which)?;
    signal_apart(pgid, which)
}

fn signal_apart(pgid: i32, which: Signal) -> io::Result<()> {
    for pid in apart(pgid)? {
        // It may have ended meanwhile.
        let _ = kill(Pid::from_raw(pid), which);
    }
    Ok(())
}

/// Children of a group's leader that lead groups of their own, as those of Postgres do.
fn apart(pgid: i32) -> io::Result<Vec<i32>> {
    let all = procfs::all()?.into_iter();
    let apart = all.filter(|stat| stat.group != pgid && stat.is_living_child_of(pgid));
    Ok(apart.map(|stat| stat.pid).collect())
}

/// A group that was continued.
#[derive(Debug, Clone)]
pub struct Continued {
    /// Just before the signal was sent, ns of `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    /// When every process had been seen to have run again, ns; none = not seen within 5 s.
    pub removed_ns: Option<u64>,
    /// The last look.
    pub threads: Vec<ThreadLook>,
}

/// SIGCONT to the group; returns when it has been seen to run: no thread is stopped any more, and
/// of each process that stood still some thread has used processor time since, or has ended.
///
/// # Errors
/// When nobody of those who were stopped is there any more (the number of a group that is gone may
/// be a stranger's by now), the signal cannot be sent or /proc cannot be read.
pub fn continue_group(pgid: i32, stopped: &[ThreadLook]) -> io::Result<Continued> {
    let began_ns = monotonic_ns();
    if !look::group(pgid)?.iter().any(|now| is_one_of(stopped, now)) {
        return Err(io::Error::other("the group that was stopped is gone"));
    }
    signal(pgid, Signal::SIGCONT)?;
    loop {
        let threads = look::group(pgid)?;
        let removed = runs_again(stopped, &threads);
        if removed || monotonic_ns() - began_ns > LIMIT_NS {
            return Ok(Continued {
                began_ns,
                removed_ns: removed.then(monotonic_ns),
                threads,
            });
        }
        sleep(PERIOD);
    }
}

/// The same process: a number alone may have been given to another.
fn is_one_of(stopped: &[ThreadLook], now: &ThreadLook) -> bool {
    stopped
        .iter()
        .any(|then| (then.pid, then.start_ticks) == (now.pid, now.start_ticks))
}

fn runs_again(before: &[ThreadLook], now: &[ThreadLook]) -> bool {
    // A thread that is not there any more has run: a stopped one cannot end (but by SIGKILL).
    let has_run = |then: &ThreadLook| {
        let same = now
            .iter()
            .find(|look| (look.pid, look.tid) == (then.pid, then.tid));
        same.is_none_or(|now| now.run_ns > then.run_ns || matches!(now.state, 'Z' | 'X'))
    };
    let some_ran = |pid: i32| before.iter().filter(|look| look.pid == pid).any(has_run);
    now.iter().all(|look| look.state != 'T') && before.iter().all(|look| some_ran(look.pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(tid: i32, state: char, run_ns: u64) -> ThreadLook {
        ThreadLook {
            pid: 1,
            start_ticks: 0,
            tid,
            state,
            run_ns,
            switches: 0,
        }
    }

    #[test]
    fn a_process_of_the_same_number_is_another() {
        let then = [look(1, 'T', 5)];
        assert!(is_one_of(&then, &look(1, 'T', 5)));
        let mut later = look(1, 'T', 5);
        later.start_ticks = 7;
        assert!(!is_one_of(&then, &later));
    }

    #[test]
    fn a_process_runs_again_when_one_of_its_threads_has() {
        let before = [look(1, 'T', 5), look(2, 'T', 9)];
        assert!(!runs_again(&before, &before), "it still stands");
        assert!(!runs_again(&before, &[look(1, 'S', 5), look(2, 'S', 9)]));
        assert!(!runs_again(&before, &[look(1, 'T', 5), look(2, 'S', 10)]));
        assert!(runs_again(&before, &[look(1, 'S', 5), look(2, 'R', 10)]));
        assert!(runs_again(&before, &[look(1, 'S', 5)]), "thread 2 ended");
        assert!(runs_again(&before, &[]), "the process ended");
    }
}

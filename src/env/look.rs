//! What the kernel says of a process group, thread by thread, from /proc.
//!
//! The state letter alone proves nothing about the time between two looks: a quick continue and
//! stop would not show. The run time and the count of context switches would.

use crate::env::procfs::{self, Stat};
use crate::timeline::event::ThreadLook;
use std::fs;
use std::io;

/// Every thread of every process of a group, ordered by process and thread; a child of its leader
/// belongs to it even if it leads a group of its own, unless it has ended: nobody fetches it while
/// its parent stands still.
///
/// # Errors
/// When /proc cannot be listed. A thread that ends during the look is left out.
pub fn group(pgid: i32) -> io::Result<Vec<ThreadLook>> {
    let members = procfs::all()?
        .into_iter()
        .filter(|stat| stat.group == pgid || stat.is_living_child_of(pgid));
    let mut threads: Vec<ThreadLook> = members
        .flat_map(|stat| process(stat.pid, stat.start_ticks))
        .collect();
    threads.sort_by_key(|look| (look.pid, look.tid));
    Ok(threads)
}

/// Every thread is stopped, and there is at least one.
pub fn all_stopped(threads: &[ThreadLook]) -> bool {
    !threads.is_empty() && threads.iter().all(|look| look.state == 'T')
}

fn process(pid: i32, start_ticks: u64) -> Vec<ThreadLook> {
    let folder = format!("/proc/{pid}/task");
    let tids = numbers(&folder).unwrap_or_default();
    tids.into_iter()
        .filter_map(|tid| {
            let stat = fs::read_to_string(format!("{folder}/{tid}/stat")).ok()?;
            let state = Stat::parse(&stat)?.state;
            let schedstat = fs::read_to_string(format!("{folder}/{tid}/schedstat")).ok()?;
            let status = fs::read_to_string(format!("{folder}/{tid}/status")).ok()?;
            Some(ThreadLook {
                pid,
                start_ticks,
                tid,
                state,
                run_ns: schedstat.split_whitespace().next()?.parse().ok()?,
                switches: switches(&status),
            })
        })
        .collect()
}

fn switches(status: &str) -> u64 {
    status
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.ends_with("voluntary_ctxt_switches"))
        .filter_map(|(_, count)| count.trim().parse::<u64>().ok())
        .sum()
}

fn numbers(folder: &str) -> io::Result<Vec<i32>> {
    Ok(fs::read_dir(folder)?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::time::{Duration, Instant};

    fn until(what: &str, mut done: impl FnMut() -> bool) {
        let start = Instant::now();
        while !done() {
            assert!(start.elapsed() < Duration::from_secs(30), "never: {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_stopped_group_shows_every_process_of_it_stopped_and_no_run_time() {
        let mut child = Command::new("sh")
            .args(["-c", "while :; do :; done & while :; do :; done"])
            .process_group(0)
            .spawn()
            .unwrap();
        let pgid = i32::try_from(child.id()).unwrap();
        until("two processes", || group(pgid).unwrap().len() == 2);
        killpg(Pid::from_raw(pgid), Signal::SIGSTOP).unwrap();
        until("stopped", || all_stopped(&group(pgid).unwrap()));
        std::thread::sleep(Duration::from_millis(5));
        let first = group(pgid).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(first, group(pgid).unwrap(), "a stopped group does not run");
        killpg(Pid::from_raw(pgid), Signal::SIGCONT).unwrap();
        until("running", || {
            group(pgid)
                .unwrap()
                .iter()
                .zip(&first)
                .all(|(now, then)| now.run_ns > then.run_ns)
        });
        killpg(Pid::from_raw(pgid), Signal::SIGKILL).unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn an_empty_group_is_not_a_stopped_one() {
        assert!(!all_stopped(&[]));
    }
}

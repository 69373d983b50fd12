//! What the kernel lets us do here, and how punctually.

use super::{Finding, Level};
use crate::clock::{monotonic_ns, wall_ns};
use crate::env::{isolation, stop};
use nix::time::{ClockId, clock_getres};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A sleep that is late by more than this leaves drills with short leases undecided, ns.
const LATE_NS: u64 = 50_000_000;
/// Duration of the noise measurement, ns.
const LISTEN_NS: u64 = 1_000_000_000;

/// Stops a child and sees it stopped: some sandboxes deliver signals late or not at all.
pub(super) fn signals() -> Finding {
    let what = "signals";
    let attempt = || -> io::Result<u64> {
        let child = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let child = Ended(child);
        let pid = i32::try_from(child.0.id()).map_err(io::Error::other)?;
        let stopped = stop::stop_group(pid)?;
        Ok((stopped.effective_ns - stopped.began_ns) / 1000)
    };
    match attempt() {
        Ok(us) => {
            let says = format!("SIGSTOP was seen to stop a child within {us} µs");
            Finding::new(what, Level::Ready, says)
        }
        Err(error) => Finding::new(what, Level::Missing, format!("SIGSTOP: {error}"))
            .todo("run where processes may be stopped (not under gVisor or a ptrace sandbox)"),
    }
}

/// A child that ends with its scope.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn namespaces() -> Finding {
    let what = "namespaces";
    match isolation::probe() {
        Ok(()) => Finding::new(what, Level::Ready, "pid, network and mount namespaces work"),
        Err(why) => Finding::new(
            what,
            Level::Limited,
            format!("refused: {why}; guard mode is used"),
        )
        .todo(unlock_namespaces()),
    }
}

/// The setting that forbids them, where it is one of the well-known.
fn unlock_namespaces() -> String {
    let reads = |name: &str, value: &str| {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        fs::read_to_string(path).is_ok_and(|text| text.trim() == value)
    };
    for (name, bad, good) in [
        ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
        ("kernel.unprivileged_userns_clone", "0", "1"),
        ("user.max_user_namespaces", "0", "10000"),
    ] {
        if reads(name, bad) {
            return format!("sudo sysctl {name}={good}");
        }
    }
    "run as root, or in Docker with --privileged".to_owned()
}

pub(super) fn clocks() -> Finding {
    let what = "clocks";
    let step = match clock_getres(ClockId::CLOCK_MONOTONIC) {
        Ok(step) => step,
        Err(errno) => {
            return Finding::new(what, Level::Missing, format!("CLOCK_MONOTONIC: {errno}"))
                .todo("run on Linux 5.4 or newer");
        }
    };
    let (wall, lab) = (wall_ns(), monotonic_ns());
    std::thread::sleep(Duration::from_millis(200));
    let (wall, lab) = (wall_ns().abs_diff(wall), monotonic_ns().abs_diff(lab));
    let apart_us = wall.abs_diff(lab) / 1000;
    let step_ns = Duration::from(step).as_nanos();
    let says = format!(
        "monotonic steps of {step_ns} ns; wall clock and it drew {apart_us} µs apart in 200 ms"
    );
    // Events closer than a step could not be ordered, and a wall clock that jumps now would be
    // taken for a jump of the server's clock.
    if step_ns <= 1_000 && apart_us < 5_000 {
        Finding::new(what, Level::Ready, says)
    } else {
        Finding::new(what, Level::Limited, says)
            .todo("wait until time synchronisation has settled: timedatectl status")
    }
}

/// How late a sleep of 1 ms is at most, listening for so long, ns.
pub fn lateness_ns(listen_ns: u64) -> u64 {
    let start = monotonic_ns();
    let mut latest = 0;
    while monotonic_ns() - start < listen_ns {
        let before = monotonic_ns();
        std::thread::sleep(Duration::from_millis(1));
        latest = latest.max((monotonic_ns() - before).saturating_sub(1_000_000));
    }
    latest
}

pub(super) fn noise() -> Finding {
    let what = "noise";
    let latest = lateness_ns(LISTEN_NS);
    let says = format!(
        "a sleep of 1 ms was late by at most {}.{:02} ms in one second",
        latest / 1_000_000,
        latest % 1_000_000 / 10_000
    );
    if latest <= LATE_NS {
        Finding::new(what, Level::Ready, says)
    } else {
        Finding::new(
            what,
            Level::Limited,
            format!("{says}; narrow margins will be undecided"),
        )
        .todo("stop what else is running, or give the machine more processors")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_can_be_stopped_here() {
        assert_eq!(signals().level, Level::Ready, "{:?}", signals());
    }
}

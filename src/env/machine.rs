//! What this machine has for the lab, found by doing it and not by asking for versions.
//!
//! Nothing is changed: what is started here is ended here, what is written is deleted.

use crate::clock::{monotonic_ns, wall_ns};
use crate::env::error::EnvError;
use crate::env::{isolation, ledger, redis, stop};
use nix::sys::statvfs::statvfs;
use nix::time::{ClockId, clock_getres};
use serde::Serialize;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Below this much free space a run may not be able to keep its record, bytes.
const SPACE: u64 = 200 << 20;
/// A sleep that is late by more than this leaves drills with short leases undecided, ns.
const LATE_NS: u64 = 50_000_000;
/// Duration of the noise measurement, ns.
const LISTEN_NS: u64 = 1_000_000_000;

/// One thing that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked for.
    pub what: &'static str,
    /// How it stands.
    pub level: Level,
    /// What was found.
    pub says: String,
    /// The command that brings what is missing.
    pub todo: Option<String>,
}

/// How one thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// There.
    Ready,
    /// Not there, or poor; drills run without it.
    Limited,
    /// Not there; drills cannot run.
    Missing,
}

/// Every look, in the order in which it is told.
pub const ALL: &[fn() -> Finding] = &[
    redis_server,
    toxiproxy,
    signals,
    namespaces,
    clocks,
    noise,
    state_folder,
    output_folder,
    disk_space,
];

impl Finding {
    fn new(what: &'static str, level: Level, says: impl Into<String>) -> Self {
        let says = says.into();
        let todo = None;
        Finding {
            what,
            level,
            says,
            todo,
        }
    }

    fn todo(mut self, todo: impl Into<String>) -> Self {
        self.todo = Some(todo.into());
        self
    }
}

fn redis_server() -> Finding {
    let what = "redis-server";
    match redis::find::find() {
        Ok(found) => {
            let says = format!("{} at {}", found.version, found.path.display());
            Finding::new(what, Level::Ready, says)
        }
        Err(EnvError { what: says, todo }) => Finding::new(what, Level::Missing, says).todo(todo),
    }
}

fn toxiproxy() -> Finding {
    let (what, name) = ("toxiproxy", "toxiproxy-server");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    match found {
        Some(file) => Finding::new(what, Level::Ready, file.display().to_string()),
        None => Finding::new(
            what,
            Level::Limited,
            "not found; only network drills ask for it",
        )
        .todo(
            "go install github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0 && \
                 sudo install \"$(go env GOPATH)/bin/server\" /usr/local/bin/toxiproxy-server",
        ),
    }
}

/// Stops a child and sees it stopped: some sandboxes deliver signals late or not at all.
fn signals() -> Finding {
    let what = "signals";
    let attempt = || -> io::Result<u64> {
        let child = Command::new("sleep")
            .arg("600")
            .stdin(Stdio::null())
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

fn namespaces() -> Finding {
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

fn clocks() -> Finding {
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

fn noise() -> Finding {
    let what = "noise";
    let start = monotonic_ns();
    let mut latest = 0;
    while monotonic_ns() - start < LISTEN_NS {
        let before = monotonic_ns();
        std::thread::sleep(Duration::from_millis(1));
        latest = latest.max((monotonic_ns() - before).saturating_sub(1_000_000));
    }
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

fn state_folder() -> Finding {
    let what = "state folder";
    match ledger::root() {
        Ok(root) => Finding::new(what, Level::Ready, root.display().to_string()),
        Err(error) => Finding::new(what, Level::Missing, error.to_string())
            .todo(format!("export {}=\"$(mktemp -d)\"", ledger::ROOT)),
    }
}

/// Where reports go unless `--out` says otherwise: `reports/` here, or here to make it.
fn output() -> &'static Path {
    let folder = Path::new("reports");
    if folder.is_dir() {
        folder
    } else {
        Path::new(".")
    }
}

fn output_folder() -> Finding {
    let what = "output folder";
    let file = output().join(format!(".lockdrill-doctor-{}", std::process::id()));
    let written = OpenOptions::new().write(true).create_new(true).open(&file);
    match written.and_then(|_| fs::remove_file(&file)) {
        Ok(()) => Finding::new(what, Level::Ready, "reports/ can be written"),
        Err(error) => Finding::new(what, Level::Missing, format!("reports/: {error}"))
            .todo("run in a folder that you may write to, or name one with --out DIR"),
    }
}

fn disk_space() -> Finding {
    let what = "disk space";
    match statvfs(output()) {
        Ok(disk) => {
            let free = disk.blocks_available() * disk.fragment_size();
            let says = format!("{} MiB free for reports", free >> 20);
            if free >= SPACE {
                Finding::new(what, Level::Ready, says)
            } else {
                Finding::new(what, Level::Missing, says)
                    .todo("free some space (make clean drops the build), or use --out DIR")
            }
        }
        Err(errno) => Finding::new(what, Level::Limited, format!("unknown: {errno}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_ready_says_what_to_do() {
        // Not `namespaces`: it starts this program again, which here is the test runner.
        for look in [
            redis_server,
            toxiproxy,
            signals,
            clocks,
            output_folder,
            disk_space,
        ] {
            let finding = look();
            assert!(!finding.says.is_empty());
            assert!(
                finding.level == Level::Ready || finding.todo.is_some(),
                "{finding:?}"
            );
        }
    }

    #[test]
    fn a_child_can_be_stopped_here() {
        assert_eq!(signals().level, Level::Ready, "{:?}", signals());
    }
}

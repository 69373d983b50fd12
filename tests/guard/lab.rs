//! One arm under test, seen from outside: who is in it, who is killed, what is left.

use crate::roles::{MODE, OUT, PORT, SCRIPT};
use lockdrill::env::process::{Fate, Identity};
use lockdrill::env::procfs::{self, Stat};
use lockdrill::env::root;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Both modes of isolation.
pub const MODES: [&str; 2] = ["guard", "namespace"];
/// Longer than anything takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// A running arm with a conductor of its own.
pub struct Arm {
    pub temp: TempDir,
    pub mode: &'static str,
    pub port: u16,
    conductor: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

/// Who can be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Victim {
    Conductor,
    Director,
    /// The guard proper: in namespace mode process 1 inside.
    Guard,
    /// In namespace mode the half outside; in guard mode the guard.
    Outer,
}

impl Arm {
    /// Starts a conductor whose director plays `script`.
    pub fn start(mode: &'static str, script: &str) -> Arm {
        let temp = tempfile::tempdir().unwrap();
        for folder in ["state", "out"] {
            fs::create_dir(temp.path().join(folder)).unwrap();
        }
        fs::set_permissions(temp.path().join("state"), PermissionsExt::from_mode(0o700)).unwrap();
        let port = if mode == "namespace" {
            6379
        } else {
            free_port()
        };
        let mut conductor = Command::new(std::env::current_exe().unwrap())
            .args(["roles::conductor", "--exact", "--nocapture"])
            .env(MODE, mode)
            .env(SCRIPT, script)
            .env(OUT, temp.path().join("out"))
            .env(PORT, port.to_string())
            .env(root::VARIABLE, temp.path().join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(conductor.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let stdin = conductor.stdin.take();
        Arm {
            temp,
            mode,
            port,
            conductor,
            stdin,
            lines,
        }
    }

    /// Waits for a line that starts so, and gives the rest of it.
    pub fn hears(&self, start: &str) -> String {
        let deadline = Instant::now() + LIMIT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("no {start:?}; log:\n{}", self.log()));
            if let Some(rest) = line.strip_prefix(start) {
                return rest.trim().to_owned();
            }
        }
    }

    /// Everything printed until all processes that could print are gone.
    pub fn last_words(&self) -> Vec<String> {
        self.lines.iter().collect()
    }

    /// What goes to the guard's standard input.
    pub fn tell_guard(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// The conductor's exit code, which is the guard's.
    pub fn code(&mut self) -> i32 {
        self.conductor.wait().unwrap().code().unwrap()
    }

    pub fn out(&self, name: &str) -> PathBuf {
        self.temp.path().join("out").join(name)
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.out("guard.log")).unwrap_or_default()
    }

    /// Every process under the conductor, as seen from outside.
    pub fn family(&self) -> Vec<Stat> {
        let all = procfs::all().unwrap();
        let mut family: Vec<Stat> = Vec::new();
        let mut parents = vec![pid_of(&self.conductor)];
        while let Some(parent) = parents.pop() {
            for child in all.iter().filter(|stat| stat.parent == parent) {
                parents.push(child.pid);
                family.push(child.clone());
            }
        }
        family
    }

    /// Those of the family that the guard started, and the guard: not what a worker starts and
    /// ends all the time.
    pub fn leaders(&self) -> Vec<Stat> {
        let mut family = self.family();
        family.retain(|stat| stat.pid == stat.group);
        family
    }

    /// Who that is, as seen from outside; none if there is no such process now.
    pub fn find(&self, victim: Victim) -> Option<Identity> {
        let conductor = pid_of(&self.conductor);
        let family = self.family();
        let child_of = |parent: i32| Some(family.iter().find(|stat| stat.parent == parent)?.pid);
        let outer = || child_of(conductor);
        let guard = || match self.mode {
            "namespace" => child_of(outer()?),
            _ => outer(),
        };
        let pid = match victim {
            Victim::Conductor => Some(conductor),
            Victim::Outer => outer(),
            Victim::Guard => guard(),
            Victim::Director => {
                let guard = guard()?;
                let plays = |stat: &&Stat| stat.parent == guard && stat.name.starts_with("guard-");
                family.iter().find(plays).map(|stat| stat.pid)
            }
        };
        Identity::of(pid?).ok()
    }

    /// SIGKILL to one of them; false if it was not there.
    pub fn kill(&self, victim: Victim) -> bool {
        self.find(victim).is_some_and(|found| found.kill().unwrap())
    }

    /// Kills the conductor too and runs `lockdrill clean`.
    pub fn clean(&mut self) -> Output {
        let _ = self.conductor.kill();
        let _ = self.conductor.wait();
        clean(self.temp.path(), &[])
    }

    /// Names of arm folders that exist.
    pub fn folders(&self) -> Vec<String> {
        let entries = fs::read_dir(self.temp.path().join("state")).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        entries.map(|entry| name(entry.unwrap())).collect()
    }
}

impl Drop for Arm {
    fn drop(&mut self) {
        let _ = self.conductor.kill();
        let _ = self.conductor.wait();
    }
}

/// `lockdrill clean` on the arms below this folder.
pub fn clean(temp: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lockdrill"))
        .arg("clean")
        .args(args)
        .env(root::VARIABLE, temp.join("state"))
        .output()
        .unwrap()
}

/// Waits until a condition holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until none of these very processes exists.
pub fn until_gone(processes: &[Stat]) {
    for process in processes {
        until(&format!("{process:?} gone"), || {
            let now = Identity::of(process.pid);
            now.is_err()
                || now.is_ok_and(|now| {
                    now.start_ticks != process.start_ticks || now.fate().unwrap() == Fate::Gone
                })
        });
    }
}

/// Processes that have to do with a folder: by their environment or their working folder.
pub fn processes_about(folder: &Path) -> Vec<String> {
    let mark = format!("{}={}", root::VARIABLE, folder.join("state").display());
    let about = |stat: &Stat| {
        let cwd = fs::read_link(format!("/proc/{}/cwd", stat.pid));
        !stat.is_dead()
            && (procfs::started_with(stat.pid, &mark)
                || cwd.is_ok_and(|cwd| cwd.starts_with(folder)))
    };
    let all = procfs::all().unwrap();
    all.iter()
        .filter(|stat| about(stat))
        .map(|stat| format!("{stat:?}"))
        .collect()
}

fn pid_of(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap()
}

/// A port of our own: below those that the kernel hands out, and never the same twice.
fn free_port() -> u16 {
    static DRAWN: AtomicU16 = AtomicU16::new(0);
    loop {
        let drawn = DRAWN.fetch_add(1, Ordering::Relaxed);
        let start = u16::try_from(std::process::id() % 10_000).unwrap();
        let port = 20_000 + (start + drawn) % 10_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

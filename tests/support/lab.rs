//! Drives the `lockdrill` program from outside, in folders of its own, and counts what it leaves.
#![allow(dead_code, reason = "each test program uses a part of it")]

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Generous: these machines are small and noisy.
pub const LIMIT: Duration = Duration::from_secs(120);

/// A drill in which nothing is broken; it means something on every back end.
pub const CALM: &str = r#"summary = "does one come after the other?"
class   = "correctness"
[lock]
backend = "redis"
lease   = "2s"
[store]
kind    = "sqlite"
fence   = "atomic"
[worker.a]
script  = ["acquire", "write", "release"]
[worker.b]
start   = { after = "a.acquired" }
script  = ["enter 10s", "write", "release"]
"#;

pub struct Lab {
    pub folder: tempfile::TempDir,
}

impl Lab {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("state")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(folder.path().join("state"), mode).unwrap();
        Lab { folder }
    }

    /// With drills of its own in its folder, by their names.
    pub fn with_drills(drills: &[(&str, &str)]) -> Self {
        let lab = Lab::new();
        let experiments = lab.folder.path().join("experiments");
        fs::create_dir(&experiments).unwrap();
        for (name, text) in drills {
            fs::write(experiments.join(format!("{name}.toml")), text).unwrap();
        }
        lab
    }

    /// A script of this project, which takes the folder that it is called in for the project's, and
    /// plays the drills there with the program.
    pub fn script(&self, name: &str) -> Command {
        let scripts = self.folder.path().join("scripts");
        let (script, here) = (format!("scripts/{name}"), scripts.join(name));
        if !here.exists() {
            fs::create_dir_all(&scripts).unwrap();
            // No copy: a file that was just written may be busy when it is to be executed.
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
            std::os::unix::fs::symlink(script, &here).unwrap();
        }
        let mut command = Command::new(here);
        command
            .env("LOCKDRILL", env!("CARGO_BIN_EXE_lockdrill"))
            .env("LOCKDRILL_STATE_DIR", self.state())
            .env("TMPDIR", self.state());
        command
    }

    pub fn out(&self) -> PathBuf {
        self.folder.path().join("reports")
    }

    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lockdrill"));
        command
            .args(args)
            .env("LOCKDRILL_STATE_DIR", self.state())
            // Handed on to every process of an arm, unlike the rest of the environment.
            .env("TMPDIR", self.state())
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        command
    }

    /// `lockdrill run …` to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        let out = self.out().display().to_string();
        let mut all = vec!["run", "--out", &out];
        all.extend(args);
        self.command(&all).output().unwrap()
    }

    /// The same with `--json`: exit code and the object.
    pub fn run_json(&self, args: &[&str]) -> (Option<i32>, Value) {
        let mut all = vec!["--json"];
        all.extend(args);
        let output = self.run(&all);
        let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!(
                "{error}\nstdout: {}\nstderr: {}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            )
        });
        (output.status.code(), value)
    }

    /// Starts `lockdrill run …`; lines of its stderr arrive on the channel.
    pub fn start(&self, args: &[&str]) -> Started {
        let out = self.out().display().to_string();
        let mut all = vec!["run", "--out", &out];
        all.extend(args);
        let mut child = self
            .command(&all)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let stderr = child.stderr.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Started { child, lines }
    }

    /// Every process that was started for this lab: its environment names our state folder.
    pub fn processes(&self) -> Vec<String> {
        let needle = self.state().display().to_string().into_bytes();
        let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            name.parse::<i32>().ok()
        });
        pids.filter(|pid| {
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.windows(needle.len()).any(|window| window == needle)
        })
        .map(|pid| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            format!(
                "{pid} {}",
                String::from_utf8_lossy(&command).replace('\0', " ")
            )
        })
        .collect()
    }

    /// Arm folders that still exist.
    pub fn folders(&self) -> Vec<PathBuf> {
        fs::read_dir(self.state())
            .unwrap()
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect()
    }

    /// Waits until nothing of this lab is left; panics with what is.
    pub fn assert_nothing_left(&self) {
        until(
            "nothing to be left",
            || self.processes().is_empty() && self.folders().is_empty(),
            || format!("{:?} {:?}", self.processes(), self.folders()),
        );
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        let ours = self.folder.path().display().to_string();
        assert!(!mounts.contains(&ours), "a mount is left:\n{mounts}");
    }
}

pub struct Started {
    pub child: Child,
    pub lines: Receiver<String>,
}

impl Started {
    /// Waits for a line of stderr that contains this.
    pub fn await_line(&mut self, wanted: &str) -> String {
        let begun = Instant::now();
        let mut seen = Vec::new();
        loop {
            match self
                .lines
                .recv_timeout(LIMIT.saturating_sub(begun.elapsed()))
            {
                Ok(line) if line.contains(wanted) => return line,
                Ok(line) => seen.push(line),
                Err(error) => panic!("never: {wanted} ({error})\n{}", seen.join("\n")),
            }
        }
    }

    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for an event with a generous limit.
pub fn until(what: &str, mut done: impl FnMut() -> bool, shown: impl Fn() -> String) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < LIMIT, "never: {what}; {}", shown());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// All that a program printed.
pub fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// The arm of a drill in the `--json` object.
pub fn arm<'v>(value: &'v Value, drill: usize, arm: &str) -> &'v Value {
    let arms = value["drills"][drill]["arms"].as_array().unwrap();
    arms.iter()
        .find(|candidate| candidate["arm"] == arm)
        .unwrap_or_else(|| panic!("no arm {arm} in {value:#}"))
}

/// The outcome of a check of an arm.
pub fn outcome<'v>(arm: &'v Value, check: &str) -> &'v str {
    let checks = arm["checks"].as_array().unwrap();
    checks
        .iter()
        .find(|candidate| candidate["check"] == check)
        .and_then(|found| found["outcome"].as_str())
        .unwrap_or_else(|| panic!("no check {check} in {arm:#}"))
}

/// What holds in the pause drill, wherever the lock lives.
pub const PAUSE_HOLDS: [&str; 8] = [
    "evidence",
    "records_agree",
    "single_holder",
    "honest_belief",
    "fencing_rises",
    "no_stale_write",
    "owner_only",
    "recovers",
];

/// Each of these checks of an arm holds.
pub fn assert_each_holds(arm: &Value, checks: &[&str]) {
    for check in checks {
        assert_eq!(outcome(arm, check), "holds", "{check}: {arm:#}");
    }
}

/// The first drill in the `--json` object, the pause drill, was kept by fencing, left nothing behind
/// on the lock's server, and its controls went red.
pub fn assert_the_pause_was_kept_by_fencing(value: &Value) {
    assert_eq!(value["drills"][0]["protection"], "kept by fencing");
    let main = arm(value, 0, "main");
    assert_each_holds(main, &PAUSE_HOLDS);
    assert_each_holds(main, &["no_leftovers"]);
    for (control, check) in [
        ("unfenced", "no_stale_write"),
        ("racy-fence", "no_stale_write"),
        ("blind_release", "owner_only"),
    ] {
        let control = arm(value, 0, control);
        assert_eq!(outcome(control, check), "violated", "{control:#}");
    }
}

/// The pause drill on a lock whose server is not where this variable says ends as one that cannot
/// be run here, and says what brings the server.
pub fn assert_what_brings_the_server_is_said(lock: &str, variable: &str) {
    let told = Command::new(env!("CARGO_BIN_EXE_lockdrill"))
        .args(["run", "pause", "--lock", lock, "--out"])
        .arg(tempfile::tempdir().unwrap().path())
        .env(variable, format!("/nonexistent/{lock}"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&told.stderr);
    assert_eq!(told.status.code(), Some(4), "{said}");
    assert!(said.contains("make setup-all"), "{said}");
}

/// The lines of a timeline as JSON.
pub fn timeline(arm_dir: &Path) -> Vec<Value> {
    let text = fs::read_to_string(arm_dir.join("timeline.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

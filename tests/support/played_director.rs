//! A test that plays the director: starts a real worker process with both pipes, reads its
//! events, gives it its bytes.
#![allow(dead_code, reason = "each test file uses what it needs")]

use lockdrill::timeline::event::Event;
use lockdrill::worker::WorkerLine;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Generous: a worker that is this late hangs.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A worker process whose director is the test.
pub struct Played {
    pub child: Child,
    pub stderr: PathBuf,
    out: Option<ChildStdout>,
    go: Option<ChildStdin>,
    unread: Vec<u8>,
    /// Every event so far.
    pub seen: Vec<WorkerLine>,
}

impl Played {
    pub fn start(path: &Path, spec: &str) -> Played {
        let file = path.with_extension("json");
        let stderr = path.with_extension("log");
        std::fs::write(&file, spec).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_lockdrill"))
            .args(["worker", "--spec"])
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&stderr).unwrap())
            .process_group(0)
            .spawn()
            .unwrap();
        Played {
            out: child.stdout.take(),
            go: child.stdin.take(),
            child,
            stderr,
            unread: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// Process group, which is the process id.
    pub fn group(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// The next event; none if the worker closes its pipe or says nothing for so long.
    pub fn next_within(&mut self, limit: Duration) -> Option<WorkerLine> {
        let until = Instant::now() + limit;
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                assert!(end < 4096, "a line that a pipe may tear");
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                let line: WorkerLine = serde_json::from_slice(&line).unwrap();
                self.seen.push(line.clone());
                return Some(line);
            }
            let out = self.out.as_mut()?;
            let left = until.saturating_duration_since(Instant::now());
            let wait = PollTimeout::try_from(left).unwrap();
            let mut ends = [PollFd::new(out.as_fd(), PollFlags::POLLIN)];
            match poll(&mut ends, wait) {
                Ok(0) => return None,
                // A signal for this program's other tests.
                Err(Errno::EINTR) => continue,
                polled => polled.unwrap(),
            };
            let mut bytes = [0; 4096];
            match out.read(&mut bytes).unwrap() {
                0 => return None,
                read => self.unread.extend_from_slice(&bytes[..read]),
            }
        }
    }

    /// Reads events up to the first that satisfies this.
    pub fn until(&mut self, what: &str, found: impl Fn(&Event) -> bool) -> WorkerLine {
        loop {
            match self.next_within(PATIENCE) {
                Some(line) if found(&line.event) => return line,
                Some(_) => {}
                None => panic!(
                    "no {what}; saw {:#?}\n{}",
                    self.seen,
                    std::fs::read_to_string(&self.stderr).unwrap()
                ),
            }
        }
    }

    /// Reads events until the worker waits at this point.
    pub fn until_waiting(&mut self, name: &str) {
        self.until(
            name,
            |event| matches!(event, Event::Point { point, waits: true } if point == name),
        );
    }

    /// Writes the byte that lets it go on.
    pub fn go(&mut self) {
        self.go.as_mut().unwrap().write_all(b"g").unwrap();
    }

    /// Closes the lab's end of the go pipe.
    pub fn close_go(&mut self) {
        let theirs = self.open_end(0);
        self.go = None;
        until_closed(&theirs);
    }

    /// Closes the lab's end of the event pipe.
    pub fn close_events(&mut self) {
        let theirs = self.open_end(1);
        self.out = None;
        until_closed(&theirs);
    }

    /// A second handle on the worker's end of a pipe.
    fn open_end(&self, number: u8) -> File {
        let path = format!("/proc/{}/fd/{number}", self.child.id());
        let mut how = File::options();
        how.read(number == 0).write(number == 1);
        how.open(path).unwrap()
    }

    /// Reads the rest and waits for the end.
    pub fn finish(&mut self) -> ExitStatus {
        while self.next_within(PATIENCE).is_some() {}
        self.wait()
    }

    /// Waits for the end.
    pub fn wait(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status,
                None if Instant::now() > until => panic!("the worker does not end"),
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

impl Drop for Played {
    fn drop(&mut self) {
        // The worker is this test's own child and not yet reaped, so the id is still its own.
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Waits until nobody holds the other end: a child that another test is starting inherits every
/// end of this process for the moment between fork and exec.
fn until_closed(worker_end: &File) {
    let mut ends = [PollFd::new(worker_end.as_fd(), PollFlags::empty())];
    let wait = PollTimeout::try_from(PATIENCE).unwrap();
    assert_eq!(poll(&mut ends, wait).unwrap(), 1, "still open");
}

/// What a worker said, short enough to compare: one string an event, without times and secrets.
pub fn transcript(seen: &[WorkerLine]) -> Vec<String> {
    seen.iter().map(|line| told(&line.event)).collect()
}

fn told(event: &Event) -> String {
    match event {
        Event::Point { point, waits: true } => format!("waits at {point}"),
        Event::Point { point, .. } => format!("at {point}"),
        Event::Resumed { point } => format!("resumed {point}"),
        Event::Invoke { op, step, call } => {
            let step = step.as_deref().unwrap_or("-");
            let call = serde_json::to_value(call).unwrap();
            let name = match &call {
                serde_json::Value::Object(fields) => fields.keys().next().unwrap().clone(),
                other => other.as_str().unwrap().to_owned(),
            };
            format!("{op} {step}: {name}")
        }
        Event::Return {
            op,
            outcome,
            answer,
        } => {
            let outcome = serde_json::to_value(outcome).unwrap();
            let answer = serde_json::to_string(answer).unwrap();
            format!("{op} {}: {answer}", outcome.as_str().unwrap())
        }
        Event::Lost { grant, reason, .. } => format!("lost {grant}: {reason}"),
        Event::Note { text } => format!("note: {text}"),
        other => panic!("a worker never says {other:?}"),
    }
}

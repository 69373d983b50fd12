//! Follows the append-only file of a Redis server: the same commands as in its replication stream,
//! without being one of its replicas, so that it can be used where replicas are counted.
//!
//! The server writes the file before it answers: whatever was answered stands there, also after a
//! SIGKILL. A server that copies another anew begins a new set of files: what it had is over, and
//! what it holds from then on is told as [`Change::Copied`].

use super::effects::Effects;
use super::stream::Decoder;
use crate::clock::monotonic_ns;
use crate::env::seen::{Observed, Seen};
use crate::ids::{FencingToken, OwnerDigest};
use crate::timeline::event::{Change, Event};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// Between two looks at the file.
const STEP: Duration = Duration::from_millis(3);

/// Where a server that lives in a folder keeps its files.
const FOLDER: &str = "appendonlydir";
const MANIFEST: &str = "appendonly.aof.manifest";

/// The way to ask a follower to read everything and say so: a name, which comes back as
/// [`Observed::Mark`]. Dropping it ends the follower.
pub type Marks = Sender<String>;

/// Follows the files of the server that lives in `folder`, from a thread of its own; every message
/// goes to `out`.
///
/// # Errors
/// When no thread can be started.
pub fn follow(
    folder: &Path,
    (server, prefix): (&str, &str),
    out: UnboundedSender<Observed>,
) -> io::Result<Marks> {
    let (marks, asked) = channel();
    let mut follower = Follower {
        folder: folder.join(FOLDER),
        name: (server.to_owned(), prefix.to_owned()),
        effects: Effects::new(server, prefix),
        decoder: Decoder::of_commands(),
        keys: BTreeSet::new(),
        at: Files::default(),
        file: None,
        out,
    };
    let thread = std::thread::Builder::new().name(format!("follow-{server}"));
    thread.spawn(move || {
        if let Err(error) = follower.run(&asked) {
            // Nobody listens only when the arm has ended.
            let gap = Observed::Gap(monotonic_ns(), error.to_string());
            let _ = follower.out.send(gap);
        }
    })?;
    Ok(marks)
}

/// The files that hold what a server has now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Files {
    base: String,
    newest: String,
}

struct Follower {
    folder: PathBuf,
    name: (String, String),
    effects: Effects,
    decoder: Decoder,
    /// Lock keys seen so far.
    keys: BTreeSet<String>,
    at: Files,
    file: Option<File>,
    out: UnboundedSender<Observed>,
}

impl Follower {
    fn run(&mut self, asked: &Receiver<String>) -> io::Result<()> {
        self.at = manifest(&self.folder)?;
        self.open()?;
        self.read_all()?;
        let _ = self.out.send(Observed::Synced(monotonic_ns()));
        loop {
            let mark = asked.recv_timeout(STEP);
            self.read_all()?;
            match mark {
                Ok(name) => drop(self.out.send(Observed::Mark(name))),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn open(&mut self) -> io::Result<()> {
        self.decoder = Decoder::of_commands();
        self.file = Some(File::open(self.folder.join(&self.at.newest))?);
        Ok(())
    }

    /// Reads to the end of what the server has written so far, over into newer files.
    fn read_all(&mut self) -> io::Result<()> {
        loop {
            // Asked first: when the newest file is another one, nothing more comes to this one.
            let now = manifest(&self.folder)?;
            self.read_file()?;
            if now.newest == self.at.newest {
                return Ok(());
            }
            let copied = now.base != self.at.base;
            self.at = now;
            if copied {
                self.copied()?;
            }
            self.open()?;
        }
    }

    fn read_file(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let mut buffer = vec![0_u8; 64 * 1024];
        loop {
            let count = file.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            let now = monotonic_ns();
            let commands = self.decoder.feed(&buffer[..count]);
            for words in commands.map_err(io::Error::other)? {
                for seen in self.effects.read(&words) {
                    let told = match seen {
                        Seen::Effect(event) => {
                            self.keys.extend(key_of(&event));
                            Observed::Effect(now, event)
                        }
                        Seen::Lost(why) => Observed::Gap(now, why),
                        Seen::Mark(_) => continue,
                    };
                    let _ = self.out.send(told);
                }
            }
        }
    }

    /// Tells what the server holds of every key since it copied another.
    fn copied(&mut self) -> io::Result<()> {
        let (server, prefix) = &self.name;
        self.effects = Effects::new(server, prefix);
        let bytes = fs::read(self.folder.join(&self.at.base))?;
        let commands = Decoder::of_commands().feed(&bytes);
        let mut held: BTreeMap<String, Held> = BTreeMap::new();
        for words in commands.map_err(io::Error::other)? {
            for seen in self.effects.read(&words) {
                match seen {
                    Seen::Effect(event) => note(&mut held, event),
                    Seen::Lost(why) => drop(self.out.send(Observed::Gap(monotonic_ns(), why))),
                    Seen::Mark(_) => {}
                }
            }
        }
        self.keys.extend(held.keys().cloned());
        let now = monotonic_ns();
        for key in &self.keys {
            let (owner, fencing, until_ms) = held.remove(key).unwrap_or_default();
            let event = Event::Effect {
                server: server.clone(),
                pos: 0,
                key: key.clone(),
                change: Change::Copied {
                    owner,
                    fencing,
                    until_ms,
                },
            };
            let _ = self.out.send(Observed::Effect(now, event));
        }
        Ok(())
    }
}

type Held = (Option<OwnerDigest>, Option<FencingToken>, Option<u64>);

fn note(held: &mut BTreeMap<String, Held>, event: Event) {
    let Event::Effect { key, change, .. } = event else {
        return;
    };
    match change {
        Change::Set {
            owner,
            fencing,
            until_ms,
        } => {
            held.insert(key, (Some(owner), fencing, until_ms));
        }
        Change::Extended { until_ms } => {
            if let Some(known) = held.get_mut(&key) {
                known.2 = until_ms;
            }
        }
        _other => {}
    }
}

/// The lock key that an effect is about; a counter is none, and everything is no key.
fn key_of(event: &Event) -> Option<String> {
    match event {
        Event::Effect {
            key,
            change: Change::Set { .. },
            ..
        } => Some(key.clone()),
        _other => None,
    }
}

/// Which files hold what the server has: `file <name> seq <n> type <b|i|h>`, one a line.
fn manifest(folder: &Path) -> io::Result<Files> {
    let text = fs::read_to_string(folder.join(MANIFEST))?;
    let mut files = Files::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["file", name, .., "type", "b"] => files.base = (*name).to_owned(),
            ["file", name, .., "type", "i"] => files.newest = (*name).to_owned(),
            _other => {}
        }
    }
    if files.newest.is_empty() {
        return Err(io::Error::other(format!("{MANIFEST} names no file")));
    }
    Ok(files)
}

#[cfg(test)]
#[path = "appended/tests.rs"]
mod tests;

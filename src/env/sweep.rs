//! Finding and undoing what a dead run left, and saying what an arm left at its end.
//!
//! Only what an arm's ledger names is ever signalled: a process of the recorded identity, one
//! started with the arm's own mark in its environment, or one in a recorded process group of a
//! recorded session. An arm whose owner lives is not touched.
//!
//! Workers die first, and by SIGKILL while they are stopped: a stopped worker that were
//! continued could still write.

use crate::env::isolation::Mode;
use crate::env::ledger::{self, Entry, Role, told};
use crate::env::process::{Fate, Identity, own_pid};
use crate::env::procfs::{self, Stat};
use crate::env::root;
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A guard whose owner died gets this long to finish its own, more orderly, work.
const GUARD_GRACE: Duration = Duration::from_secs(2);
/// Between two looks.
const STEP: Duration = Duration::from_millis(5);
/// A killed process gets this long to vanish; only one stuck inside the kernel needs it.
const DEATH_LIMIT: Duration = Duration::from_secs(5);

/// What was found of one arm, and done about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The arm's name.
    pub arm: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What was done.
    pub done: Done,
    /// Processes that were killed, as `name (pid)`.
    pub killed: Vec<String>,
    /// Faults that were in force when it died, as `name (kind)`.
    pub faults: Vec<String>,
}

/// What was done about an arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Done {
    /// Its owner lives: nothing.
    Live,
    /// Its owner is in another pid namespace: nothing, for nothing can be known.
    Elsewhere,
    /// It was dead and is gone now.
    Removed,
    /// It is dead and could not be removed in full.
    Failed(String),
}

/// Undoes what every dead arm of this user left. Safe to call at any time, from several
/// processes at once, and again.
///
/// # Errors
/// When a root of arm folders is unsafe or cannot be listed.
pub fn sweep_dead() -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    root::lock_each(|root| {
        for entry in fs::read_dir(&root.path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                found.push(sweep(&entry.path()));
            }
        }
        Ok(())
    })?;
    found.sort_by(|a, b| (&a.arm, &a.folder).cmp(&(&b.arm, &b.folder)));
    Ok(found)
}

fn sweep(folder: &Path) -> Found {
    let mut found = Found {
        arm: folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        folder: folder.to_owned(),
        done: Done::Removed,
        killed: Vec::new(),
        faults: Vec::new(),
    };
    let entries = match ledger::read(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            found.done = Done::Failed(error.to_string());
            return found;
        }
    };
    found.done = match owner_fate(&entries) {
        Ok(Fate::Alive) => Done::Live,
        Ok(Fate::Elsewhere) => Done::Elsewhere,
        Ok(Fate::Gone) => {
            found.faults = ledger::faults_in_force(&entries);
            match undo(folder, &entries, &mut found.killed) {
                Ok(()) => Done::Removed,
                Err(error) => Done::Failed(error.to_string()),
            }
        }
        Err(error) => Done::Failed(error.to_string()),
    };
    found
}

/// No owner on record means that its maker died before it could start anything.
fn owner_fate(entries: &[Entry]) -> io::Result<Fate> {
    for entry in entries {
        if let Entry::Owner { identity } = entry {
            return identity.fate();
        }
    }
    Ok(Fate::Gone)
}

fn undo(folder: &Path, entries: &[Entry], killed: &mut Vec<String>) -> io::Result<()> {
    let us = Identity::me()?;
    let grace = Instant::now() + GUARD_GRACE;
    while guard_lives(entries) && Instant::now() < grace {
        std::thread::sleep(STEP);
    }
    let limit = Instant::now() + DEATH_LIMIT;
    let mut empty_before = false;
    loop {
        let left = remaining(&us, &ledger::mark(folder), entries)?;
        // Twice, for a process that was just becoming another program has no mark meanwhile.
        if left.is_empty() && empty_before {
            return root::remove_arm(folder);
        }
        empty_before = left.is_empty();
        if Instant::now() > limit {
            let names: Vec<String> = left.iter().map(shown).collect();
            let names = names.join(", ");
            return Err(io::Error::other(format!(
                "still there after SIGKILL: {names}"
            )));
        }
        for process in &left {
            let now = Identity::of(process.pid);
            let same = |now: &Identity| now.start_ticks == process.start_ticks;
            if let Some(now) = now.ok().filter(same)
                && now.kill().map_err(|error| told(&error, shown(process)))?
                && !killed.contains(&shown(process))
            {
                killed.push(shown(process));
            }
        }
        std::thread::sleep(STEP);
    }
}

fn guard_lives(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| match entry {
        Entry::Process { role, identity, .. } => {
            *role == Role::Guard && identity.fate().is_ok_and(|fate| fate == Fate::Alive)
        }
        Entry::Owner { .. } | Entry::Fault { .. } | Entry::Healed { .. } => false,
    })
}

/// Live processes of the arm, in the order in which they must be killed.
fn remaining(us: &Identity, mark: &str, entries: &[Entry]) -> io::Result<Vec<Stat>> {
    let mut left = Vec::new();
    for process in procfs::all()? {
        if process.is_dead() || process.pid == us.pid {
            continue;
        }
        let role = entries
            .iter()
            .find_map(|entry| recorded(us, &process, entry));
        let marked = || procfs::started_with(process.pid, mark).then_some(Role::Worker);
        if let Some(role) = role.or_else(marked) {
            left.push((role, process));
        }
    }
    left.sort_by_key(|(role, process)| (*role, process.pid));
    Ok(left.into_iter().map(|(_, process)| process).collect())
}

/// The role of a process if this line speaks of it, or of the leader of its group.
///
/// Group and session numbers stay taken while any member lives, so both together, in a process
/// not older than the leader, name the arm's own group and not a later one of the same number.
fn recorded(us: &Identity, process: &Stat, entry: &Entry) -> Option<Role> {
    let Entry::Process {
        role,
        identity,
        group,
        session,
        ..
    } = entry
    else {
        return None;
    };
    let here = identity.boot_id == us.boot_id && identity.pid_ns == us.pid_ns;
    let itself = process.pid == identity.pid && process.start_ticks == identity.start_ticks;
    let of_its_group = identity.pid == *group
        && process.group == *group
        && process.session == *session
        && process.pid != *group
        && process.start_ticks >= identity.start_ticks;
    (here && (itself || of_its_group)).then_some(*role)
}

fn shown(process: &Stat) -> String {
    format!("{} ({})", process.name, process.pid)
}

/// What an arm has left when its director believes that it has stopped everything: processes
/// under the guard other than this one, and listeners. Empty is what must be. In namespace mode
/// every listener counts, in guard mode only those on the arm's own `ports`.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn left(mode: Mode, ports: &[u16]) -> io::Result<Vec<String>> {
    let guard = nix::unistd::getppid().as_raw();
    let processes = procfs::all()?;
    let mut family = vec![guard];
    let mut left = Vec::new();
    while let Some(parent) = family.pop() {
        for process in processes.iter().filter(|process| process.parent == parent) {
            if process.pid != own_pid() {
                family.push(process.pid);
                if !process.is_dead() {
                    left.push(format!("process {}", shown(process)));
                }
            }
        }
    }
    for port in procfs::listening_ports()? {
        if mode == Mode::Namespace || ports.contains(&port) {
            left.push(format!("listener on port {port}"));
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_known_by_group_session_and_age_together() {
        let us = Identity::me().unwrap();
        let entry = Entry::Process {
            name: "a".to_owned(),
            role: Role::Worker,
            identity: Identity {
                pid: 50,
                start_ticks: 1000,
                ..us.clone()
            },
            group: 50,
            session: 40,
        };
        let process = |pid, group, session, start_ticks| Stat {
            pid,
            name: "x".to_owned(),
            state: 'S',
            parent: 1,
            group,
            session,
            start_ticks,
        };
        let role = |process: Stat| recorded(&us, &process, &entry);
        assert_eq!(
            role(process(50, 50, 40, 1000)),
            Some(Role::Worker),
            "itself"
        );
        assert_eq!(
            role(process(61, 50, 40, 1001)),
            Some(Role::Worker),
            "its child"
        );
        assert_eq!(role(process(50, 50, 40, 1001)), None, "the number, reused");
        assert_eq!(role(process(61, 50, 41, 1001)), None, "another session");
        assert_eq!(
            role(process(61, 50, 40, 999)),
            None,
            "older than the leader"
        );
    }
}

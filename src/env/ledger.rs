//! What was started and broken, written down before it happens, so that a stranger can undo it.
//!
//! Every arm has one folder `<root>/<arm>/`: `ledger.jsonl`, and `work/` for whatever the arm
//! writes (server folders, sockets, databases). Nothing of an arm lies outside its folder except
//! the run directory, so removing the folder needs no list of files.
//!
//! Each line is one write, so a reader meets at worst a torn last line, which it ignores: what
//! was not fully announced has not been started.

use crate::env::process::Identity;
use crate::env::root;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Environment variable that every process of an arm starts with; its value is the arm's name.
pub const MARK: &str = "LOCKDRILL_ARM";
const FILE: &str = "ledger.jsonl";

/// One line of a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Entry {
    /// First line: the process whose death ends the arm's right to exist.
    Owner {
        /// The conductor.
        identity: Identity,
    },
    /// A process of the arm; written before it runs its program.
    Process {
        /// Its name in the plan, or its role.
        name: String,
        /// What it is.
        role: Role,
        /// Who it is, as seen from where the line was written.
        identity: Identity,
        /// Its process group. Where it is the leader, the whole group belongs to the arm.
        group: i32,
        /// Its session.
        session: i32,
    },
    /// A fault is about to be injected.
    Fault {
        /// Its name in the plan.
        name: String,
        /// Kind in the registry.
        kind: String,
        /// Whom it hits, if it hits a process.
        pid: Option<i32>,
    },
    /// A fault was healed.
    Healed {
        /// Its name in the plan.
        name: String,
    },
}

/// What a process of an arm is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Contends for the lock. The first to be killed: it could write.
    Worker,
    /// Directs the arm.
    Director,
    /// A lock server, a store or a proxy.
    Server,
    /// Process 1 of the arm's pid namespace; with it everything in there dies.
    Init,
    /// The parent of all of them.
    Guard,
}

/// The open ledger of one arm.
#[derive(Debug)]
pub struct Ledger {
    folder: PathBuf,
    file: File,
}

impl Ledger {
    /// Makes the folder of a new arm ([`new_folder`]), owned by this process.
    ///
    /// # Errors
    /// When the root is unsafe or the folder cannot be made.
    pub fn create(folder: &Path) -> io::Result<Self> {
        // Held until the owner is on record: a folder without an owner is a dead one.
        let _root = root::lock()?;
        root::private_folder(folder)?;
        root::private_folder(&work(folder))?;
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(folder.join(FILE))?;
        let ledger = Ledger::open(folder)?;
        ledger.note(&Entry::Owner {
            identity: Identity::me()?,
        })?;
        Ok(ledger)
    }

    /// Opens the ledger of an arm that exists, to add to it.
    ///
    /// # Errors
    /// When the folder is not an arm's folder.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join(FILE);
        let file = OpenOptions::new()
            .append(true)
            .open(&path)
            .map_err(|error| told(&error, format_args!("no ledger at {}", path.display())))?;
        let folder = folder.to_owned();
        Ok(Ledger { folder, file })
    }

    /// Adds one line; it is in the kernel's hands when this returns, which is all that a death of
    /// this process can take away. (A crash of the machine ends the arm by itself.)
    ///
    /// # Errors
    /// When it cannot be written: then what was announced must not be started.
    pub fn note(&self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        (&self.file).write_all(&line)
    }

    /// The arm's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// `LOCKDRILL_ARM=<arm>`, as every process of the arm has it in its environment.
    pub fn mark(&self) -> String {
        mark(&self.folder)
    }
}

/// A folder for a new arm, which is not made yet. The arm's name is `label` and random digits.
///
/// # Errors
/// When there is no place for it.
pub fn new_folder(label: &str) -> io::Result<PathBuf> {
    Ok(root::path()?.join(format!("{}-{}", tame(label), random_digits()?)))
}

/// Where everything that an arm writes belongs.
pub fn work(folder: &Path) -> PathBuf {
    folder.join("work")
}

/// `LOCKDRILL_ARM=<arm>` for the arm of this folder.
pub fn mark(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    format!("{MARK}={}", name.to_string_lossy())
}

/// The lines of a ledger, without a torn or foreign one.
///
/// # Errors
/// When there is no ledger or it cannot be read.
pub fn read(folder: &Path) -> io::Result<Vec<Entry>> {
    let text = fs::read(folder.join(FILE))?;
    Ok(text
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}

/// Faults that were announced and not healed, as `name (kind)`.
pub fn faults_in_force(entries: &[Entry]) -> Vec<String> {
    let healed = |fault: &str| {
        entries
            .iter()
            .any(|entry| matches!(entry, Entry::Healed { name } if name == fault))
    };
    entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Fault { name, kind, .. } if !healed(name) => Some(format!("{name} ({kind})")),
            Entry::Fault { .. }
            | Entry::Owner { .. }
            | Entry::Process { .. }
            | Entry::Healed { .. } => None,
        })
        .collect()
}

/// Letters, digits and dashes of a label, at most 40: it becomes part of socket paths.
fn tame(label: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    label.chars().take(40).map(keep).collect()
}

fn random_digits() -> io::Result<String> {
    let mut bytes = [0_u8; 4];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(crate::ids::hex(&bytes))
}

/// The same error with what we wanted in front of it.
pub(super) fn told(error: &io::Error, what: impl std::fmt::Display) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::DirBuilderExt;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("pause-main-01");
        fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
        fs::write(folder.join(FILE), "").unwrap();
        (temp, folder)
    }

    #[test]
    fn what_is_noted_is_read_back_and_a_torn_line_is_not() {
        let (_temp, folder) = folder();
        let entry = Entry::Fault {
            name: "nap".to_owned(),
            kind: "pause".to_owned(),
            pid: Some(7),
        };
        let ledger = Ledger::open(&folder).unwrap();
        ledger.note(&entry).unwrap();
        (&ledger.file)
            .write_all(br#"{"fault":{"name":"cu"#)
            .unwrap();
        assert_eq!(read(&folder).unwrap(), [entry]);
        assert_eq!(ledger.mark(), "LOCKDRILL_ARM=pause-main-01");
    }

    #[test]
    fn a_folder_without_a_ledger_is_no_arm() {
        let temp = tempfile::tempdir().unwrap();
        let error = Ledger::open(temp.path()).unwrap_err();
        assert!(error.to_string().contains("no ledger at"), "{error}");
    }

    #[test]
    fn a_label_cannot_leave_the_root() {
        assert_eq!(tame("../../etc/x y"), "------etc-x-y");
        assert_eq!(tame(&"a".repeat(99)).len(), 40);
    }

    fn fault(name: &str) -> Entry {
        Entry::Fault {
            name: name.to_owned(),
            kind: "pause".to_owned(),
            pid: Some(7),
        }
    }

    #[test]
    fn a_fault_is_in_force_until_it_is_healed() {
        let healed = Entry::Healed {
            name: "nap".to_owned(),
        };
        assert_eq!(
            faults_in_force(&[fault("nap"), fault("cut"), healed]),
            ["cut (pause)"]
        );
    }
}

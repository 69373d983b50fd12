//! What was started and broken, written down before it happens, so that a stranger can undo it.
//!
//! Every arm has one folder `<root>/<arm>/`: `ledger.jsonl`, and `work/` for whatever the arm
//! writes (server folders, sockets, databases). Nothing of an arm lies outside its folder except
//! the run directory, so removing the folder needs no list of files.
//!
//! Each line is one write, so a reader meets at worst a torn last line, which it ignores: what
//! was not fully announced has not been started.

use crate::env::process::Identity;
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Environment variable that every process of an arm starts with; its value is the arm's name.
pub const MARK: &str = "LOCKDRILL_ARM";
/// Environment variable that replaces the root of all arm folders.
pub const ROOT: &str = "LOCKDRILL_STATE_DIR";
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
    /// Makes the folder of a new arm, owned by this process. The arm's name is `label` and
    /// random digits.
    ///
    /// # Errors
    /// When the root is unsafe or the folder cannot be made.
    pub fn create(label: &str) -> io::Result<Self> {
        let root = root()?;
        // Held until the owner is on record: a folder without an owner is a dead one.
        let _lock = lock(&root)?;
        let folder = root.join(format!("{}-{}", tame(label), random_digits()?));
        private_folder(&folder)?;
        private_folder(&folder.join("work"))?;
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(folder.join(FILE))?;
        let ledger = Ledger::open(&folder)?;
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

    /// Where everything that the arm writes belongs.
    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// `LOCKDRILL_ARM=<arm>`, as every process of the arm has it in its environment.
    pub fn mark(&self) -> String {
        mark(&self.folder)
    }
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

/// The root of all arm folders, made if missing: `$LOCKDRILL_STATE_DIR`, else
/// `$XDG_RUNTIME_DIR/lockdrill` where that is ours, else `/tmp/lockdrill-<uid>`.
///
/// # Errors
/// When it is a symlink, another user's, or open to others.
pub fn root() -> io::Result<PathBuf> {
    let uid = geteuid().as_raw();
    let ours = |path: &PathBuf| fs::metadata(path).is_ok_and(|meta| meta.uid() == uid);
    let root = match std::env::var_os(ROOT).filter(|path| !path.is_empty()) {
        Some(path) => std::path::absolute(path)?,
        None => match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) {
            Some(path) if path.is_absolute() && ours(&path) => path.join("lockdrill"),
            Some(_) | None => PathBuf::from(format!("/tmp/lockdrill-{uid}")),
        },
    };
    match private_folder(&root) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(told(&error, format_args!("cannot make {}", root.display())));
        }
        Ok(()) | Err(_) => {}
    }
    let meta = fs::symlink_metadata(&root)?;
    if meta.is_dir() && meta.uid() == uid && meta.mode() & 0o077 == 0 {
        return Ok(root);
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "{} must be a folder of user {uid} that nobody else can enter (chmod 700), \
             or set {ROOT} to such a folder",
            root.display()
        ),
    ))
}

/// Excludes every other maker and sweeper of arm folders until it is dropped or we die.
pub(super) fn lock(root: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(root.join(".lock"))?;
    file.lock()?;
    Ok(file)
}

fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
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

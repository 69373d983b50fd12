//! Which runs stay: the newest of each drill, and every run that is not green.
//!
//! A run that is being written is never touched. Whoever writes into a folder of runs holds a
//! shared lock on it for as long; removing takes the lock alone, and where it cannot be had
//! nothing is removed. Only what its own `results.json` calls pass or limit is ever removed.

use super::results;
use crate::verdict::Verdict;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The mark that somebody writes runs into a folder; ends with its owner, however that ends.
#[derive(Debug)]
pub struct InUse(#[allow(dead_code, reason = "holds the lock")] Flock<File>);

/// Marks a folder of runs as being written to. Any number of labs may do so at once.
///
/// # Errors
/// When the folder cannot be opened or locked.
pub fn in_use(root: &Path) -> io::Result<InUse> {
    let folder = File::open(root)?;
    Flock::lock(folder, FlockArg::LockShared)
        .map(InUse)
        .map_err(|(_, errno)| errno.into())
}

/// What became of the runs.
#[derive(Debug, PartialEq, Eq)]
pub enum Retained {
    /// These were removed.
    Removed(Vec<PathBuf>),
    /// Another lab writes runs here: nothing was removed.
    Busy,
}

/// Removes the green runs of each drill but its `keep` newest.
///
/// # Errors
/// When a folder cannot be listed or a run cannot be removed.
pub fn retain(root: &Path, keep: usize) -> io::Result<Retained> {
    let alone = match Flock::lock(File::open(root)?, FlockArg::LockExclusiveNonblock) {
        Ok(alone) => alone,
        Err((_, Errno::EWOULDBLOCK)) => return Ok(Retained::Busy),
        Err((_, errno)) => return Err(errno.into()),
    };
    let mut removed = Vec::new();
    for drill in folders(root)? {
        // Names of runs sort by time. What is no run of this drill does not count.
        let name = drill.file_name().unwrap_or_default().to_string_lossy();
        let told = |dir: PathBuf| {
            let result = results::read(&dir).ok()?;
            (result.drill == name).then_some((dir, result.verdict))
        };
        let mut runs: Vec<_> = folders(&drill)?.into_iter().filter_map(told).collect();
        runs.sort_by(|a, b| b.0.cmp(&a.0));
        for (run, verdict) in runs.into_iter().skip(keep) {
            if matches!(verdict, Verdict::Pass | Verdict::Limit) {
                fs::remove_dir_all(&run)?;
                removed.push(run);
            }
        }
    }
    drop(alone);
    Ok(Retained::Removed(removed))
}

/// Folders in a folder; links are not followed.
pub(super) fn folders(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort_unstable();
    Ok(folders)
}

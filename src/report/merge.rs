//! The runs of several shards brought together in one folder: each run is copied, none is
//! changed, and merging the same shard twice changes nothing.
//!
//! Two machines may have given two runs one name (both began in the same second): the second then
//! gets the next free name. Whether a run is there already is told by its record, not by its name.

use super::error::ReportError;
use super::results;
use super::retain::folders;
use crate::run::run_dir;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What was merged.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// New run directories.
    pub runs: Vec<PathBuf>,
    /// Runs that were there already.
    pub known: usize,
    /// Folders that hold no result: told, not copied.
    pub unjudged: Vec<PathBuf>,
}

/// Copies the judged runs of a shard's folder into another folder of runs.
///
/// # Errors
/// When a folder cannot be read or written.
pub fn merge(shard: &Path, into: &Path) -> Result<Merged, ReportError> {
    let mut merged = Merged::default();
    for drill in folders(shard).map_err(ReportError::read(shard))? {
        let target = into.join(drill.file_name().unwrap_or_default());
        let mut known = HashSet::new();
        for run in folders(&target).unwrap_or_default() {
            known.extend(identity(&run));
        }
        for run in folders(&drill).map_err(ReportError::read(&drill))? {
            let Ok(mut result) = results::read(&run) else {
                merged.unjudged.push(run);
                continue;
            };
            if identity(&run).is_some_and(|id| !known.insert(id)) {
                merged.known += 1;
                continue;
            }
            fs::create_dir_all(&target).map_err(ReportError::write(&target))?;
            let name = run.file_name().unwrap_or_default().to_string_lossy();
            let copied = copy(&run, &target, &name).map_err(ReportError::write(&target))?;
            result.dir = copied.display().to_string();
            results::keep(&copied, &result)?;
            merged.runs.push(copied);
        }
    }
    Ok(merged)
}

/// What tells a run from every other, wherever it lies: its plan and its record.
pub(super) fn identity(run: &Path) -> Option<String> {
    let plan = fs::read(run.join(run_dir::PLAN)).ok()?;
    let record = fs::read(run.join(run_dir::TIMELINE)).ok()?;
    let digest = Sha256::new()
        .chain_update(plan)
        .chain_update(record)
        .finalize();
    Some(
        digest
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect(),
    )
}

/// Copies a run to a name that is free. It gets that name when it is whole, so that a merge that
/// was cut short leaves no half run among the runs.
fn copy(run: &Path, target: &Path, name: &str) -> io::Result<PathBuf> {
    let half = target.join(format!(".{name}.{}.half", std::process::id()));
    let _ = fs::remove_dir_all(&half);
    copy_all(run, &half)?;
    let stem = name.rsplit_once('-').map_or(name, |(stem, _)| stem);
    let others = (0..10_000).map(|number| format!("{stem}-{number:04}"));
    for name in std::iter::once(name.to_owned()).chain(others) {
        let to = target.join(name);
        if !to.exists() {
            fs::rename(&half, &to)?;
            return to.canonicalize();
        }
    }
    Err(io::Error::other("ten thousand runs began in one second"))
}

/// Files and folders; a link or anything else is no part of a run.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_all(&entry.path(), &to)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

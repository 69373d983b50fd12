//! The file itself. Any number of labs append to it at once: each takes the file's lock, and
//! writes whole lines with one call. A line that cannot be read loses only itself.

use super::{Entry, FORMAT};
use crate::report::error::ReportError;
use nix::fcntl::{Flock, FlockArg};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Its name.
pub const FILE: &str = "history.jsonl";

/// No line is longer; what would be longer loses its reason, then its figures.
pub const LINE_MAX: usize = 4000;

/// The history as it could be read.
#[derive(Debug, Default)]
pub struct Past {
    /// Oldest first.
    pub entries: Vec<Entry>,
    /// Numbers of the lines that could not be read, from 1; the first few.
    pub lost: Vec<usize>,
    /// How many lines could not be read.
    pub lost_count: usize,
}

/// More lost lines than this are counted and not named.
const NAMED_MAX: usize = 10;

/// Reads the history of a folder; empty if there is none.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn read(root: &Path) -> Result<Past, ReportError> {
    let path = root.join(FILE);
    match File::open(&path) {
        Ok(file) => read_from(file).map_err(ReportError::read(&path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Past::default()),
        Err(error) => Err(ReportError::read(&path)(error)),
    }
}

fn read_from(file: impl Read) -> io::Result<Past> {
    let mut past = Past::default();
    for (number, line) in BufReader::new(file).split(b'\n').enumerate() {
        let line = line?;
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice::<Entry>(&line) {
            Ok(entry) if entry.format == FORMAT => past.entries.push(entry),
            Ok(_) | Err(_) => {
                past.lost_count += 1;
                if past.lost.len() < NAMED_MAX {
                    past.lost.push(number + 1);
                }
            }
        }
    }
    past.entries
        .sort_by(|a, b| (&a.at, &a.run).cmp(&(&b.at, &b.run)));
    let mut seen = HashSet::new();
    past.entries.retain(|entry| seen.insert(entry.id.clone()));
    Ok(past)
}

/// Appends what is not in the file yet; returns how many lines that were.
///
/// # Errors
/// When the file cannot be read or written.
pub fn append(root: &Path, entries: Vec<Entry>) -> Result<usize, ReportError> {
    if entries.is_empty() {
        return Ok(0);
    }
    let path = root.join(FILE);
    append_to(&path, entries).map_err(ReportError::write(&path))
}

fn append_to(path: &Path, entries: Vec<Entry>) -> io::Result<usize> {
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path)?;
    let mut file = Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, errno)| errno)?;
    let known = read_from(&*file)?.entries;
    let mut known: HashSet<String> = known.into_iter().map(|entry| entry.id).collect();
    // Whoever died while writing left half a line: it ends here, and only it is lost.
    let mut text = if ends_torn(&mut file)? { "\n" } else { "" }.to_owned();
    let mut new = 0;
    for entry in entries {
        if known.insert(entry.id.clone()) {
            text.push_str(&line(entry)?);
            new += 1;
        }
    }
    file.write_all(text.as_bytes())?;
    Ok(new)
}

fn ends_torn(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn line(mut entry: Entry) -> io::Result<String> {
    let mut text = serde_json::to_string(&entry)?;
    if text.len() > LINE_MAX {
        entry.why.clear();
        text = serde_json::to_string(&entry)?;
    }
    if text.len() > LINE_MAX {
        entry.figures.clear();
        entry.controls.clear();
        entry.checks.clear();
        text = serde_json::to_string(&entry)?;
    }
    text.push('\n');
    Ok(text)
}

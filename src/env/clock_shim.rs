//! A wall clock of its own for one process: a small library, compiled with this program and
//! carried in it, is preloaded into that process alone and adds to each reading what a file says.
//! The machine's clock, every other process and all monotonic clocks stay as they are.
//!
//! The traps: nothing here knows whether the library was loaded (a static program ignores it, so
//! does a folder mounted `noexec`), so whoever moves a clock must ask its owner; and the file is
//! written in place, because the process has mapped it.

use nix::libc;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};

/// The library, compiled from `clock_shim.c`.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/clock_shim.so"));

/// The variable by which the library is told its file.
const FILE: &str = "LOCKDRILL_CLOCK_FILE";

/// Size of the file.
const BYTES: usize = size_of::<i64>();

/// The wall clock of one process that can be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WallClock {
    library: PathBuf,
    file: PathBuf,
}

impl WallClock {
    /// Puts the library and a file that adds nothing into a folder; `name` is the process's.
    ///
    /// # Errors
    /// When the folder cannot be written to, or its name cannot be told to a loader.
    pub fn prepare(folder: &Path, name: &str) -> io::Result<WallClock> {
        let shown = folder.display().to_string();
        if shown.contains([' ', ':', ';']) {
            let text = format!("{shown} has a space or colon in it: no library is loaded from it");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        std::fs::create_dir_all(folder)?;
        let clock = WallClock {
            library: folder.join("clock_shim.so"),
            file: folder.join(format!("{name}.clock")),
        };
        if !clock.library.exists() {
            std::fs::write(&clock.library, LIBRARY)?;
        }
        std::fs::write(&clock.file, [0; BYTES])?;
        Ok(clock)
    }

    /// The variables with which the process is started.
    pub fn variables(&self) -> Vec<(String, String)> {
        [("LD_PRELOAD", &self.library), (FILE, &self.file)]
            .map(|(name, path)| (name.to_owned(), path.display().to_string()))
            .into()
    }

    /// From now on the process's wall clock is so far ahead of the machine's, ns.
    ///
    /// # Errors
    /// When the file is gone, too short or not ours.
    pub fn set_ahead(&self, ns: i64) -> io::Result<()> {
        let file = OpenOptions::new().read(true).write(true).open(&self.file)?;
        if file.metadata()?.len() < BYTES as u64 {
            return Err(io::Error::other("the file of the clock was cut"));
        }
        store(&file, ns)
    }
}

/// Writes in one piece: whoever reads meanwhile sees the old value or the new one.
fn store(file: &File, ns: i64) -> io::Result<()> {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new mapping of a file that is open and long enough; nothing else is touched.
    let at = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            BYTES,
            protection,
            flags,
            file.as_raw_fd(),
            0,
        )
    };
    if at == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping begins at a page, lives until it is undone below, and others read it by
    // whole words.
    unsafe {
        AtomicI64::from_ptr(at.cast()).store(ns, Ordering::SeqCst);
        libc::munmap(at, BYTES);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::wall_ns;
    use std::process::Command;

    /// How far the wall clock of a process is ahead of ours, in seconds.
    fn ahead(variables: Vec<(String, String)>) -> f64 {
        let mut date = Command::new("date");
        let output = date.arg("+%s.%N").envs(variables).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let ours = std::time::Duration::from_nanos(wall_ns()).as_secs_f64();
        text.trim().parse::<f64>().unwrap() - ours
    }

    /// A process that takes a minute to start would be told as slow, not as wrong.
    fn assert_near(is: f64, wanted: f64) {
        assert!((is - wanted).abs() < 60.0, "{is} s ahead, not {wanted} s");
    }

    #[test]
    fn one_process_is_moved_forwards_and_back_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let moved = WallClock::prepare(folder.path(), "a").unwrap();
        let other = WallClock::prepare(folder.path(), "b").unwrap();
        assert_near(ahead(moved.variables()), 0.0);
        for seconds in [3_600, -3_600, 86_400] {
            moved.set_ahead(seconds * 1_000_000_000 - 1).unwrap();
            #[allow(clippy::cast_precision_loss)]
            let wanted = seconds as f64;
            assert_near(ahead(moved.variables()), wanted);
            assert_near(ahead(other.variables()), 0.0);
            assert_near(ahead(Vec::new()), 0.0);
        }
        moved.set_ahead(0).unwrap();
        assert_near(ahead(moved.variables()), 0.0);
    }

    #[test]
    fn what_cannot_work_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(WallClock::prepare(&folder.path().join("a b"), "a").is_err());
        let clock = WallClock::prepare(folder.path(), "a").unwrap();
        std::fs::write(&clock.file, [0; 3]).unwrap();
        assert!(clock.set_ahead(1).is_err());
        std::fs::remove_file(&clock.file).unwrap();
        assert!(clock.set_ahead(1).is_err());
    }
}

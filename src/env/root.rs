//! The folder that holds the folders of all arms of this user.
//!
//! `$LOCKDRILL_STATE_DIR`, else `$XDG_RUNTIME_DIR/lockdrill` where that is ours, else
//! `/tmp/lockdrill-<uid>`. In a world-writable place anybody may have made it before us, so it is
//! used only if it is ours, no link, and closed to others. It goes when the last arm goes, unless
//! the user named it.

use crate::env::ledger::told;
use nix::mount::{MntFlags, umount2};
use nix::unistd::geteuid;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Environment variable that replaces the root of all arm folders.
pub const VARIABLE: &str = "LOCKDRILL_STATE_DIR";

/// Exclusive use of the root, until this is dropped or the process dies.
#[derive(Debug)]
pub(super) struct Locked {
    pub(super) path: PathBuf,
    _folder: File,
}

/// Makes the root if it is missing and checks it; gives its path.
///
/// # Errors
/// When it is a link, another user's, or open to others.
pub fn make() -> io::Result<PathBuf> {
    let uid = geteuid().as_raw();
    let path = path()?;
    match private_folder(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(told(&error, format_args!("cannot make {}", path.display())));
        }
        Ok(()) | Err(_) => {}
    }
    let meta = fs::symlink_metadata(&path)?;
    if meta.is_dir() && meta.uid() == uid && meta.mode() & 0o077 == 0 {
        return Ok(path);
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "{} must be a folder of user {uid} that nobody else can enter (chmod 700); \
             or set {VARIABLE} to such a folder",
            path.display()
        ),
    ))
}

/// Excludes every other maker and sweeper of arm folders.
pub(super) fn lock() -> io::Result<Locked> {
    loop {
        let path = make()?;
        let folder = File::open(&path)?;
        folder.lock()?;
        // Whoever held the lock before us may have removed the folder that we have opened.
        let now = fs::symlink_metadata(&path);
        if now.is_ok_and(|now| folder.metadata().is_ok_and(|ours| ours.ino() == now.ino())) {
            let _folder = folder;
            return Ok(Locked { path, _folder });
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        remove_if_empty(&self.path);
    }
}

/// There is a root.
pub(super) fn exists() -> io::Result<bool> {
    path()?.try_exists()
}

/// Removes a root in which no arm is left, unless the user named it or somebody is at work in it
/// (who then does this).
pub(super) fn tidy(root: &Path) {
    if let Ok(folder) = File::open(root)
        && folder.try_lock().is_ok()
    {
        remove_if_empty(root);
    }
}

fn remove_if_empty(root: &Path) {
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let named = std::env::var_os(VARIABLE).is_some_and(|path| !path.is_empty());
    if !named && (name == "lockdrill" || name.starts_with("lockdrill-")) {
        // Fails when an arm is in it, which is right.
        let _ = fs::remove_dir(root);
    }
}

/// Removes an arm's folder, and whatever is mounted in it first: a deletion must never reach
/// into a mounted file system. A folder that is gone already is no error.
///
/// # Errors
/// When something in it cannot be unmounted or deleted.
pub fn remove_arm(folder: &Path) -> io::Result<()> {
    let mut mounts = mounts_under(folder)?;
    mounts.sort_by_key(|path| std::cmp::Reverse(path.as_os_str().len()));
    for mount in mounts {
        umount2(&mount, MntFlags::MNT_DETACH)
            .map_err(|errno| told(&errno.into(), mount.display()))?;
    }
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(told(&error, folder.display()));
        }
        Ok(()) | Err(_) => {}
    }
    tidy(folder.parent().unwrap_or(folder));
    Ok(())
}

/// Mount points beneath a folder, or the folder itself.
///
/// # Errors
/// When `/proc/self/mountinfo` cannot be read.
pub fn mounts_under(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let table = fs::read_to_string("/proc/self/mountinfo")?;
    Ok(table
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        // Our own folders hold no character that the kernel would escape but a blank.
        .map(|point| PathBuf::from(point.replace("\\040", " ")))
        .filter(|point| point.starts_with(folder))
        .collect())
}

/// Makes a folder that only this user can enter.
pub(super) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

fn path() -> io::Result<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return std::path::absolute(path);
    }
    let uid = geteuid().as_raw();
    let ours = |path: &PathBuf| {
        path.is_absolute() && fs::metadata(path).is_ok_and(|meta| meta.uid() == uid)
    };
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    Ok(runtime.filter(ours).map_or_else(
        || PathBuf::from(format!("/tmp/lockdrill-{uid}")),
        |path| path.join("lockdrill"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_found_by_whole_path_components() {
        assert!(
            mounts_under(Path::new("/"))
                .unwrap()
                .contains(&"/proc".into())
        );
        assert!(mounts_under(Path::new("/pro")).unwrap().is_empty());
    }
}

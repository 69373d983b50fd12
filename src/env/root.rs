//! The folder that holds the folders of all arms of this user.
//!
//! `$LOCKDRILL_STATE_DIR`, else `$XDG_RUNTIME_DIR/lockdrill` where that is ours, else
//! `/tmp/lockdrill-<uid>`. In a world-writable place anybody may have made it before us, so it is
//! used only if it is ours, no link, and closed to others. It goes when the last arm goes, unless
//! the user named it.
//!
//! Another run of the same user may have had another environment (a shell without a login, `cron`,
//! a variable that has since been changed), so whoever looks for dead arms looks in every place.

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
    let path = path()?;
    match private_folder(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(told(&error, format_args!("cannot make {}", path.display())));
        }
        Ok(()) | Err(_) => {}
    }
    if is_safe(&path)? {
        return Ok(path);
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "{} must be a folder of user {} that nobody else can enter (chmod 700); \
             or set {VARIABLE} to such a folder",
            path.display(),
            geteuid(),
        ),
    ))
}

/// Ours, no link, and closed to others.
fn is_safe(path: &Path) -> io::Result<bool> {
    let meta = fs::symlink_metadata(path)?;
    Ok(meta.is_dir() && meta.uid() == geteuid().as_raw() && meta.mode() & 0o077 == 0)
}

/// Excludes every other maker and sweeper of arm folders.
pub(super) fn lock() -> io::Result<Locked> {
    loop {
        if let Some(locked) = lock_there(make()?)? {
            return Ok(locked);
        }
    }
}

/// None if the folder went meanwhile.
fn lock_there(path: PathBuf) -> io::Result<Option<Locked>> {
    let folder = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    folder.lock()?;
    // Whoever held the lock before us may have removed the folder that we have opened.
    let now = fs::symlink_metadata(&path);
    let same = now.is_ok_and(|now| folder.metadata().is_ok_and(|ours| ours.ino() == now.ino()));
    let _folder = folder;
    Ok(same.then_some(Locked { path, _folder }))
}

/// Excludes others from every root that is there and that a run of this user can have used, one
/// after the other. What is unsafe cannot have been used; only for the present root it is told.
///
/// # Errors
/// When the present root is unsafe, or one that is safe cannot be opened.
pub(super) fn lock_each(mut then: impl FnMut(&Locked) -> io::Result<()>) -> io::Result<()> {
    let present = path()?;
    if present.try_exists()? {
        then(&lock()?)?;
    }
    for root in places()? {
        if root != present
            && is_safe(&root).unwrap_or(false)
            && let Some(locked) = lock_there(root)?
        {
            then(&locked)?;
        }
    }
    Ok(())
}

impl Drop for Locked {
    fn drop(&mut self) {
        remove_if_empty(&self.path);
    }
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
    // Where a relative name points to depends on who asks: it may be this one.
    let named = std::env::var_os(VARIABLE).is_some_and(|named| {
        let named = Path::new(&named);
        !named.as_os_str().is_empty() && (named.is_relative() || named == root)
    });
    if !named && (name == "lockdrill" || name.starts_with("lockdrill-")) {
        // Fails when an arm is in it, which is right.
        let _ = fs::remove_dir(root);
    }
}

/// Removes the folder of an arm that never began, if it is in a root of ours: it may have no ledger
/// yet that would show what it is.
pub(super) fn remove_begun(folder: &Path) -> io::Result<()> {
    let root = folder.parent().unwrap_or(folder);
    if places()?.iter().any(|place| place == root) {
        remove_arm(folder)?;
    }
    Ok(())
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

/// The root of runs in this environment.
pub(super) fn path() -> io::Result<PathBuf> {
    let mut places = places()?;
    Ok(places.swap_remove(0))
}

/// Every root that a run of this user can have used, the one of this environment first.
fn places() -> io::Result<Vec<PathBuf>> {
    let uid = geteuid().as_raw();
    let ours = |path: &PathBuf| {
        path.is_absolute() && fs::metadata(path).is_ok_and(|meta| meta.uid() == uid)
    };
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    // Where a login puts it, for a run that had one.
    let usual = Some(PathBuf::from(format!("/run/user/{uid}")));
    let fallback = PathBuf::from(format!("/tmp/lockdrill-{uid}"));
    let mut places: Vec<PathBuf> = named()?.into_iter().collect();
    places.extend(runtime.filter(ours).map(|path| path.join("lockdrill")));
    places.push(fallback);
    places.extend(usual.filter(ours).map(|path| path.join("lockdrill")));
    Ok(places)
}

/// The root that the user named.
fn named() -> io::Result<Option<PathBuf>> {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    named.map(std::path::absolute).transpose()
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

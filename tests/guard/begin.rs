//! The guard is there before the arm's folder is, and begins only when it is told that the folder
//! is made: a conductor that dies in between leaves none behind.

use std::fs::{self, DirBuilder};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use tempfile::TempDir;

/// A state root of its own.
fn root() -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    fs::set_permissions(temp.path(), PermissionsExt::from_mode(0o700)).unwrap();
    let folder = temp.path().join("pause-main-0a");
    (temp, folder)
}

/// A guard of an arm that is not made yet, in a mode.
fn guard(mode: &str, root: &Path, folder: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_lockdrill"))
        .args(["guard", "--isolation", mode, "--state"])
        .arg(folder)
        .arg("--log")
        .arg(root.join("guard.log"))
        .arg("--exec")
        .arg("/bin/true")
        .arg("--")
        .env("LOCKDRILL_STATE_DIR", root)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What the guard ended with when its conductor had died without a word, or after one.
fn dies(mut guard: Child, word: &[u8]) -> ExitStatus {
    let mut lifeline = guard.stdin.take().unwrap();
    lifeline.write_all(word).unwrap();
    drop(lifeline);
    guard.wait().unwrap()
}

fn made(folder: &Path) {
    DirBuilder::new().mode(0o700).create(folder).unwrap();
    fs::write(folder.join("work"), "half made").unwrap();
}

#[test]
fn a_conductor_that_dies_before_it_made_the_folder_leaves_none() {
    for mode in crate::lab::MODES {
        let (root, folder) = root();
        let end = dies(guard(mode, root.path(), &folder), b"");
        assert_eq!(end.code(), Some(lockdrill::env::guard::ENDED), "{mode}");
        assert!(!folder.exists(), "{mode}");
    }
}

#[test]
fn one_that_dies_over_making_it_leaves_none_either() {
    for word in ["", "x"] {
        let (root, folder) = root();
        let guard = guard("guard", root.path(), &folder);
        made(&folder);
        let end = dies(guard, word.as_bytes());
        assert_eq!(end.code(), Some(lockdrill::env::guard::ENDED), "{word:?}");
        assert!(!folder.exists(), "{word:?}");
    }
}

#[test]
fn a_folder_that_is_no_arm_of_ours_is_not_touched() {
    let (root, _) = root();
    let (_elsewhere, folder) = self::root();
    made(&folder);
    dies(guard("guard", root.path(), &folder), b"");
    assert!(folder.join("work").exists());
}

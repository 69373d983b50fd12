//! Finds a redis-server program without starting or enabling anything.
//!
//! Debian's `redis-tools` carries the server under the name `redis-check-rdb`: one binary that
//! chooses its role by `argv[0]`. The package `redis-server` would also start a service on 6379,
//! which the lab must not do.

use crate::env::error::EnvError;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Names the program to use, before anything on `PATH`.
pub const VARIABLE: &str = "LOCKDRILL_REDIS_SERVER";

/// The oldest version with what the lab needs (deadlines as `PXAT` in the replication stream).
pub const MINIMUM: (u32, u32) = (7, 0);

/// A program that has not said its version by then is asked no longer.
const ASK_MAX: Duration = Duration::from_secs(10);

const BRING_IT: &str =
    "run `make setup`, or install Redis 7.0 or newer and set LOCKDRILL_REDIS_SERVER to its path";

/// A usable redis-server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedisBinary {
    /// The program.
    pub path: PathBuf,
    /// Its version as it prints it, e.g. `7.0.15`.
    pub version: String,
}

impl RedisBinary {
    /// The name to run the program under.
    pub const ARG0: &'static str = "redis-server";
}

/// The first usable redis-server: `LOCKDRILL_REDIS_SERVER`, `redis-server` on `PATH`,
/// `redis-check-rdb` on `PATH`.
///
/// # Errors
/// When there is none, or the one found is older than [`MINIMUM`].
pub fn find() -> Result<RedisBinary, EnvError> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        let path = PathBuf::from(named);
        return ask(&path)
            .ok_or_else(|| {
                EnvError::new(
                    format!("{VARIABLE}={} is not a redis-server", path.display()),
                    BRING_IT,
                )
            })
            .and_then(new_enough);
    }
    for name in ["redis-server", "redis-check-rdb"] {
        if let Some(found) = on_path(name).and_then(|path| ask(&path)) {
            return new_enough(found);
        }
    }
    Err(EnvError::new("no redis-server found", BRING_IT))
}

/// The program that a user names: a path, or a word that is looked for on `PATH`.
pub fn program(named: &str) -> Option<PathBuf> {
    if named.contains('/') {
        let path = std::path::absolute(named).ok()?;
        return path.is_file().then_some(path);
    }
    on_path(named)
}

/// Whether somebody may execute it.
pub fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The redis-server that a user names.
///
/// # Errors
/// When it is none, or older than [`MINIMUM`].
pub fn named(named: &str) -> Result<RedisBinary, EnvError> {
    let found = program(named).and_then(|path| ask(&path));
    let found = found.ok_or_else(|| {
        EnvError::new(
            format!("`server.binary`: {named} is not a redis-server: it does not tell its version"),
            "name the path of a redis-server, 7.0 or newer",
        )
    })?;
    new_enough(found)
}

/// A server of this version can do what the lab asks of it.
pub(super) fn is_new_enough(version: &str) -> bool {
    let mut parts = version.split('.').map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= MINIMUM,
        _ => false,
    }
}

/// The oldest version that can, in words.
pub(super) fn minimum() -> String {
    format!("{}.{}", MINIMUM.0, MINIMUM.1)
}

fn new_enough(found: RedisBinary) -> Result<RedisBinary, EnvError> {
    if is_new_enough(&found.version) {
        return Ok(found);
    }
    Err(EnvError::new(
        format!(
            "{} is Redis {}, older than {}",
            found.path.display(),
            found.version,
            minimum()
        ),
        BRING_IT,
    ))
}

/// Runs `<program> --version` under the server's name and reads the version.
fn ask(path: &Path) -> Option<RedisBinary> {
    let text = said(path)?;
    let version = text.split_once(" v=")?.1.split_whitespace().next()?;
    Some(RedisBinary {
        path: path.to_owned(),
        version: version.to_owned(),
    })
}

/// What the program says to `--version`; nothing if it is not over within [`ASK_MAX`].
fn said(path: &Path) -> Option<String> {
    let mut child = Command::new(path)
        .arg0(RedisBinary::ARG0)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let until = Instant::now() + ASK_MAX;
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) | Err(_) => {
                // Gone already is as good.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
    let mut text = Vec::new();
    child.stdout?.take(4096).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_server_is_refused_with_what_to_do() {
        let old = RedisBinary {
            path: "/x/redis-server".into(),
            version: "6.2.14".into(),
        };
        let error = new_enough(old).unwrap_err().to_string();
        assert!(error.contains("6.2.14, older than 7.0"), "{error}");
        assert!(error.contains("make setup"), "{error}");
    }

    #[test]
    fn this_machine_has_one() {
        let found = find().unwrap();
        assert!(found.version.contains('.'), "{found:?}");
    }
}

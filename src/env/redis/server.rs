//! How a redis-server under test is started: every setting of the lab on the command line, and
//! before them, in a file, those of the user that the lab does not replace.
//!
//! It starts on a socket file alone, the observer's own way in, and gets its port only once the
//! observer follows it: so nobody can be granted anything unseen, not even after a restart.

use crate::env::socket_file;
use crate::plan::Persist;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// The observer's way in to a server that lives in `folder`.
///
/// # Errors
/// When the path is too long for a socket; the message says so.
pub fn socket(folder: &Path) -> Result<PathBuf, String> {
    socket_file::fits(folder.join("s.sock"))
}

/// Name of the file with the user's settings in the server's folder.
const GIVEN: &str = "given.conf";

/// Writes the user's settings, as they stand, into the server's folder; the argument that names
/// the file, before all others.
///
/// # Errors
/// When it cannot be written.
pub fn given(folder: &Path, kept: &[String]) -> std::io::Result<Option<String>> {
    if kept.is_empty() {
        return Ok(None);
    }
    let file = folder.join(GIVEN);
    std::fs::write(&file, kept.join("\n") + "\n")?;
    Ok(Some(file.display().to_string()))
}

/// Arguments for a standalone server that listens on its socket file only.
///
/// `hz 100` keeps active expiry prompt; `shutdown-timeout 0` because a server that ends would
/// otherwise wait ten seconds for the observer, which never acknowledges; `repl-diskless-sync no`
/// lets the observer's SYNC be answered at once with a file of known length.
pub fn args(host: IpAddr, socket: &Path, folder: &Path, persist: Persist) -> Vec<String> {
    let host = host.to_string();
    let folder = folder.display().to_string();
    let socket = socket.display().to_string();
    let (append, fsync) = match persist {
        Persist::None => ("no", "everysec"),
        Persist::Everysec => ("yes", "everysec"),
        Persist::Always => ("yes", "always"),
    };
    [
        ("--port", "0"),
        ("--bind", host.as_str()),
        ("--unixsocket", socket.as_str()),
        ("--unixsocketperm", "700"),
        ("--dir", folder.as_str()),
        ("--save", ""),
        ("--appendonly", append),
        ("--appendfsync", fsync),
        ("--protected-mode", "no"),
        ("--hz", "100"),
        ("--shutdown-timeout", "0"),
        ("--repl-diskless-sync", "no"),
        ("--daemonize", "no"),
    ]
    .iter()
    .flat_map(|(name, value)| [(*name).to_owned(), (*value).to_owned()])
    .collect()
}

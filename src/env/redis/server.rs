//! How a redis-server under test is started: every setting on the command line, no file.

use std::net::SocketAddr;
use std::path::Path;

/// Arguments for a fresh, empty, standalone server that keeps nothing on disk.
///
/// `hz 100` keeps active expiry prompt; `shutdown-timeout 0` because a server that ends would
/// otherwise wait ten seconds for the observer, which never acknowledges; `repl-diskless-sync no` lets the observer's SYNC be
/// answered at once with a file of known length.
pub fn standalone_args(address: SocketAddr, folder: &Path) -> Vec<String> {
    let port = address.port().to_string();
    let host = address.ip().to_string();
    let folder = folder.display().to_string();
    [
        ("--port", port.as_str()),
        ("--bind", host.as_str()),
        ("--dir", folder.as_str()),
        ("--save", ""),
        ("--appendonly", "no"),
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

//! The program `toxiproxy-server`: where it is, how it is started.

use crate::env::brought;
use crate::env::edge::EdgeError;
use std::env;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Names the program to use, before anything on `PATH`.
const VARIABLE: &str = "LOCKDRILL_TOXIPROXY";

const PROGRAM: &str = "toxiproxy-server";

/// Where it answers in a network of the arm's own.
pub const PORT: u16 = 8474;

/// `LOCKDRILL_TOXIPROXY`, else `toxiproxy-server` on `PATH`, else where `scripts/setup` puts it.
///
/// # Errors
/// When there is none: what brings it.
pub fn find() -> Result<PathBuf, EdgeError> {
    if let Some(named) = env::var_os(VARIABLE) {
        let path = PathBuf::from(named);
        if path.is_file() {
            return Ok(path);
        }
        let text = format!("{VARIABLE}={} is not a file", path.display());
        return Err(EdgeError::Refused(text));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let mut files = env::split_paths(&path)
        .chain(brought::folder())
        .map(|folder| folder.join(PROGRAM));
    files.find(|file| file.is_file()).ok_or(EdgeError::Missing {
        program: PROGRAM,
        todo: "run `make setup-toxiproxy`, which installs it where Go is here",
    })
}

/// Its arguments.
pub fn args(address: SocketAddr) -> Vec<String> {
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    ["-host", &host, "-port", &port].map(str::to_owned).to_vec()
}

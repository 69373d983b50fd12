//! Finds an etcd without starting or enabling anything.

use crate::env::brought::{self, numbers};
use crate::env::error::EnvError;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the program, before anything else.
pub const VARIABLE: &str = "LOCKDRILL_ETCD";

/// The oldest version whose gateway is at `/v3/`: major and minor.
pub const MINIMUM: (u32, u32) = (3, 4);

const BRING_IT: &str =
    "run `make setup-all`, or install etcd 3.4 or newer and set LOCKDRILL_ETCD to its program";

/// A usable etcd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// Its version as it prints it, e.g. `3.4.23`.
    pub version: String,
}

/// The first etcd: `LOCKDRILL_ETCD`, on `PATH`, then where `make setup-all` puts it.
///
/// # Errors
/// When there is none, or the one found is older than [`MINIMUM`].
pub fn find() -> Result<Program, EnvError> {
    let found = program()?;
    if numbers(&found.version) < MINIMUM {
        let (path, version) = (found.path.display(), &found.version);
        let what = format!("{path} is etcd {version}, older than 3.4");
        return Err(EnvError::new(what, BRING_IT));
    }
    Ok(found)
}

fn program() -> Result<Program, EnvError> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        let path = PathBuf::from(named);
        return ask(&path).ok_or_else(|| {
            let what = format!("{VARIABLE}={} is no etcd", path.display());
            EnvError::new(what, BRING_IT)
        });
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(brought::folder())
        .find_map(|folder| ask(&folder.join("etcd")))
        .ok_or_else(|| EnvError::new("no etcd found", BRING_IT))
}

/// Runs `etcd --version`, if it is there.
fn ask(path: &Path) -> Option<Program> {
    let path = path.canonicalize().ok().filter(|path| path.is_file())?;
    let output = Command::new(&path)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.split_once("etcd Version: ")?.1;
    Some(Program {
        path,
        version: version.split_whitespace().next()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(numbers("3.4.23"), (3, 4));
        assert!(numbers("3.3.27") < MINIMUM && numbers("nonsense") < MINIMUM);
        assert!(numbers("3.10.0") > MINIMUM && numbers("4.0.0") > MINIMUM);
    }
}

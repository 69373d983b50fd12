//! Finds a Postgres server without starting or enabling anything. Debian keeps its programs off
//! `PATH`, one folder a version.

use crate::env::error::EnvError;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the folder with the programs, before anything else.
pub const VARIABLE: &str = "LOCKDRILL_POSTGRES";

/// The oldest version with what the lab needs (a session that waits notices that its client is
/// gone).
pub const MINIMUM: u32 = 14;

const BRING_IT: &str = "run `make setup-all`, or install Postgres 14 or newer and set LOCKDRILL_POSTGRES to the folder of its programs";

/// Where Debian and others keep versions beside each other.
const FOLDERS: &[&str] = &["/usr/lib/postgresql", "/usr/local/lib/postgresql"];

/// A usable Postgres.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    /// The folder that holds `postgres` and `initdb`.
    pub folder: PathBuf,
    /// Its version as it prints it, e.g. `15.18`.
    pub version: String,
}

/// The first usable Postgres: `LOCKDRILL_POSTGRES`, on `PATH`, then the newest in the folders of
/// versions.
///
/// # Errors
/// When there is none, the one found is older than [`MINIMUM`], or this machine lets nobody make
/// user namespaces, which Postgres is started in.
pub fn find() -> Result<Programs, EnvError> {
    let found = programs()?;
    if major(&found.version) < MINIMUM {
        let what = format!(
            "{} is Postgres {}, older than {MINIMUM}",
            found.folder.display(),
            found.version
        );
        return Err(EnvError::new(what, BRING_IT));
    }
    unshares()?;
    Ok(found)
}

fn programs() -> Result<Programs, EnvError> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        let folder = PathBuf::from(named);
        return ask(&folder).ok_or_else(|| {
            let what = format!("{VARIABLE}={} holds no Postgres", folder.display());
            EnvError::new(what, BRING_IT)
        });
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).find_map(|folder| ask(&folder));
    let found = on_path.or_else(|| {
        let versions = FOLDERS
            .iter()
            .filter_map(|folder| fs::read_dir(folder).ok());
        let versions = versions.flatten().filter_map(Result::ok);
        let all = versions.filter_map(|version| ask(&version.path().join("bin")));
        all.max_by_key(|found| major(&found.version))
    });
    found.ok_or_else(|| EnvError::new("no Postgres server found", BRING_IT))
}

/// Runs `postgres --version`, if it and `initdb` are there.
fn ask(folder: &Path) -> Option<Programs> {
    // Links lead to where the rest of it is.
    let postgres = folder.join("postgres").canonicalize().ok()?;
    let folder = postgres.parent()?;
    if !folder.join("initdb").is_file() {
        return None;
    }
    let output = Command::new(&postgres).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.split_once("(PostgreSQL) ")?.1;
    Some(Programs {
        folder: folder.to_owned(),
        version: version.split_whitespace().next()?.to_owned(),
    })
}

fn major(version: &str) -> u32 {
    let digits = version.split(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Tries once what every server is started with.
fn unshares() -> Result<(), EnvError> {
    let [program, args @ ..] = super::server::APART;
    let tried = Command::new(program)
        .args(args)
        .arg("true")
        .stdin(Stdio::null())
        .output();
    let why = match tried {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("{program}: {error}"),
    };
    Err(EnvError::new(
        format!("Postgres cannot be kept apart here ({why})"),
        "allow user namespaces (sysctl user.max_user_namespaces, the container's seccomp profile), or use another lock",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_begins_with_its_number() {
        assert_eq!(major("15.18"), 15);
        assert_eq!(major("17beta2"), 17);
        assert_eq!(major("nonsense"), 0);
    }
}

//! Finds Java and the jars of a ZooKeeper without starting or enabling anything.

use crate::env::brought::{self, numbers};
use crate::env::error::EnvError;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Names the folder of the jars, before anything else.
pub const VARIABLE: &str = "LOCKDRILL_ZOOKEEPER";

/// The oldest version that the lock back end can use: major and minor.
pub const MINIMUM: (u32, u32) = (3, 6);

const BRING_IT: &str = "run `make setup-all`, or install Java and set LOCKDRILL_ZOOKEEPER to a folder with the jars of ZooKeeper 3.6 or newer";

/// What the file names of the jars begin with that it cannot start without.
const JARS: [&str; 5] = [
    "zookeeper-",
    "zookeeper-jute",
    "slf4j-api",
    "snappy-java",
    "metrics-core",
];

/// A usable ZooKeeper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The program that runs it.
    pub java: PathBuf,
    /// The folder of its jars.
    pub jars: PathBuf,
    /// Its version as its jar is named, e.g. `3.8.0`.
    pub version: String,
}

/// Java from `JAVA_HOME` or `PATH`, and the first folder of jars: `LOCKDRILL_ZOOKEEPER`, then where
/// `make setup-all` puts them.
///
/// # Errors
/// When one of them is not there, or the ZooKeeper found is older than [`MINIMUM`].
pub fn find() -> Result<Program, EnvError> {
    let missing = |what: String| EnvError::new(what, BRING_IT);
    let (jars, version) = match std::env::var_os(VARIABLE) {
        Some(named) => {
            let folder = PathBuf::from(named);
            let found = version(&folder);
            let what = format!("{VARIABLE}={} has no ZooKeeper", folder.display());
            (folder, found.ok_or_else(|| missing(what))?)
        }
        None => {
            let brought = brought::folder().map(|folder| folder.join("zookeeper"));
            let found = brought.and_then(|folder| Some((version(&folder)?, folder)));
            let found = found.map(|(version, folder)| (folder, version));
            found.ok_or_else(|| missing("no ZooKeeper found".to_owned()))?
        }
    };
    if numbers(&version) < MINIMUM {
        let what = format!("{} is ZooKeeper {version}, older than 3.6", jars.display());
        return Err(missing(what));
    }
    let java = java().ok_or_else(|| missing("no java found, which ZooKeeper needs".to_owned()))?;
    Ok(Program {
        java,
        jars,
        version,
    })
}

fn java() -> Option<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = home.into_iter().chain(std::env::split_paths(&path));
    folders.find_map(|folder| {
        let program = folder.join("java").canonicalize().ok()?;
        program.is_file().then_some(program)
    })
}

/// The version of the ZooKeeper in this folder; none if a jar is missing that it needs.
fn version(folder: &Path) -> Option<String> {
    let files = std::fs::read_dir(folder).ok()?;
    let names: Vec<String> = files
        .filter_map(|file| file.ok()?.file_name().into_string().ok())
        .collect();
    version_in(&names)
}

fn version_in(names: &[String]) -> Option<String> {
    let is_there = |jar: &&str| names.iter().any(|name| name.starts_with(*jar));
    if !JARS.iter().all(is_there) {
        return None;
    }
    let mut versions = names.iter().filter_map(|name| {
        let version = name.strip_prefix("zookeeper-")?.strip_suffix(".jar")?;
        let is_version = version.starts_with(|first: char| first.is_ascii_digit());
        is_version.then(|| version.to_owned())
    });
    versions.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_that_of_the_jar_and_none_if_another_jar_is_missing() {
        let names = [
            "zookeeper-3.8.0.jar",
            "zookeeper-jute-3.8.0.jar",
            "slf4j-api.jar",
            "snappy-java-1.1.jar",
            "metrics-core.jar",
        ];
        let names = names.map(str::to_owned);
        assert_eq!(version_in(&names).as_deref(), Some("3.8.0"));
        assert_eq!(version_in(&names[..4]), None);
        assert_eq!(version_in(&names[1..]), None);
    }

    #[test]
    fn versions_are_compared_by_number() {
        assert!(numbers("3.5.9") < MINIMUM && numbers("nonsense") < MINIMUM);
        assert!(numbers("3.10.1") > MINIMUM && numbers("4.0.0") > MINIMUM);
    }
}

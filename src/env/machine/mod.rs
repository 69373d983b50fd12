//! What this machine has for the lab, found by doing it and not by asking for versions.
//!
//! Nothing is changed: what is started here is ended here, what is written is deleted.

use crate::env::edge::{self, EdgeError};
use crate::env::error::EnvError;
use crate::env::{etcd, postgres, redis, root, zookeeper};
use nix::sys::statvfs::statvfs;
use serde::Serialize;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

mod kernel;

pub use kernel::lateness_ns;

/// Below this much free space a run may not be able to keep its record, bytes.
const SPACE: u64 = 200 << 20;

/// One thing that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked for.
    pub what: &'static str,
    /// How it stands.
    pub level: Level,
    /// What was found.
    pub says: String,
    /// The command that brings what is missing.
    pub todo: Option<String>,
}

/// How one thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// There.
    Ready,
    /// Not there, or poor; drills run without it.
    Limited,
    /// Not there; drills cannot run.
    Missing,
}

/// Every look, in the order in which it is told.
pub const ALL: &[fn() -> Finding] = &[
    redis_server,
    postgres_server,
    etcd_server,
    zookeeper_server,
    toxiproxy,
    kernel::signals,
    kernel::namespaces,
    kernel::clocks,
    kernel::noise,
    state_folder,
    output_folder,
    disk_space,
];

impl Finding {
    fn new(what: &'static str, level: Level, says: impl Into<String>) -> Self {
        let says = says.into();
        let todo = None;
        Finding {
            what,
            level,
            says,
            todo,
        }
    }

    fn todo(mut self, todo: impl Into<String>) -> Self {
        self.todo = Some(todo.into());
        self
    }
}

fn redis_server() -> Finding {
    let what = "redis-server";
    match redis::find::find() {
        Ok(found) => {
            let says = format!("{} at {}", found.version, found.path.display());
            Finding::new(what, Level::Ready, says)
        }
        Err(EnvError { what: says, todo }) => Finding::new(what, Level::Missing, says).todo(todo),
    }
}

fn postgres_server() -> Finding {
    let found = postgres::find::find();
    beside("postgres", found.map(|found| (found.version, found.folder)))
}

fn etcd_server() -> Finding {
    let found = etcd::find::find();
    beside("etcd", found.map(|found| (found.version, found.path)))
}

fn zookeeper_server() -> Finding {
    let found = zookeeper::find::find();
    beside("zookeeper", found.map(|found| (found.version, found.jars)))
}

/// A server that only some locks live on.
fn beside(what: &'static str, found: Result<(String, PathBuf), EnvError>) -> Finding {
    match found {
        Ok((version, path)) => {
            let says = format!("{version} at {}", path.display());
            Finding::new(what, Level::Ready, says)
        }
        Err(EnvError { what: says, todo }) => {
            let says = format!("{says} (the locks of other servers do without)");
            Finding::new(what, Level::Limited, says).todo(todo)
        }
    }
}

fn toxiproxy() -> Finding {
    let what = "toxiproxy";
    let limited = |says: String| {
        let says = format!("{says} (the builtin proxy does everything)");
        Finding::new(what, Level::Limited, says)
    };
    let Some(server) = edge::find(what).and_then(|kind| kind.server) else {
        return limited("this lockdrill was built without it".to_owned())
            .todo("cargo build --release --features toxiproxy");
    };
    match (server.find)() {
        Ok(file) => Finding::new(what, Level::Ready, file.display().to_string()),
        Err(EdgeError::Missing { program, .. }) => {
            limited(format!("no {program} found")).todo("make setup-toxiproxy")
        }
        Err(error) => limited(error.to_string()).todo("unset LOCKDRILL_TOXIPROXY"),
    }
}

fn state_folder() -> Finding {
    let what = "state folder";
    match root::make() {
        Ok(root) => {
            root::tidy(&root);
            Finding::new(what, Level::Ready, root.display().to_string())
        }
        Err(error) => Finding::new(what, Level::Missing, error.to_string())
            .todo(format!("export {}=\"$(mktemp -d)\"", root::VARIABLE)),
    }
}

/// Where reports go unless `--out` says otherwise: `reports/` here, or here to make it.
fn output() -> &'static Path {
    let folder = Path::new("reports");
    if folder.is_dir() {
        folder
    } else {
        Path::new(".")
    }
}

fn output_folder() -> Finding {
    let what = "output folder";
    let file = output().join(format!(".lockdrill-doctor-{}", std::process::id()));
    let written = OpenOptions::new().write(true).create_new(true).open(&file);
    match written.and_then(|_| fs::remove_file(&file)) {
        Ok(()) => Finding::new(what, Level::Ready, "reports/ can be written"),
        Err(error) => Finding::new(what, Level::Missing, format!("reports/: {error}"))
            .todo("run in a folder that you may write to, or name one with --out DIR"),
    }
}

fn disk_space() -> Finding {
    let what = "disk space";
    match statvfs(output()) {
        Ok(disk) => {
            let free = disk.blocks_available() * disk.fragment_size();
            let says = format!("{} MiB free for reports", free >> 20);
            if free >= SPACE {
                Finding::new(what, Level::Ready, says)
            } else {
                Finding::new(what, Level::Missing, says)
                    .todo("free some space (make clean drops the build), or use --out DIR")
            }
        }
        Err(errno) => Finding::new(what, Level::Limited, format!("unknown: {errno}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_ready_says_what_to_do() {
        // Not `namespaces`: it starts this program again, which here is the test runner.
        for look in [
            redis_server,
            postgres_server,
            etcd_server,
            zookeeper_server,
            toxiproxy,
            kernel::signals,
            kernel::clocks,
            output_folder,
            disk_space,
        ] {
            let finding = look();
            assert!(!finding.says.is_empty());
            assert!(
                finding.level == Level::Ready || finding.todo.is_some(),
                "{finding:?}"
            );
        }
    }
}

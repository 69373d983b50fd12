//! `env.json`: what ran, and where. An allow-list: nothing of the environment gets in by itself.

use super::preflight::Ready;
use super::run_dir;
use super::target::Target;
use crate::clock::wall_ns;
use crate::env::redis::find::RedisBinary;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Facts about the machine and the programs of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Version of lockdrill.
    pub lockdrill: String,
    /// Version of the lock server.
    pub redis: String,
    /// Version of Postgres, if a lock or a store lived on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postgres: Option<String>,
    /// Version of etcd, if a lock lived on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etcd: Option<String>,
    /// Version of ZooKeeper, if a lock lived on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zookeeper: Option<String>,
    /// Kernel release.
    pub kernel: String,
    /// Processors that this process may use.
    pub processors: usize,
    /// `namespace` or `guard`.
    pub isolation: String,
    /// Why the stronger isolation was refused, if it was.
    pub isolation_fallback: Option<String>,
    /// When the run was prepared, RFC 3339, UTC.
    pub prepared: String,
    /// Load average over one minute when the run was prepared.
    pub load_1m: Option<String>,
    /// How late a sleep of 1 ms was at most, just before the run was prepared, µs.
    #[serde(default)]
    pub late_us: Option<u64>,
    /// The commit that lockdrill was built from, `-dirty` if it was changed; none if it was built
    /// for development or outside a repository.
    #[serde(default)]
    pub revision: Option<String>,
    /// The command that runs this drill again.
    #[serde(default)]
    pub again: Option<String>,
    /// The lock server, if it was given and not started by lockdrill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_server: Option<String>,
}

/// Writes the file into a run directory.
///
/// # Errors
/// When it cannot be written.
pub fn write(
    dir: &Path,
    (ready, redis): (&Ready, &RedisBinary),
    again: &[String],
) -> io::Result<()> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let environment = Environment {
        lockdrill: env!("CARGO_PKG_VERSION").to_owned(),
        redis: redis.version.clone(),
        postgres: ready.postgres.as_ref().map(|found| found.version.clone()),
        etcd: ready.etcd.as_ref().map(|found| found.version.clone()),
        zookeeper: ready.zookeeper.as_ref().map(|found| found.version.clone()),
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        isolation: ready.isolation.word().to_owned(),
        isolation_fallback: ready.fallback.clone(),
        prepared: humantime::format_rfc3339_seconds(now()).to_string(),
        load_1m: read("/proc/loadavg")
            .split_whitespace()
            .next()
            .map(str::to_owned),
        late_us: Some(ready.late_ns / 1000),
        revision: REVISION.map(str::to_owned),
        again: Some(quoted(again)),
        given_server: ready.target.as_ref().map(|(target, given)| {
            let Target { name, address } = target;
            format!("Redis {} at {address} (--target {name})", given.version)
        }),
    };
    let mut json = serde_json::to_string_pretty(&environment)?;
    json.push('\n');
    std::fs::write(dir.join(run_dir::ENV), json)
}

/// What the build was told; see `build.rs`.
const REVISION: Option<&str> = option_env!("LOCKDRILL_REVISION");

/// Words as one line for a shell.
fn quoted(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+.,:/@%".contains(c);
    let quoted = words.iter().map(|word| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Wall clock, for names and labels.
pub fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(wall_ns())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_command_as_it_was_meant() {
        let words = ["run", "a b", "--set", "it's=1", ""].map(str::to_owned);
        assert_eq!(quoted(&words), r"run 'a b' --set 'it'\''s=1' ''");
    }

    #[test]
    fn files_of_earlier_versions_can_still_be_read() {
        let old = r#"{"lockdrill":"0","redis":"7","kernel":"6","processors":2,"isolation":"guard",
            "isolation_fallback":null,"prepared":"x","load_1m":"0.1"}"#;
        let read: Environment = serde_json::from_str(old).unwrap();
        assert_eq!(
            (read.again, read.revision, read.late_us),
            (None, None, None)
        );
    }
}

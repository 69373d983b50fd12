//! `env.json`: what ran, and where. An allow-list: nothing of the environment gets in by itself.

use super::preflight::Ready;
use super::run_dir;
use crate::clock::wall_ns;
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
}

/// Writes the file into a run directory.
///
/// # Errors
/// When it cannot be written.
pub fn write(dir: &Path, ready: &Ready) -> io::Result<()> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let environment = Environment {
        lockdrill: env!("CARGO_PKG_VERSION").to_owned(),
        redis: ready.redis.version.clone(),
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        isolation: ready.isolation.word().to_owned(),
        isolation_fallback: ready.fallback.clone(),
        prepared: humantime::format_rfc3339_seconds(now()).to_string(),
        load_1m: read("/proc/loadavg")
            .split_whitespace()
            .next()
            .map(str::to_owned),
    };
    let mut json = serde_json::to_string_pretty(&environment)?;
    json.push('\n');
    std::fs::write(dir.join(run_dir::ENV), json)
}

/// Wall clock, for names and labels.
pub fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(wall_ns())
}

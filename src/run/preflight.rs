//! Before the first arm: is this machine ready? Nothing has been started yet.

use crate::env::error::EnvError;
use crate::env::isolation::{self, Choice, Decision, Mode};
use crate::env::redis::find::{self, RedisBinary};
use std::path::{Path, PathBuf};

/// What an arm needs from this machine.
#[derive(Debug, Clone)]
pub struct Ready {
    /// The server program.
    pub redis: RedisBinary,
    /// How arms are kept apart.
    pub isolation: Mode,
    /// Why it is not the stronger way, if `auto` had to fall back.
    pub fallback: Option<String>,
    /// lockdrill itself, to be started as guard, director and worker.
    pub program: PathBuf,
    /// Folder of all run directories, absolute.
    pub out: PathBuf,
}

/// Looks at everything that can be known before an arm starts.
///
/// # Errors
/// The first thing that is missing, with what to do about it.
pub fn check(out: &Path, choice: Choice) -> Result<Ready, EnvError> {
    let out = writable(out)?;
    let redis = find::find()?;
    let program = std::env::current_exe().map_err(|error| {
        EnvError::new(
            format!("cannot find lockdrill's own program: {error}"),
            "start it by its full path",
        )
    })?;
    let Decision {
        mode: isolation,
        fallback,
    } = isolation::decide(choice)
        .map_err(|error| EnvError::new(error.to_string(), "or let --isolation auto choose"))?;
    Ok(Ready {
        redis,
        isolation,
        fallback,
        program,
        out,
    })
}

/// Creates the folder and proves that it can be written by writing.
fn writable(out: &Path) -> Result<PathBuf, EnvError> {
    let refused = |error: std::io::Error| {
        EnvError::new(
            format!("output folder {} is not writable: {error}", out.display()),
            "choose another one with --out",
        )
    };
    std::fs::create_dir_all(out).map_err(refused)?;
    let out = out.canonicalize().map_err(refused)?;
    let trial = out.join(format!(".trial-{}", std::process::id()));
    std::fs::write(&trial, b"x").map_err(refused)?;
    std::fs::remove_file(&trial).map_err(refused)?;
    Ok(out)
}

//! `lockdrill worker`

use crate::exit::Exit;
use crate::worker::{self, WorkerSpec};
use std::path::{Path, PathBuf};
use tracing_subscriber::EnvFilter;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What the worker is told, as JSON.
    #[arg(long, value_name = "FILE")]
    spec: PathBuf,
}

/// Runs the subcommand.
pub(super) fn exec(args: &Args) -> Exit {
    log_to_stderr();
    match read(&args.spec) {
        Ok(spec) => worker::run(&spec),
        Err(message) => {
            tracing::error!(file = %args.spec.display(), %message, "no specification");
            Exit::Usage
        }
    }
}

fn read(file: &Path) -> Result<WorkerSpec, String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// What is logged of the lock too: every grant, renewal, loss and release.
const LOGGED: &str = "info,lockdrill::lock::log=debug";

/// stdout belongs to the record; the log goes to stderr, `LOCKDRILL_LOG` says how much of it.
fn log_to_stderr() {
    let filter =
        EnvFilter::try_from_env("LOCKDRILL_LOG").unwrap_or_else(|_| EnvFilter::new(LOGGED));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(std::io::stderr);
    // Somebody else may have set one already; then that one stays.
    let _ = log.try_init();
}

//! `lockdrill arm`, hidden: the director of one arm, started by its guard.

use crate::exit::Exit;
use crate::run::director;
use std::path::PathBuf;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// File that says what to run.
    #[arg(long)]
    spec: PathBuf,
}

/// Runs the subcommand.
pub(super) fn exec(args: &Args) -> Exit {
    director::main(&args.spec)
}

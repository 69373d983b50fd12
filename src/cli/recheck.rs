//! `lockdrill recheck`

use crate::exit::Exit;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Runs the subcommand.
pub(super) fn exec(_args: &Args) -> Exit {
    Exit::Bug
}

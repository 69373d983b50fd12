//! `lockdrill report`: draws the report of a recorded run again. Judges nothing: what was found
//! is read from `results.json`.

use crate::exit::Exit;
use crate::report;
use crate::say;
use std::path::{Path, PathBuf};

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Run directories, as `lockdrill run` printed them.
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
}

/// Runs the subcommand.
pub(super) fn exec(args: &Args) -> Exit {
    args.dirs
        .iter()
        .map(|dir| redraw(dir))
        .fold(Exit::Ok, Exit::worst)
}

fn redraw(dir: &Path) -> Exit {
    match report::redraw(dir) {
        Ok(written) => {
            say::out(format_args!("{}", written.page.display()));
            for (writer, error) in &written.failed {
                say::err(format_args!("lockdrill: {writer}: {error}"));
            }
            if written.failed.is_empty() {
                Exit::Ok
            } else {
                Exit::Environment
            }
        }
        Err(error) => {
            say::err(format_args!("lockdrill: {error}"));
            say::err(format_args!(
                "lockdrill: a run directory is one that `lockdrill run` has printed"
            ));
            Exit::Usage
        }
    }
}

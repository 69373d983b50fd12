//! `lockdrill report`: draws the report of a recorded run again. Judges nothing: what was found
//! is read from `results.json`.

use crate::exit::Exit;
use crate::report;
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
            println!("{}", written.page.display());
            for (writer, error) in &written.failed {
                eprintln!("lockdrill: {writer}: {error}");
            }
            if written.failed.is_empty() {
                Exit::Ok
            } else {
                Exit::Environment
            }
        }
        Err(error) => {
            eprintln!("lockdrill: {error}");
            eprintln!("lockdrill: a run directory is one that `lockdrill run` has printed");
            Exit::Usage
        }
    }
}

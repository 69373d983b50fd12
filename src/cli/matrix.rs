//! `lockdrill matrix`: drills against lock back ends, from the runs that a folder has. Plays
//! nothing.

use super::told::{json, lost_lines};
use crate::exit::Exit;
use crate::report::matrix;
use crate::say;
use std::path::PathBuf;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Folder of runs.
    #[arg(long, value_name = "DIR", default_value = "reports")]
    out: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(super) fn exec(args: &Args) -> Exit {
    if !args.out.is_dir() {
        say::err(format_args!(
            "lockdrill: {} is no folder",
            args.out.display()
        ));
        return Exit::Usage;
    }
    let made = matrix::read(&args.out, &matrix::suite());
    let (made, page) = match made.and_then(|made| Ok((matrix::write(&args.out, &made)?, made))) {
        Ok((page, made)) => (made, page),
        Err(error) => {
            say::err(format_args!("lockdrill: {error}"));
            return Exit::Environment;
        }
    };
    lost_lines(&args.out);
    if args.json {
        return json(&made);
    }
    say::out(format_args!("{}", matrix::text(&made)));
    say::out(format_args!("matrix: {}", page.display()));
    Exit::Ok
}

//! `lockdrill guard`: started by `lockdrill run`, once an arm.

use crate::env::guard::{self, Order};
use crate::env::isolation::Mode;
use crate::exit::Exit;
use crate::say;
use std::ffi::OsString;
use std::path::PathBuf;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Try every namespace in a throw-away process, and say what was refused.
    #[arg(long, exclusive = true)]
    probe: bool,
    /// Own namespaces, or the guard alone.
    #[arg(long, required_unless_present = "probe")]
    isolation: Option<Mode>,
    /// The arm's folder; it is removed at the end.
    #[arg(long, value_name = "DIR", required_unless_present = "probe")]
    state: Option<PathBuf>,
    /// Where standard error of guard and director go.
    #[arg(long, value_name = "FILE", required_unless_present = "probe")]
    log: Option<PathBuf>,
    /// The director's program instead of this one.
    #[arg(long, value_name = "PROGRAM")]
    exec: Option<PathBuf>,
    /// The director's arguments.
    #[arg(last = true)]
    args: Vec<OsString>,
}

/// Runs the subcommand. The director's exit code, whatever it is, must come through unchanged.
pub(super) fn exec(args: &Args) -> Exit {
    let (Some(mode), Some(state), Some(log)) = (args.isolation, &args.state, &args.log) else {
        return probe();
    };
    let code = guard::run(&Order {
        mode,
        state: state.clone(),
        log: log.clone(),
        program: args.exec.clone(),
        args: args.args.clone(),
    });
    std::process::exit(code)
}

fn probe() -> Exit {
    match guard::probe() {
        Ok(()) => Exit::Ok,
        Err(why) => {
            say::err(format_args!("{why}"));
            Exit::Environment
        }
    }
}

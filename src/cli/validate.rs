//! `lockdrill validate`: checks experiment files; starts and executes nothing.
//!
//! One line a good file on standard output; every problem of every other file, with an excerpt,
//! on standard error. Exit code 0 or 2.

use crate::exit::Exit;
use crate::experiment::{self, Experiment, LoadRequest, Overrides};
use std::io::{IsTerminal, Write};

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Names of drills or experiment files; none = every `experiments/*.toml`.
    files: Vec<String>,
    /// Set one path of every file to another value first, as `store.fence=off`.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Another lock back end.
    #[arg(long, value_name = "KIND")]
    lock: Option<String>,
    /// Another store.
    #[arg(long, value_name = "KIND")]
    store: Option<String>,
    /// Print the JSON schema of experiment files instead.
    #[arg(long, conflicts_with = "files")]
    schema: bool,
}

/// Runs the subcommand.
pub(super) fn exec(args: &Args) -> Exit {
    if args.schema {
        let _ = writeln!(std::io::stdout(), "{:#}", experiment::schema());
        return Exit::Ok;
    }
    let request = LoadRequest {
        drills: args.files.clone(),
        all: args.files.is_empty(),
        only_files: true,
        overrides: Overrides {
            set: args.set.clone(),
            lock: args.lock.clone(),
            store: args.store.clone(),
            seed: None,
        },
        ..LoadRequest::default()
    };
    let loaded = experiment::load_each(&request);
    for out in &loaded.left_out {
        let _ = writeln!(
            std::io::stdout(),
            "{}: does not apply: {}",
            out.drill,
            out.why
        );
    }
    for experiment in &loaded.experiments {
        // A reader that has seen enough (`| head`) is no error.
        let _ = writeln!(std::io::stdout(), "{}", line(experiment));
    }
    let refused = loaded.refused;
    if refused.is_empty() {
        return Exit::Ok;
    }
    let _ = write!(std::io::stderr(), "{}", refused.render(colour_on_stderr()));
    Exit::Usage
}

/// Colour only for a person at a terminal who has not refused it.
pub(super) fn colour_on_stderr() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && std::io::stderr().is_terminal()
}

fn line(experiment: &Experiment) -> String {
    let main = &experiment.main;
    let mut line = format!(
        "{}: good: {}, {}, {}",
        experiment.file,
        count(main.workers.len(), "worker"),
        count(main.faults.len(), "fault"),
        count(experiment.controls.len(), "control"),
    );
    for control in &experiment.not_applicable {
        line.push_str(&format!(
            "; control `{}` does not apply: {}",
            control.control, control.why
        ));
    }
    line
}

fn count(n: usize, noun: &str) -> String {
    match n {
        0 => format!("no {noun}"),
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}

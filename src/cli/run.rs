//! `lockdrill run`: from names to verdicts and reports.

use super::told::{told, unjudged};
use super::validate::colour_on_stderr;
use crate::env::isolation::{Choice, Mode};
use crate::env::sweep;
use crate::exit::Exit;
use crate::experiment::{self, Experiment, LoadRequest, Overrides};
use crate::report;
use crate::run::conductor::{self, Drill, Executed, Request};
use crate::run::console::Console;
use crate::run::preflight;
use crate::say;
use crate::verdict::{self, DrillResult, NotRun, Summary};
use std::path::PathBuf;

mod again;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Names of drills (`experiments/NAME.toml` here, else the copy in this program) or files.
    #[arg(required_unless_present = "all", value_name = "NAME|FILE")]
    drills: Vec<String>,
    /// Every `experiments/*.toml`.
    #[arg(long)]
    all: bool,
    /// Seed of every random choice.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How often each drill is executed.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repeat: u32,
    /// How many arms run side by side; the number of processors if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: Option<u32>,
    /// Leave the controls out: the drill then proves less, and says so.
    #[arg(long)]
    no_controls: bool,
    /// Another lock back end.
    #[arg(long, value_name = "KIND")]
    lock: Option<String>,
    /// Another store.
    #[arg(long, value_name = "KIND")]
    store: Option<String>,
    /// Set one path of every file to another value, as `store.fence=off`.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Folder for run directories.
    #[arg(long, value_name = "DIR", default_value = "reports")]
    out: PathBuf,
    /// Write one JUnit file over all executions.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
    /// How arms are kept apart from this machine.
    #[arg(long, value_enum, default_value = "auto")]
    isolation: Choice,
}

/// Runs the subcommand.
pub(super) fn exec(args: Args) -> Exit {
    let experiments = match experiment::load(&load_request(&args)) {
        Ok(experiments) => experiments,
        Err(refused) => {
            say::err(refused.render(colour_on_stderr()).trim_end());
            return Exit::Usage;
        }
    };
    let ready = match preflight::check(&args.out, args.junit.as_deref(), args.isolation) {
        Ok(ready) => ready,
        Err(error) => return not_ready(&error.to_string()),
    };
    let console = Console::new();
    if let Some(why) = &ready.fallback {
        console.note(&format!(
            "isolation: guard, because namespaces are refused: {why}"
        ));
    }
    sweep_dead(&console);
    let request = Request {
        drills: experiments
            .into_iter()
            .map(|experiment| drill(experiment, &args, ready.isolation))
            .collect(),
        repeat: args.repeat as usize,
        jobs: args.jobs.map_or_else(processors, |jobs| jobs as usize),
    };
    match conductor::run(&request, &ready, &console) {
        Ok(executed) => conclude(&args, &executed),
        Err(error) => not_ready(&format!(
            "cannot prepare a run directory: {error}; choose another folder with --out"
        )),
    }
}

fn load_request(args: &Args) -> LoadRequest {
    LoadRequest {
        drills: args.drills.clone(),
        all: args.all,
        overrides: Overrides {
            set: args.set.clone(),
            lock: args.lock.clone(),
            store: args.store.clone(),
            seed: args.seed,
        },
        ..LoadRequest::default()
    }
}

fn not_ready(message: &str) -> Exit {
    say::err(format_args!("error: {message}"));
    Exit::Environment
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What a dead run left must not be mistaken for this one's.
fn sweep_dead(console: &Console) {
    if let Err(error) = sweep::sweep_dead() {
        console.note(&format!("cannot look for what a dead run left: {error}"));
    }
}

fn drill(experiment: Experiment, args: &Args, mode: Mode) -> Drill {
    let again = again::again(args, mode, &experiment.name, experiment.main.seed);
    let mut not_run: Vec<(String, NotRun)> = experiment
        .not_applicable
        .into_iter()
        .map(|control| {
            let status = "not applicable".to_owned();
            (
                control.control,
                NotRun {
                    status,
                    why: control.why,
                },
            )
        })
        .collect();
    let mut controls = experiment.controls;
    if args.no_controls {
        not_run.extend(controls.drain(..).map(|plan| {
            let status = "skipped".to_owned();
            let why = "left out by --no-controls".to_owned();
            (plan.arm, NotRun { status, why })
        }));
    }
    Drill {
        main: experiment.main,
        controls,
        not_run,
        again,
    }
}

/// Judges, draws and tells what was executed.
fn conclude(args: &Args, executed: &[Executed]) -> Exit {
    let mut exit = Exit::Ok;
    let mut judged = Vec::new();
    for execution in executed {
        exit = exit.worst(execution.exit());
        for (arm, end) in &execution.ends {
            if let Some(error) = &end.error {
                say::err(format_args!("error: {}/{arm}: {error}", execution.drill));
            }
        }
        match verdict::judge_run_dir(&execution.dir) {
            Ok(result) => judged.push((execution, result)),
            Err(error) => {
                let (what, end) = unjudged(&execution.dir, &error);
                say::err(format_args!("error: {}: {what}", execution.drill));
                exit = exit.worst(end);
            }
        }
    }
    exit = exit.worst(draw_all(&judged));
    let drills = judged.into_iter().map(|(_, result)| result).collect();
    let summary = Summary::of(drills);
    exit = exit.worst(verdict::exit_of(&summary));
    if let Some(file) = &args.junit
        && let Err(error) = report::junit::write(file, &summary.drills)
    {
        say::err(format_args!(
            "error: cannot write {}: {error}",
            file.display()
        ));
        exit = exit.worst(Exit::Environment);
    }
    if args.json {
        match serde_json::to_string(&summary) {
            Ok(json) => say::out(format_args!("{json}")),
            Err(error) => {
                say::err(format_args!("error: {error}"));
                exit = Exit::Bug;
            }
        }
    } else {
        for result in &summary.drills {
            say::out(format_args!("{}", told(result)));
        }
    }
    exit
}

/// Writes every report. All results are on disk before the first page is drawn, so that each page
/// of a repeated drill knows how the others ended.
fn draw_all(judged: &[(&Executed, DrillResult)]) -> Exit {
    for (execution, result) in judged {
        // What cannot be written here is told when the page is drawn.
        let _ = report::keep(&execution.dir, result);
    }
    judged
        .iter()
        .map(|(execution, result)| draw(execution, result))
        .fold(Exit::Ok, Exit::worst)
}

/// Writes the report of one execution; what could not be written is told.
fn draw(execution: &Executed, result: &DrillResult) -> Exit {
    let problems: Vec<String> = match report::write_all(&execution.dir, result) {
        Ok(written) => {
            let failed = written.failed.iter();
            failed
                .map(|(name, error)| format!("{name}: {error}"))
                .collect()
        }
        Err(error) => vec![error.to_string()],
    };
    for problem in &problems {
        say::err(format_args!(
            "error: {}: no report: {problem}",
            execution.drill
        ));
    }
    if problems.is_empty() {
        Exit::Ok
    } else {
        Exit::Environment
    }
}

//! `lockdrill run`: from names to verdicts and reports.

use super::validate::colour_on_stderr;
use crate::env::isolation::Choice;
use crate::env::sweep;
use crate::exit::Exit;
use crate::experiment::{self, Experiment, LoadRequest, Loaded, Overrides};
use crate::report::retain;
use crate::run::conductor::{self, Drill, Request};
use crate::run::console::Console;
use crate::run::preflight::{self, OTHER_PROXY, Ready, Wish};
use crate::run::services;
use crate::run::shard::Shard;
use crate::run::target::Target;
use crate::say;
use crate::verdict::NotRun;
use std::path::{Path, PathBuf};

mod again;
mod conclude;
mod given;

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
    /// Only the executions of one part of the suite, as 2/5; `lockdrill merge` brings the parts
    /// together.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Afterwards remove the green runs of each drill but its newest N; other runs stay.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    keep: Option<u32>,
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
    /// A lock server that is there already instead of one of lockdrill's own: `compose` for that of
    /// docker-compose.yml, or redis://HOST:PORT. It must hold nobody else's keys; it is followed like
    /// a replica, never emptied, stopped or set, and drills that need that are refused.
    #[arg(long, value_name = "compose|URL")]
    target: Option<String>,
    /// Allow a target that is not on this machine.
    #[arg(long, requires = "target")]
    allow_remote: bool,
    /// How arms are kept apart from this machine.
    #[arg(long, value_enum, default_value = "auto")]
    isolation: Choice,
}

/// Runs the subcommand.
pub(super) fn exec(args: Args) -> Exit {
    let mut loaded = experiment::load_each(&load_request(&args));
    if !loaded.refused.is_empty() {
        say::err(loaded.refused.render(colour_on_stderr()).trim_end());
        return Exit::Usage;
    }
    let target = match given::target(&args, &mut loaded) {
        Ok(target) => target,
        Err(exit) => return exit,
    };
    if args.all {
        let named = |drill: &str| args.drills.iter().any(|given| stem_is(given, drill));
        services::leave_out(&mut loaded, !args.no_controls, named);
    }
    let Loaded {
        experiments,
        left_out,
        ..
    } = loaded;
    let ready = match ready(&args, &experiments, target) {
        Ok(ready) => ready,
        Err(exit) => return exit,
    };
    let in_use = match retain::in_use(&ready.out) {
        Ok(in_use) => in_use,
        Err(error) => return not_ready(&format!("{}: {error}", ready.out.display())),
    };
    let console = Console::new();
    if let Some((target, found)) = &ready.target {
        console.note(&format!(
            "lock server: Redis {} at {}, given and not started here; {} keys of dead runs there",
            found.version, target.address, found.left
        ));
    }
    if let Some(why) = &ready.fallback {
        console.note(&format!(
            "isolation: guard, because namespaces are refused: {why}"
        ));
    }
    sweep_dead(&console);
    let request = Request {
        drills: experiments
            .into_iter()
            .map(|experiment| drill(experiment, &args, &ready))
            .collect(),
        repeat: args.repeat as usize,
        jobs: args.jobs.map_or_else(processors, |jobs| jobs as usize),
        shard: args.shard,
    };
    match conductor::run(&request, &ready, &console) {
        Ok(executed) => {
            let exit = conclude::conclude(&args, &ready.out, (&executed, left_out));
            drop(in_use);
            exit.worst(conclude::retain(&args, &ready.out))
        }
        Err(error) => not_ready(&format!(
            "cannot prepare a run directory: {error}; choose another folder with --out"
        )),
    }
}

/// Everything that can be known before anything starts; what is wrong has been told.
fn ready(args: &Args, experiments: &[Experiment], target: Option<Target>) -> Result<Ready, Exit> {
    let executions = experiments.len() * args.repeat as usize;
    if let Some(shard) = args.shard
        && shard.share(executions) == 0
    {
        say::err(format_args!(
            "error: of {executions} executions none belongs to shard {shard}"
        ));
        return Err(Exit::Usage);
    }
    let wish = Wish {
        out: &args.out,
        junit: args.junit.as_deref(),
        isolation: args.isolation,
        target,
        plans: experiments
            .iter()
            .flat_map(|experiment| std::iter::once(&experiment.main).chain(&experiment.controls))
            .collect(),
    };
    let asked = wish.target.is_some() || args.isolation == Choice::Guard;
    if let (true, Some(what)) = (asked, preflight::needs_own_network(&wish.plans)) {
        let none = "--isolation guard and --target give none";
        say::err(format_args!("error: {what}: {none}; {OTHER_PROXY}"));
        return Err(Exit::Usage);
    }
    preflight::check(&wish).map_err(|error| not_ready(&error.to_string()))
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

/// What was given on the command line names this drill.
fn stem_is(given: &str, drill: &str) -> bool {
    let stem = Path::new(given).file_stem();
    stem.is_some_and(|stem| stem == drill)
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

fn drill(experiment: Experiment, args: &Args, ready: &Ready) -> Drill {
    let again = again::again(args, ready, &experiment.name, experiment.main.seed);
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

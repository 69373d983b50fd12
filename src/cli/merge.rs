//! `lockdrill merge`: the runs of several shards under one index, and the worst of their answers.

use crate::exit::Exit;
use crate::report::{self, ReportError, merge, retain};
use crate::say;
use crate::verdict::{DrillResult, Summary, exit_of};
use std::path::{Path, PathBuf};

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Folders of runs, as each shard's `--out` named them.
    #[arg(required = true, value_name = "DIR")]
    shards: Vec<PathBuf>,
    /// Folder that all runs are copied to.
    #[arg(long, value_name = "DIR", default_value = "reports")]
    out: PathBuf,
    /// Write one JUnit file over all runs that were new.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// Runs the subcommand.
pub(super) fn exec(args: &Args) -> Exit {
    if let Some(shard) = args.shards.iter().find(|shard| !shard.is_dir()) {
        say::err(format_args!("lockdrill: {} is no folder", shard.display()));
        return Exit::Usage;
    }
    let held = std::fs::create_dir_all(&args.out).and_then(|()| retain::in_use(&args.out));
    let _in_use = match held {
        Ok(in_use) => in_use,
        Err(error) => {
            say::err(format_args!("lockdrill: {}: {error}", args.out.display()));
            return Exit::Environment;
        }
    };
    let mut results = Vec::new();
    let mut exit = Exit::Ok;
    for shard in &args.shards {
        match merge::merge(shard, &args.out) {
            Ok(merged) => {
                say::out(format_args!(
                    "{}: {} new, {} known already",
                    shard.display(),
                    merged.runs.len(),
                    merged.known
                ));
                for run in &merged.unjudged {
                    say::err(format_args!("lockdrill: {}: no result", run.display()));
                    exit = exit.worst(Exit::Inconclusive);
                }
                for run in &merged.runs {
                    match draw(run) {
                        Ok(result) => results.push(result),
                        Err(error) => {
                            say::err(format_args!("lockdrill: {error}"));
                            exit = exit.worst(Exit::Environment);
                        }
                    }
                }
            }
            Err(error) => {
                say::err(format_args!("lockdrill: {error}"));
                exit = exit.worst(Exit::Environment);
            }
        }
    }
    conclude(args, results, exit)
}

/// The page of a run names its place and its siblings: both are others now.
fn draw(run: &Path) -> Result<DrillResult, ReportError> {
    let result = report::kept(run)?;
    report::write_run(run, &result)?;
    Ok(result)
}

fn conclude(args: &Args, results: Vec<DrillResult>, mut exit: Exit) -> Exit {
    if results.is_empty() {
        say::out("nothing was new");
        return exit;
    }
    let runs = results
        .iter()
        .map(|result| (Path::new(result.dir.as_str()), result));
    let remembered = report::past::remember(&args.out, runs).map(drop);
    let index = remembered.and_then(|()| report::write_index(&args.out).map(drop));
    if let Err(error) = index {
        say::err(format_args!("lockdrill: {error}"));
        exit = exit.worst(Exit::Environment);
    }
    let summary = Summary::of(results);
    if let Some(file) = &args.junit
        && let Err(error) = report::junit::write(file, &summary.drills)
    {
        say::err(format_args!("lockdrill: {}: {error}", file.display()));
        exit = exit.worst(Exit::Environment);
    }
    say::out(format_args!("{}", args.out.join("index.html").display()));
    exit.worst(exit_of(&summary))
}

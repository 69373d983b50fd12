//! `lockdrill merge`: the runs of several shards under one index, their histories in one file, and
//! the worst of their answers. What was merged before is not copied again, but its answer counts
//! each time: merging twice never turns a failing suite green.

use super::told::lost_lines;
use crate::exit::Exit;
use crate::report::past::file;
use crate::report::{self, ReportError, merge, past, retain};
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
    /// Write one JUnit file over all runs of these shards.
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
    let mut all = Vec::new();
    let mut exit = Exit::Ok;
    for shard in &args.shards {
        match bring(shard, &args.out) {
            Ok((results, end)) => {
                all.extend(results);
                exit = exit.worst(end);
            }
            Err(error) => {
                say::err(format_args!("lockdrill: {error}"));
                exit = exit.worst(Exit::Environment);
            }
        }
    }
    exit.worst(conclude(args, all))
}

/// Brings in one shard; every answer in it, old or new, and what was wrong with the others.
fn bring(shard: &Path, out: &Path) -> Result<(Vec<DrillResult>, Exit), ReportError> {
    let answers = answers(shard);
    let merged = merge::merge(shard, out)?;
    say::out(format_args!(
        "{}: {} new, {} known already",
        shard.display(),
        merged.runs.len(),
        merged.known
    ));
    let mut exit = Exit::Ok;
    let mut untold = |what: &str, path: &Path| {
        say::err(format_args!("lockdrill: {}: {what}", path.display()));
        exit = exit.worst(Exit::Inconclusive);
    };
    for run in &merged.unjudged {
        untold("no result", run);
    }
    if answers.is_empty() && merged.unjudged.is_empty() {
        untold("no run is in it", shard);
    }
    let mut new = Vec::new();
    for run in merged.runs {
        // Its page names its place and its siblings: both are others now.
        let result = report::kept(&run)?;
        report::write_run(&run, &result)?;
        new.push((run, result));
    }
    let runs = new.iter().map(|(run, result)| (run.as_path(), result));
    past::remember(out, runs)?;
    // The shard may have removed green runs; what they said is in its history all the same.
    lost_lines(shard);
    file::append(out, file::read(shard)?.entries)?;
    Ok((answers, exit))
}

/// What every judged run of a shard says.
fn answers(shard: &Path) -> Vec<DrillResult> {
    let inside = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        paths.sort();
        paths
    };
    let runs = inside(shard).into_iter().flat_map(|drill| inside(&drill));
    runs.filter_map(|run| report::kept(&run).ok()).collect()
}

fn conclude(args: &Args, all: Vec<DrillResult>) -> Exit {
    let mut exit = Exit::Ok;
    let mut failed = |file: &Path, error: &ReportError| {
        say::err(format_args!("lockdrill: {}: {error}", file.display()));
        exit = exit.worst(Exit::Environment);
    };
    match report::write_index(&args.out) {
        Ok(index) => say::out(format_args!("{}", index.display())),
        Err(error) => failed(&args.out, &error),
    }
    lost_lines(&args.out);
    let summary = Summary::of(all);
    if let Some(file) = &args.junit
        && let Err(error) = report::junit::write(file, &summary)
    {
        failed(file, &error);
    }
    exit.worst(exit_of(&summary))
}

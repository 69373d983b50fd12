//! `lockdrill recheck`: judges recorded runs again. Starts nothing, and writes nothing into a run
//! unless it is told to: what was found when it ran is a record too.

use crate::checks::{Finding, Outcome};
use crate::exit::Exit;
use crate::report;
use crate::say;
use crate::verdict::{ArmResult, DrillResult, Summary, exit_of, judge_run_dir};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Run directories, e.g. reports/pause/2026-01-31T12-00-00.
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Print one JSON object instead of lines for people.
    #[arg(long)]
    json: bool,
    /// Keep what is found as the run's `results.json`, for `lockdrill report` to draw.
    #[arg(long)]
    write: bool,
}

/// Runs the subcommand.
pub(super) fn exec(args: &Args) -> Exit {
    let mut drills = Vec::new();
    for dir in &args.dirs {
        match judge_run_dir(dir) {
            Ok(drill) => drills.push(drill),
            Err(error) => {
                say::err(format_args!("lockdrill: {error}"));
                return Exit::Usage;
            }
        }
    }
    let mut kept = Exit::Ok;
    for (dir, drill) in args.dirs.iter().zip(&drills) {
        kept = kept.worst(keep(dir, drill, args.write));
    }
    let summary = Summary::of(drills);
    let text = if args.json {
        match serde_json::to_string(&summary) {
            Ok(json) => json + "\n",
            Err(error) => {
                say::err(format_args!(
                    "lockdrill: cannot write the summary as JSON: {error}"
                ));
                return Exit::Bug;
            }
        }
    } else {
        summary.drills.iter().map(drill_text).collect()
    };
    // A reader that has gone away (`| head`) changes no verdict.
    let _ = std::io::stdout().write_all(text.as_bytes());
    kept.worst(exit_of(&summary))
}

/// Replaces what was found when the run was judged last, or says that it was something else.
fn keep(dir: &Path, drill: &DrillResult, write: bool) -> Exit {
    if write {
        if let Err(error) = report::keep(dir, drill) {
            say::err(format_args!("lockdrill: {error}"));
            return Exit::Environment;
        }
        return Exit::Ok;
    }
    if let Ok(before) = report::kept(dir)
        && before.verdict != drill.verdict
    {
        say::err(format_args!(
            "lockdrill: {}: its results.json still says {}; --write replaces it",
            dir.display(),
            before.verdict
        ));
    }
    Exit::Ok
}

fn drill_text(drill: &DrillResult) -> String {
    let arms: String = drill.arms.iter().map(arm_text).collect();
    format!(
        "{arms}{} {}, protection of the work: {}\n  {}\n  {}\n",
        drill.verdict, drill.drill, drill.protection, drill.why, drill.dir
    )
}

fn arm_text(arm: &ArmResult) -> String {
    let verdict = arm
        .verdict
        .map_or(arm.status.clone(), |verdict| verdict.to_string());
    let checks: String = arm.checks.iter().map(finding_text).collect();
    format!("arm {}: {verdict}; {}\n{checks}", arm.arm, arm.why)
}

fn finding_text(finding: &Finding) -> String {
    let mark = match finding.outcome {
        Outcome::Violated => "violated",
        Outcome::Unknown => "unknown",
        Outcome::Holds if finding.vacuous => "untested",
        Outcome::Holds => "holds",
    };
    format!("  {mark:<8} {:<16} {}\n", finding.check, finding.why)
}

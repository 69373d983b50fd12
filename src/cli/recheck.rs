//! `lockdrill recheck`: judges recorded runs again. Starts nothing, writes nothing into a run.

use crate::checks::{Finding, Outcome};
use crate::exit::Exit;
use crate::say;
use crate::verdict::{ArmResult, DrillResult, Summary, exit_of, judge_run_dir};
use std::io::Write;
use std::path::PathBuf;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Run directories, e.g. reports/pause/2026-01-31T12-00-00.
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Print one JSON object instead of lines for people.
    #[arg(long)]
    json: bool,
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
    exit_of(&summary)
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

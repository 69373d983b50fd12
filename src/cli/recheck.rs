//! `lockdrill recheck`: judges recorded runs again. Starts nothing, writes nothing into a run.

use crate::checks::Outcome;
use crate::exit::Exit;
use crate::verdict::{ArmResult, DrillResult, Summary, exit_of, judge_run_dir};
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
                eprintln!("lockdrill: {error}");
                return Exit::Usage;
            }
        }
    }
    let summary = Summary::of(drills);
    if args.json {
        match serde_json::to_string(&summary) {
            Ok(json) => println!("{json}"),
            Err(error) => {
                eprintln!("lockdrill: cannot write the summary as JSON: {error}");
                return Exit::Bug;
            }
        }
    } else {
        for drill in &summary.drills {
            print_drill(drill);
        }
    }
    exit_of(&summary)
}

fn print_drill(drill: &DrillResult) {
    for arm in &drill.arms {
        print_arm(arm);
    }
    println!(
        "{} {}, protection of the work: {}",
        drill.verdict, drill.drill, drill.protection
    );
    println!("  {}", drill.why);
    println!("  {}", drill.dir);
}

fn print_arm(arm: &ArmResult) {
    let verdict = arm
        .verdict
        .map_or(arm.status.clone(), |verdict| verdict.to_string());
    println!("arm {}: {verdict}; {}", arm.arm, arm.why);
    for finding in &arm.checks {
        let mark = match finding.outcome {
            Outcome::Violated => "violated",
            Outcome::Unknown => "unknown ",
            Outcome::Holds if finding.vacuous => "untested",
            Outcome::Holds => "holds   ",
        };
        println!("  {mark} {:<16} {}", finding.check, finding.why);
    }
}

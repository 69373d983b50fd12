//! The end of `lockdrill run`: what was executed is judged, drawn, remembered and told.

use super::Args;
use crate::cli::told::{json, lost_lines, told, unjudged};
use crate::exit::Exit;
use crate::report;
use crate::report::retain::{self, Retained};
use crate::run::conductor::Executed;
use crate::say;
use crate::verdict::{self, DrillResult, LeftOut, Summary};
use std::path::Path;

/// Judges, draws and tells what was executed.
pub(super) fn conclude(
    args: &Args,
    out: &Path,
    (executed, left_out): (&[Executed], Vec<LeftOut>),
) -> Exit {
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
    exit = exit.worst(draw_all(out, &judged));
    let drills = judged.into_iter().map(|(_, result)| result).collect();
    let mut summary = Summary::of(drills);
    summary.not_applicable = left_out;
    exit = exit.worst(verdict::exit_of(&summary));
    if let Some(file) = &args.junit
        && let Err(error) = report::junit::write(file, &summary)
    {
        say::err(format_args!(
            "error: cannot write {}: {error}",
            file.display()
        ));
        exit = exit.worst(Exit::Environment);
    }
    exit.worst(print(args, &summary))
}

fn print(args: &Args, summary: &Summary) -> Exit {
    if !args.json {
        for out in &summary.not_applicable {
            say::out(format_args!("{}: not applicable: {}", out.drill, out.why));
        }
        for result in &summary.drills {
            say::out(format_args!("{}", told(result)));
        }
        return Exit::Ok;
    }
    json(summary)
}

/// Writes every report. All results are on disk before the first page is drawn, so that each page
/// of a repeated drill knows how the others ended.
fn draw_all(out: &Path, judged: &[(&Executed, DrillResult)]) -> Exit {
    for (execution, result) in judged {
        // What cannot be written here is told when the page is drawn.
        let _ = report::keep(&execution.dir, result);
    }
    let drawn = judged
        .iter()
        .map(|(execution, result)| draw(execution, result))
        .fold(Exit::Ok, Exit::worst);
    let runs = judged
        .iter()
        .map(|(execution, result)| (execution.dir.as_path(), result));
    let remembered = match report::past::remember(out, runs) {
        Ok(_) => {
            lost_lines(out);
            Exit::Ok
        }
        Err(error) => {
            say::err(format_args!("error: not added to the history: {error}"));
            Exit::Environment
        }
    };
    drawn.worst(remembered).worst(index(out))
}

/// Writes the report of one execution; what could not be written is told.
fn draw(execution: &Executed, result: &DrillResult) -> Exit {
    let problems: Vec<String> = match report::write_run(&execution.dir, result) {
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

/// Writes the index of all runs; what could not be written is told.
fn index(out: &Path) -> Exit {
    match report::write_index(out) {
        Ok(_) => Exit::Ok,
        Err(error) => {
            say::err(format_args!("error: no index: {error}"));
            Exit::Environment
        }
    }
}

/// Removes what `--keep` does not keep, and says what.
pub(super) fn retain(args: &Args, out: &Path) -> Exit {
    let Some(keep) = args.keep else {
        return Exit::Ok;
    };
    match retain::retain(out, keep as usize) {
        Ok(Retained::Removed(runs)) => {
            for run in &runs {
                say::err(format_args!("removed {}", run.display()));
            }
            if runs.is_empty() {
                return Exit::Ok;
            }
            index(out)
        }
        Ok(Retained::Busy) => {
            say::err("nothing removed: another run writes into this folder");
            Exit::Ok
        }
        Err(error) => {
            say::err(format_args!("error: cannot remove old runs: {error}"));
            Exit::Environment
        }
    }
}

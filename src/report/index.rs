//! `index.html`, one level above the drills' folders: every run with its verdict, and how each
//! drill has fared. Made anew from the runs' own `results.json`; one that cannot be read loses
//! only itself.

use super::bound::{exact_95, per_cent};
use super::error::ReportError;
use super::html::{self, shell};
use super::model::Model;
use super::past::{file, trend as trends};
use super::words::{count, protection_word, verdict_word};
use super::{Writer, put, results};
use crate::run::run_dir;
use crate::verdict::{ArmResult, DrillResult, Verdict};
use maud::{Markup, PreEscaped, html};
use std::fs;
use std::path::{Path, PathBuf};

mod changed;
mod checklist;
mod matrix;
mod near;
mod strip;
mod trend;
mod worse;

/// Name of the page.
pub const FILE: &str = "index.html";

/// More runs of one drill than this are not read: the youngest count.
const RUNS_MAX: usize = 500;

/// More runs of one drill than this are not listed.
const LISTED_MAX: usize = 20;

/// The writer.
pub(super) struct Index;

impl Writer for Index {
    fn name(&self) -> &'static str {
        FILE
    }

    fn write(&self, model: &Model) -> Result<Option<PathBuf>, ReportError> {
        let Some(root) = root(&model.dir, &model.result.drill) else {
            return Ok(None);
        };
        write(&root).map(Some)
    }
}

/// Writes the page over all runs of a folder.
pub(super) fn write(root: &Path) -> Result<PathBuf, ReportError> {
    let path = root.join(FILE);
    put(&path, page(root, &read(root))?.into_string().as_bytes())?;
    Ok(path)
}

/// One run directory.
struct Run {
    id: String,
    result: Result<DrillResult, String>,
}

/// Every run of one drill, youngest first.
struct Drill {
    name: String,
    runs: Vec<Run>,
}

/// The folder that holds all drills' runs, if this run lies where runs lie:
/// `<root>/<drill>/<run id>`. A directory that was copied elsewhere has no index to keep.
pub(super) fn root(run: &Path, drill: &str) -> Option<PathBuf> {
    let dir = run.canonicalize().ok()?;
    let drill_dir = dir.parent()?;
    (drill_dir.file_name()?.to_str()? == drill).then(|| drill_dir.parent().map(Path::to_owned))?
}

fn read(root: &Path) -> Vec<Drill> {
    let drills = folders(root).into_iter().filter_map(|name| {
        let mut ids = folders(&root.join(&name));
        ids.reverse();
        ids.truncate(RUNS_MAX);
        let runs: Vec<Run> = ids
            .into_iter()
            .filter_map(|id| read_run(&root.join(&name).join(&id), id))
            .collect();
        (!runs.is_empty()).then_some(Drill { name, runs })
    });
    drills.collect()
}

/// None if the folder is no run directory at all.
fn read_run(dir: &Path, id: String) -> Option<Run> {
    if !dir.join(run_dir::PLAN).exists() && !dir.join(run_dir::RESULTS).exists() {
        return None;
    }
    let result = results::read(dir).map_err(|error| error.to_string());
    Some(Run { id, result })
}

/// Names of the folders in a folder, sorted; links are not followed.
fn folders(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}

fn page(root: &Path, drills: &[Drill]) -> Result<Markup, ReportError> {
    let past = file::read(root)?;
    let series = trends::series(&past.entries);
    let body = html! {
        h1 { "Runs" }
        p.crumb { a href="#words" { "words used here" } }
        p.lead { "Each verdict speaks of its own run. A number of runs that passed bounds how often the same schedule fails, and nothing else." }
        @if drills.is_empty() { p { "There is no run here." } }
        (trend::section(root, &past, &series))
        (checklist::section(root, &series))
        @for drill in drills { (section(drill)) }
    }
    .into_string();
    let words = html::words_used(&body);
    Ok(shell("runs", &html! { (PreEscaped(body)) (words) }))
}

fn section(drill: &Drill) -> Markup {
    html! {
        section {
            h2 { (drill.name) }
            p { (dots(drill)) " " (rate(drill)) }
            table.runs {
                thead { tr {
                    th scope="col" { "run" } th scope="col" { "verdict" } th scope="col" { "protection of the work" }
                    th scope="col" { "controls" } th scope="col" { "why" }
                } }
                tbody { @for run in drill.runs.iter().take(LISTED_MAX) { (row(drill, run)) } }
            }
            @if drill.runs.len() > LISTED_MAX { p { "and " (count(drill.runs.len() - LISTED_MAX, "older run")) "." } }
        }
    }
}

/// One sign a run, oldest first.
fn dots(drill: &Drill) -> Markup {
    html! {
        span.dots {
            @for run in drill.runs.iter().take(LISTED_MAX).rev() {
                @let (class, sign) = mark(run);
                span class=(format!("outcome {class}")) title=(run.id) { (sign) }
            }
        }
    }
}

fn mark(run: &Run) -> (&'static str, &'static str) {
    match run.result.as_ref().map(|result| result.verdict) {
        Ok(verdict) => trend::mark(verdict),
        Err(_) => ("vacuous", "–"),
    }
}

fn rate(drill: &Drill) -> String {
    let verdicts = drill
        .runs
        .iter()
        .filter_map(|run| run.result.as_ref().ok())
        .map(|result| result.verdict);
    let (mut told, mut failed, mut limits) = (0_u32, 0_u32, 0_u32);
    for verdict in verdicts {
        match verdict {
            Verdict::Pass => told += 1,
            Verdict::Limit => {
                told += 1;
                limits += 1;
            }
            Verdict::Fail => {
                told += 1;
                failed += 1;
            }
            Verdict::Inconclusive => {}
        }
    }
    if told == 0 {
        return "No run here has an answer.".to_owned();
    }
    let runs = count(usize::try_from(told).unwrap_or(usize::MAX), "run");
    if limits > 0 {
        let passed = told - failed - limits;
        return format!(
            "Of {runs}, {limits} reached the limit that the drill's file names, {passed} passed, {failed} failed."
        );
    }
    let interval = exact_95(u64::from(failed), u64::from(told));
    format!(
        "{failed} of {runs} failed ({} to {}, exact 95 % interval).",
        per_cent(interval.low),
        per_cent(interval.high)
    )
}

fn row(drill: &Drill, run: &Run) -> Markup {
    let href = format!("{}/{}/{}", drill.name, run.id, html::FILE);
    html! {
        tr {
            th scope="row" { a href=(href) { (run.id) } }
            @match &run.result {
                Ok(result) => {
                    @let (class, sign) = mark(run);
                    td { span class=(format!("outcome {class}")) { (sign) " " (verdict_word(result.verdict)) } }
                    td data-of="protection of the work" { (protection_word(result.protection)) }
                    td data-of="controls" { (controls(result)) }
                    td.wide { (result.why) }
                }
                Err(error) => {
                    td { span.outcome.vacuous { "– unreadable" } }
                    td colspan="3" { (error) }
                }
            }
        }
    }
}

fn controls(result: &DrillResult) -> String {
    let controls = result.arms.get(1..).unwrap_or_default();
    if controls.is_empty() {
        return "none".to_owned();
    }
    let red = |wanted| {
        let fits = |arm: &&ArmResult| arm.red_as_required == wanted;
        controls.iter().filter(fits).count()
    };
    let (as_required, not, left_out) = (red(Some(true)), red(Some(false)), red(None));
    let parts = [
        (as_required, format!("{as_required} red, as required")),
        (not, format!("{not} NOT red")),
        (left_out, format!("{left_out} did not run")),
    ];
    let told: Vec<String> = parts
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(_, words)| words)
        .collect();
    told.join(", ")
}

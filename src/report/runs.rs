//! The other runs of the same schedule: run directories beside this one whose main arm has the
//! same plan but for the seed, on the same versions and machine. What cannot be read does not count.

use super::model::Model;
use super::record::{Fact, read_facts};
use super::results;
use crate::plan::Plan;
use crate::run::run_dir;
use crate::verdict::Verdict;
use std::fs;
use std::path::{Path, PathBuf};

/// More run directories than this are not read: the youngest count.
const RUNS_MAX: usize = 500;

/// One run of the schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sibling {
    /// Name of its run directory.
    pub id: String,
    /// How it ended.
    pub verdict: Verdict,
    /// It is the run that the page tells of.
    pub here: bool,
}

/// How the runs of one schedule ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Series {
    /// Every run, oldest first.
    pub runs: Vec<Sibling>,
    /// Pass.
    pub passed: usize,
    /// Limit: what the file names beforehand happened.
    pub limits: usize,
    /// Fail.
    pub failed: usize,
    /// Inconclusive: these tell nothing about the rate.
    pub inconclusive: usize,
}

impl Series {
    /// Runs that have an answer.
    pub fn told(&self) -> usize {
        self.passed + self.limits + self.failed
    }

    /// Which of the runs the page tells of, from 1; 0 if it is not among them.
    pub fn place(&self) -> usize {
        self.runs
            .iter()
            .position(|run| run.here)
            .map_or(0, |index| index + 1)
    }

    fn count(&mut self, sibling: Sibling) {
        match sibling.verdict {
            Verdict::Pass => self.passed += 1,
            Verdict::Limit => self.limits += 1,
            Verdict::Fail => self.failed += 1,
            Verdict::Inconclusive => self.inconclusive += 1,
        }
        self.runs.push(sibling);
    }
}

/// This run and those beside it that ran the same schedule.
pub fn series(model: &Model) -> Series {
    let mut series = Series::default();
    series.count(Sibling {
        id: name(
            &model
                .dir
                .canonicalize()
                .unwrap_or_else(|_| model.dir.clone()),
        ),
        verdict: model.result.verdict,
        here: true,
    });
    let Some(plan) = model.plan().map(schedule) else {
        return series;
    };
    let versions = versions(&model.facts);
    for dir in siblings(&model.dir) {
        if let Some(verdict) = same(&dir, &plan, &versions) {
            series.count(Sibling {
                id: name(&dir),
                verdict,
                here: false,
            });
        }
    }
    series.runs.sort_by(|a, b| a.id.cmp(&b.id));
    series
}

fn name(dir: &Path) -> String {
    let name = dir.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn same(dir: &Path, plan: &Plan, versions_here: &[Fact]) -> Option<Verdict> {
    let text = fs::read_to_string(dir.join(run_dir::PLAN)).ok()?;
    let other: Plan = serde_json::from_str(&text).ok()?;
    if schedule(&other) != *plan || versions(&read_facts(dir).ok()?) != versions_here {
        return None;
    }
    Some(results::read(dir).ok()?.verdict)
}

fn schedule(plan: &Plan) -> Plan {
    Plan {
        seed: 0,
        ..plan.clone()
    }
}

/// Facts that differ between runs of the same thing.
const OF_THE_MOMENT: [&str; 4] = ["command", "load_1m", "noise", "prepared"];

fn versions(facts: &[Fact]) -> Vec<Fact> {
    let lasting = |fact: &&Fact| {
        let first = fact.name.split('.').next().unwrap_or_default();
        !OF_THE_MOMENT.contains(&first)
    };
    facts.iter().filter(lasting).cloned().collect()
}

fn siblings(dir: &Path) -> Vec<PathBuf> {
    let Ok(dir) = dir.canonicalize() else {
        return Vec::new();
    };
    let Some(Ok(entries)) = dir.parent().map(fs::read_dir) else {
        return Vec::new();
    };
    let mut others: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| *path != dir)
        .collect();
    others.sort_unstable_by(|a, b| b.cmp(a));
    others.truncate(RUNS_MAX);
    others
}

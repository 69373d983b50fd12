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

/// How the runs of one schedule ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Series {
    /// Pass or limit.
    pub passed: usize,
    /// Fail.
    pub failed: usize,
    /// Inconclusive: these tell nothing about the rate.
    pub inconclusive: usize,
}

impl Series {
    /// Runs that have an answer.
    pub fn told(&self) -> usize {
        self.passed + self.failed
    }

    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Pass | Verdict::Limit => self.passed += 1,
            Verdict::Fail => self.failed += 1,
            Verdict::Inconclusive => self.inconclusive += 1,
        }
    }
}

/// This run and those beside it that ran the same schedule.
pub fn series(model: &Model) -> Series {
    let mut series = Series::default();
    series.count(model.result.verdict);
    let Some(plan) = model.plan().map(schedule) else {
        return series;
    };
    let versions = versions(&model.facts);
    for dir in siblings(&model.dir) {
        if let Some(verdict) = same(&dir, &plan, &versions) {
            series.count(verdict);
        }
    }
    series
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

//! From many nights to what matters: how each drill fared, what got worse, and since when. A
//! series is one drill on one lock and one store.

use super::Entry;
use crate::checks::Outcome;
use crate::report::bound::{Interval, exact_95};
use crate::verdict::{Protection, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// One night of one series.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Night {
    /// Executions that passed, reached the limit, failed, could not tell.
    pub counts: [u32; 4],
    /// Executions that could not tell, or could only when repeated.
    pub unsettled: u32,
    /// The worst outcome of each check.
    pub checks: BTreeMap<String, Outcome>,
    /// Checks that its drill's file named beforehand as its limit.
    pub limit: BTreeSet<String>,
    /// The last run of the night with its worst verdict.
    pub worst_run: Option<(Verdict, String)>,
    /// What became of the work in that run.
    pub protection: Option<Protection>,
    /// Controls of that run that stayed green.
    pub green: Vec<String>,
    /// Why that run ended so.
    pub why: String,
    /// Figures of all its executions: the least of those that end in `_min_ns`, the sum of those
    /// that end in `_n`, of all others the most.
    pub figures: BTreeMap<String, i64>,
}

impl Night {
    /// All executions.
    pub fn executions(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// The worst verdict; none if nothing ran.
    pub fn worst(&self) -> Option<Verdict> {
        self.worst_run.as_ref().map(|(verdict, _)| *verdict)
    }

    fn add(&mut self, entry: &Entry) {
        self.counts[place(entry.verdict)] += 1;
        if entry.verdict == Verdict::Inconclusive || entry.attempts > 1 {
            self.unsettled += 1;
        }
        for (check, outcome) in &entry.checks {
            let worst = self.checks.entry(check.clone()).or_insert(*outcome);
            if badness(*outcome) > badness(*worst) {
                *worst = *outcome;
            }
        }
        self.limit.extend(entry.limit.iter().cloned());
        for (name, value) in &entry.figures {
            let known = self.figures.get(name).copied();
            let both = known.map_or(*value, |known| match name.as_str() {
                name if name.ends_with("_min_ns") => known.min(*value),
                name if name.ends_with("_n") => known.saturating_add(*value),
                _ => known.max(*value),
            });
            self.figures.insert(name.clone(), both);
        }
        let worst = self.worst();
        if worst.is_none_or(|worst| worst.worst(entry.verdict) == entry.verdict) {
            self.worst_run = Some((entry.verdict, entry.run.clone()));
            self.why.clone_from(&entry.why);
            self.protection = Some(entry.protection);
            let controls = entry.controls.iter();
            let green = controls.filter(|(_, red)| **red == Some(false));
            self.green = green.map(|(name, _)| name.clone()).collect();
        }
    }

    /// The violation of this check is the limit that the drill's file names, whatever else was
    /// violated beside it. A line of an older lab does not say which checks those are.
    pub fn foretells(&self, check: &str) -> bool {
        self.limit.contains(check)
            || (self.limit.is_empty() && self.worst() == Some(Verdict::Limit))
    }

    /// A figure by its name; none if no execution has it.
    pub fn figure(&self, name: &str) -> Option<i64> {
        self.figures.get(name).copied()
    }
}

fn badness(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Holds => 0,
        Outcome::Unknown => 1,
        Outcome::Violated => 2,
    }
}

pub(super) fn place(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Pass => 0,
        Verdict::Limit => 1,
        Verdict::Fail => 2,
        Verdict::Inconclusive => 3,
    }
}

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rate {
    /// Seen.
    pub k: u32,
    /// Of.
    pub n: u32,
}

impl Rate {
    /// The exact 95 % interval.
    pub fn interval(self) -> Interval {
        exact_95(u64::from(self.k), u64::from(self.n))
    }
}

/// One drill on one lock and one store.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Drill.
    pub drill: String,
    /// Lock and store.
    pub on: String,
    /// By date, oldest first.
    pub nights: BTreeMap<String, Night>,
    /// Digest of the plan that ran last.
    pub plan: String,
    /// First night of that plan.
    pub plan_since: String,
    /// Fails among the executions of that plan that had an answer.
    pub failed: Rate,
    /// Executions of that plan that reached the limit that its file names.
    pub limits: u32,
    /// Executions of that plan that were not settled at once.
    pub unsettled: Rate,
    /// Executions of other plans, which count no more.
    pub earlier: u32,
}

impl Series {
    /// It is made of this execution, among others.
    pub fn has(&self, entry: &Entry) -> bool {
        entry.drill == self.drill && entry.on() == self.on
    }

    /// Its last night.
    pub fn last(&self) -> Option<&Night> {
        self.nights.values().next_back()
    }
}

/// Every series of a history, in the order of their names. Entries must be oldest first.
pub fn series(entries: &[Entry]) -> Vec<Series> {
    let mut all: BTreeMap<(String, String), Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        all.entry((entry.drill.clone(), entry.on()))
            .or_default()
            .push(entry);
    }
    let made = all.into_iter().map(|((drill, on), of)| one(drill, on, &of));
    made.collect()
}

fn one(drill: String, on: String, entries: &[&Entry]) -> Series {
    let plan = entries.last().map(|entry| entry.plan.clone());
    let mut series = Series {
        drill,
        on,
        plan: plan.unwrap_or_default(),
        ..Series::default()
    };
    for entry in entries {
        let night = series.nights.entry(entry.night().to_owned()).or_default();
        night.add(entry);
        if entry.plan != series.plan {
            series.earlier += 1;
            continue;
        }
        if series.plan_since.is_empty() {
            entry.night().clone_into(&mut series.plan_since);
        }
        series.unsettled.n += 1;
        if entry.verdict == Verdict::Inconclusive || entry.attempts > 1 {
            series.unsettled.k += 1;
        }
        if entry.verdict != Verdict::Inconclusive {
            series.failed.n += 1;
            series.failed.k += u32::from(entry.verdict == Verdict::Fail);
            series.limits += u32::from(entry.verdict == Verdict::Limit);
        }
    }
    series
}

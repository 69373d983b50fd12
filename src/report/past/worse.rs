//! What got worse in a series: since when, for how many executions, and what makes it bad.

use super::trend::{Night, Series, place};
use crate::checks::Outcome;
use crate::verdict::{Protection, Verdict};

/// What got worse and stayed so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worse {
    /// How it ended in the last night.
    pub verdict: Verdict,
    /// The first night from which on it was never better.
    pub since: String,
    /// How many nights ran before that; 0 = it was never better.
    pub before: usize,
    /// Nights since, that night included.
    pub nights: usize,
    /// The run to look at.
    pub run: String,
    /// Executions since, of that night and all later ones.
    pub executions: u32,
    /// Executions of the last night that ended so.
    pub last: (u32, u32),
    /// Checks that were violated in the last night and that the drill's file does not foretell.
    pub checks: Vec<String>,
    /// Violated as the drill's file foretells: its limit, which is no failure by itself.
    pub foretold: Vec<String>,
    /// The work was lost in the run to look at.
    pub lost: bool,
    /// Controls of the run to look at that stayed green.
    pub green: Vec<String>,
    /// Why the run to look at ended as it did.
    pub why: String,
}

impl Series {
    /// What got worse, if the last night was no good one or worse than the one before it.
    pub fn worse(&self) -> Option<Worse> {
        let nights: Vec<(&String, &Night)> = self.nights.iter().collect();
        let (_, last) = nights.last()?;
        let (verdict, run) = last.worst_run.clone()?;
        let no_better = |night: &Night| night.worst().is_some_and(|w| w.worst(verdict) == w);
        let streak = nights
            .iter()
            .rev()
            .take_while(|(_, night)| no_better(night));
        let streak = streak.count();
        let before = nights.len() - streak;
        let green = matches!(verdict, Verdict::Pass | Verdict::Limit);
        if verdict == Verdict::Pass || (green && before == 0) {
            return None;
        }
        let violated = last.checks.iter().filter(|(_, o)| **o == Outcome::Violated);
        let violated = violated.map(|(check, _)| check.clone());
        let (foretold, checks) = violated.partition(|check| last.foretells(check));
        let since = nights.iter().skip(before);
        Some(Worse {
            verdict,
            since: nights[before].0.clone(),
            before,
            nights: streak,
            run,
            why: last.why.clone(),
            executions: since.map(|(_, night)| night.executions()).sum(),
            last: (last.counts[place(verdict)], last.executions()),
            checks,
            foretold,
            lost: last.protection == Some(Protection::Lost),
            green: last.green.clone(),
        })
    }
}

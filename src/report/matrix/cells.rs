//! The cells, from what fits and what was recorded: pure.
//!
//! A cell stands as the worst of its last night, as everywhere else in the folder; how often it
//! ended so is counted over all nights of the same plan.

use super::super::past::Entry;
use super::{Cell, Drill, Fit, Lock, Matrix, State};
use crate::report::story::bare;
use crate::report::words::{count, protection_word};
use crate::verdict::{Protection, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// The matrix of a suite and a history. Entries must be oldest first. Drills and back ends that only
/// the history knows are in it, too; of those the plan that ran last counts.
pub fn build(suite: &[Fit], entries: &[Entry]) -> Matrix {
    let locks = columns(suite, entries);
    let fits: BTreeMap<(&str, &str), &Fit> = suite
        .iter()
        .map(|fit| ((fit.drill.as_str(), fit.lock.as_str()), fit))
        .collect();
    let mut of: BTreeMap<(&str, &str), Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        let place = (entry.drill.as_str(), entry.lock.as_str());
        of.entry(place).or_default().push(entry);
    }
    let names = suite.iter().map(|fit| fit.drill.as_str());
    let names: BTreeSet<&str> = names.chain(of.keys().map(|(drill, _)| *drill)).collect();
    let row = |drill: &str| Drill {
        drill: drill.to_owned(),
        cells: locks
            .iter()
            .map(|lock| {
                let place = (drill, lock.name.as_str());
                let played = of.get(&place).map_or(&[][..], Vec::as_slice);
                cell(&lock.name, fits.get(&place).copied(), played)
            })
            .collect(),
    };
    Matrix {
        drills: names.into_iter().map(row).collect(),
        locks,
        lost_lines: 0,
    }
}

/// The back ends of the suite in its order, then those that only the history knows.
fn columns(suite: &[Fit], entries: &[Entry]) -> Vec<Lock> {
    let mut names: Vec<&str> = Vec::new();
    let suites = suite.iter().map(|fit| fit.lock.as_str());
    for name in suites.chain(entries.iter().map(|entry| entry.lock.as_str())) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let lock = |name: &str| Lock {
        name: name.to_owned(),
        none: if entries.iter().any(|entry| entry.lock == name) {
            None
        } else {
            no_drill(suite, name)
        },
    };
    names.into_iter().map(lock).collect()
}

/// Why no drill of the suite can be played on a back end: the reason that most of them have.
fn no_drill(suite: &[Fit], lock: &str) -> Option<String> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for fit in suite.iter().filter(|fit| fit.lock == lock) {
        let why = fit.plan.as_ref().err()?;
        *reasons.entry(why).or_default() += 1;
    }
    let most = reasons.into_iter().max_by_key(|(_, n)| *n);
    most.map(|(why, _)| why.to_owned())
}

fn cell(lock: &str, fit: Option<&Fit>, played: &[&Entry]) -> Cell {
    let plan = match fit.map(|fit| &fit.plan) {
        Some(Err(why)) => return Cell::unplayed(lock, State::NotApplicable, why),
        Some(Ok(plan)) => Some(plan.as_str()),
        None => played.last().map(|entry| entry.plan.as_str()),
    };
    let same = played.iter().filter(|entry| Some(&*entry.plan) == plan);
    let same: Vec<&Entry> = same.copied().collect();
    let other = u32::try_from(played.len() - same.len()).unwrap_or(u32::MAX);
    let Some(last) = same.last() else {
        let why = match played.len() {
            0 => "nobody has played it here".to_owned(),
            n => format!(
                "not as the drill's file has it now: {} of another plan, with other settings or of an older file, do not count",
                count(n, "execution")
            ),
        };
        return Cell {
            other,
            ..Cell::unplayed(lock, State::NotPlayed, why)
        };
    };
    let told = worst_of_night(&same, last);
    Cell {
        other,
        ..counted(lock, &same, told)
    }
}

/// Of the last night the worst, and of several such the last.
fn worst_of_night<'e>(same: &[&'e Entry], last: &'e Entry) -> &'e Entry {
    let night = same.iter().filter(|entry| entry.night() == last.night());
    let worst = night.copied().reduce(|worst, entry| {
        if worst.verdict.worst(entry.verdict) == entry.verdict {
            entry
        } else {
            worst
        }
    });
    worst.unwrap_or(last)
}

fn counted(lock: &str, same: &[&Entry], told: &Entry) -> Cell {
    let ended = |verdict| {
        let so = same.iter().filter(|entry| entry.verdict == verdict);
        u32::try_from(so.count()).unwrap_or(u32::MAX)
    };
    let all = u32::try_from(same.len()).unwrap_or(u32::MAX);
    let inconclusive = ended(Verdict::Inconclusive);
    let state = State::from(told.verdict);
    let red = told.controls.values().filter(|red| **red == Some(true));
    Cell {
        saved: saved(told.protection).to_owned(),
        why: match told.verdict {
            Verdict::Pass | Verdict::Limit => {
                format!(
                    "{}; the work: {}",
                    bare(&told.why),
                    protection_word(told.protection)
                )
            }
            Verdict::Fail | Verdict::Inconclusive => bare(&told.why).to_owned(),
        },
        k: ended(told.verdict),
        n: match state {
            State::Inconclusive => all,
            _ => all - inconclusive,
        },
        failed: ended(Verdict::Fail),
        inconclusive,
        controls_red: red.count(),
        controls: told.controls.len(),
        night: Some(told.night().to_owned()),
        run: Some(told.run.clone()),
        ..Cell::unplayed(lock, state, "")
    }
}

/// What saved the work, as far as the history alone can tell.
const fn saved(protection: Protection) -> &'static str {
    match protection {
        Protection::Kept => "kept",
        Protection::KeptByFencing => "fence",
        Protection::Lost => "nothing",
        Protection::NotTested => "not tested",
    }
}

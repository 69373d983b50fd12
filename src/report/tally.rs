//! One line that sums up an arm: how many sections were to be entered, how many were, whether two
//! were at work at once, what became of stale writes. Numbers of one run: they bound nothing.

use super::counts::{counts, drill_ends};
use super::scene::Scene;
use crate::ids::GrantId;
use crate::timeline::event::{Answer, Call};
use crate::timeline::history::{History, Operation};
use std::collections::HashMap;

/// The numbers of the line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Steps that asked for the lock: `acquire` and `enter`.
    pub asked: usize,
    /// Sections entered: such steps that were granted it.
    pub entered: usize,
    /// Sections left by asking for the release.
    pub completed: usize,
    /// Sections that were entered while another was still open, by what the workers did: from the
    /// grant's answer to the release asked for or to the end of the worker's process, whatever the
    /// lease.
    pub overlapping: usize,
    /// Sections that ended with the worker's process, or with the record.
    pub open: usize,
    /// The highest fencing token that was granted, whether or not its worker heard of it.
    pub highest: Option<u64>,
    /// Stale or late writes that the store accepted.
    pub stale_accepted: usize,
    /// Stale or late writes that it refused.
    pub stale_refused: usize,
    /// Writes without the lock and without a fencing token that the store accepted, and that it refused.
    pub tokenless: (usize, usize),
    /// Steps that asked for the lock and were not granted it, as far as their workers were told.
    pub failed: usize,
    /// Steps that asked for the lock and whose worker ended before it was told anything.
    pub cut_short: usize,
    /// Grants among these that the server made all the same; their workers never heard of it.
    pub unheard: usize,
    /// From the first step to the last answer, ns.
    pub took: u64,
}

/// Counts an arm.
pub fn tally(history: &History, scene: &Scene) -> Tally {
    let asks: Vec<&Operation> = history
        .operations
        .iter()
        .filter(|step| matches!(step.call, Call::Acquire | Call::Enter { .. }))
        .collect();
    let left = releases(history);
    let mut sections: Vec<(u64, Result<u64, u64>)> = asks
        .iter()
        .filter_map(|step| section(history, &left, step))
        .collect();
    sections.sort_unstable();
    // The latest end of a section so far.
    let mut busy_until = 0;
    let mut overlapping = 0;
    for (from, left) in &sections {
        overlapping += usize::from(busy_until > *from);
        busy_until = busy_until.max(left.unwrap_or_else(|gone| gone));
    }
    let counts = counts(history, scene);
    let stale = |n: usize| counts.stale.get(n).map_or(0, |(_, n)| *n);
    let without = |n: usize| counts.tokenless.get(n).map_or(0, |(_, n)| *n);
    let first = history.operations.iter().map(|step| step.invoked).min();
    let cut_short = asks.iter().filter(|step| cut_short(history, step)).count();
    Tally {
        asked: asks.len(),
        entered: sections.len(),
        completed: sections.iter().filter(|(_, left)| left.is_ok()).count(),
        overlapping,
        open: sections.iter().filter(|(_, left)| left.is_err()).count(),
        highest: scene.tenures.iter().filter_map(|one| one.fencing).max(),
        unheard: counts.unheard,
        stale_refused: stale(0),
        stale_accepted: stale(1) + counts.late,
        tokenless: (without(1), without(0)),
        failed: asks.len() - sections.len() - cut_short,
        cut_short,
        took: drill_ends(history).saturating_sub(first.unwrap_or(0)),
    }
}

/// When the release of each grant was first asked for.
fn releases(history: &History) -> HashMap<&GrantId, u64> {
    let mut left = HashMap::new();
    for step in &history.operations {
        if let Call::Release { grant } = &step.call {
            left.entry(grant).or_insert(step.invoked);
        }
    }
    left
}

/// Its worker's process ended while it waited for an answer.
fn cut_short(history: &History, step: &Operation) -> bool {
    let lives = history.workers.get(step.worker).map(|worker| &worker.lives);
    let mut exits = lives.into_iter().flatten().filter_map(|life| life.exit);
    step.returned.is_none() && exits.any(|exit| exit.at >= step.invoked)
}

/// From when a worker was at work until it left, or else until its process or the record ended;
/// none if it was not let in.
fn section(
    history: &History,
    left: &HashMap<&GrantId, u64>,
    step: &Operation,
) -> Option<(u64, Result<u64, u64>)> {
    let back = step.returned.as_ref()?;
    let Some(Answer::Granted { grant, .. }) = step.answer() else {
        return None;
    };
    let lives = history.workers.get(step.worker)?.lives.iter();
    let mut exits = lives.filter_map(|life| Some(life.exit?.at));
    let gone = exits.find(|at| *at >= back.at).unwrap_or(u64::MAX);
    Some((back.at, left.get(grant).copied().ok_or(gone)))
}

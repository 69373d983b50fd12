//! What is measured of a run for its signals: waits, holds, work, renewals, tries, and when servers
//! ran. Numbers of one run: they bound nothing.

use super::counts::drill_ends;
use super::scene::tenure::heard;
use super::shape::{Shape, Tone};
use super::words::{count, span};
use crate::env::action::Action;
use crate::faults;
use crate::timeline::event::{Answer, Call};
use crate::timeline::history::{History, Operation};
use std::collections::{HashMap, HashSet};

/// More servers than this are not drawn.
const SERVERS_MAX: usize = 9;

fn took(operation: &Operation) -> Option<u64> {
    let back = operation.returned.as_ref()?;
    Some(back.at.saturating_sub(operation.invoked))
}

/// How long each successful acquire or enter step took, ns.
pub fn waits(history: &History) -> Vec<u64> {
    let steps = history.operations.iter().filter(|operation| {
        matches!(operation.call, Call::Acquire | Call::Enter { .. })
            && matches!(operation.answer(), Some(Answer::Granted { .. }))
    });
    steps.filter_map(took).collect()
}

/// How long each renewal that worked took, ns.
pub fn renewal_times(history: &History) -> Vec<u64> {
    let renewals = history.operations.iter().filter(|operation| {
        matches!(operation.call, Call::Renew { .. })
            && matches!(operation.answer(), Some(Answer::Renewed))
    });
    renewals.filter_map(took).collect()
}

/// How long each holder worked that gave the lock back: from the grant to the release that it asked
/// for, late or not, ns. Whoever never heard of its grant did no work under it.
pub fn work_times(history: &History) -> Vec<u64> {
    let mut seen = HashSet::new();
    let told = heard(history);
    let releases = history.operations.iter().filter_map(|operation| {
        let Call::Release { grant } = &operation.call else {
            return None;
        };
        told.get(grant)?;
        let granted = history.grant_of(grant)?.granted.earliest;
        seen.insert(grant)
            .then(|| operation.invoked.saturating_sub(granted))
    });
    releases.collect()
}

/// How many steps that asked for the lock took one command, two, more.
pub fn tries(history: &History) -> Vec<(String, usize, Tone)> {
    let mut each: HashMap<(usize, Option<&str>), usize> = HashMap::new();
    let attempts = history.operations.iter();
    for attempt in attempts.filter(|one| matches!(one.call, Call::Attempt { .. })) {
        *each
            .entry((attempt.worker, attempt.step.as_deref()))
            .or_default() += 1;
    }
    let with = |fits: fn(usize) -> bool| each.values().filter(|n| fits(**n)).count();
    vec![
        (
            "got by with 1 command".to_owned(),
            with(|n| n == 1),
            Tone::Good,
        ),
        ("took 2 commands".to_owned(), with(|n| n == 2), Tone::Plain),
        ("took 3 or more".to_owned(), with(|n| n > 2), Tone::Doubt),
    ]
}

/// When each server ran while the drill lasted.
pub fn lives(history: &History) -> Vec<Option<Shape>> {
    let first = history.operations.iter().map(|one| one.invoked).min();
    let (Some(from), to) = (first, drill_ends(history)) else {
        return Vec::new();
    };
    let lives = history.servers.iter().map(|(server, lives)| {
        let spans = lives.iter().map(|life| {
            let until = life.exit.map_or(to, |exit| exit.at);
            (life.started.clamp(from, to), until.clamp(from, to))
        });
        let mut spans: Vec<(u64, u64)> = spans.collect();
        for (begun, over) in outages(history, server) {
            spans = without(spans, (begun, over.unwrap_or(to)));
        }
        spans.retain(|(from, to)| from < to);
        Some(Shape::Lives {
            server: server.clone(),
            spans,
            window: (from, to),
        })
    });
    lives.take(SERVERS_MAX).collect()
}

/// From when to when a fault kept a server from running, by the fault's own evidence: a process
/// that is stopped is alive and does nothing.
fn outages(history: &History, server: &str) -> Vec<(u64, Option<u64>)> {
    let hit = history.faults.iter().filter(|window| {
        let heals = faults::find(&window.kind).map_or(&[][..], |kind| kind.heal);
        let runs_again = heals
            .iter()
            .any(|action| matches!(action, Action::StartServer | Action::ContinueGroup));
        runs_again && window.server.as_deref() == Some(server)
    });
    hit.flat_map(|window| {
        window.onsets.iter().enumerate().map(|(index, onset)| {
            let heal = window.heals.get(index);
            (onset.effective, heal.and_then(|heal| heal.removed))
        })
    })
    .collect()
}

/// Spans less what lies in the gap.
fn without(spans: Vec<(u64, u64)>, (begun, over): (u64, u64)) -> Vec<(u64, u64)> {
    let parts = spans
        .into_iter()
        .flat_map(|(from, to)| [(from, to.min(begun)), (from.max(over), to)]);
    parts.filter(|(from, to)| from < to).collect()
}

/// How many waited for the lock at once, at most.
pub fn waiters(history: &History) -> String {
    let mut edges: Vec<(u64, i64)> = Vec::new();
    for operation in &history.operations {
        if matches!(operation.call, Call::Enter { .. }) {
            edges.push((operation.invoked, 1));
            edges.extend(operation.returned.as_ref().map(|back| (back.at, -1)));
        }
    }
    edges.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, step) in edges {
        now += step;
        most = most.max(now);
    }
    format!("at most {most}")
}

/// Fewer values than this are told one by one: a median of them says less.
const FEW: usize = 5;

/// The value at this per cent of sorted values, by the nearest rank: one that was measured.
pub fn nearest_rank(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = sorted.len().saturating_mul(percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// Median and largest of so many of these, or each of a few.
pub fn spread(values: &[u64], noun: &str) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    match sorted.as_slice() {
        [] => "none".to_owned(),
        [one] => span(*one),
        few if few.len() < FEW => {
            let each: Vec<String> = few.iter().map(|ns| span(*ns)).collect();
            format!("{} ({})", each.join(", "), count(few.len(), noun))
        }
        many => format!(
            "median {}, longest {}, of {}",
            span(nearest_rank(many, 50).unwrap_or(0)),
            span(many[many.len() - 1]),
            count(many.len(), noun)
        ),
    }
}

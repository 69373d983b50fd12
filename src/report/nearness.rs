//! How near a run was to losing its lock: figures in nanoseconds, by name. They describe one run
//! and bound nothing.

use super::counts::counts;
use super::holds;
use super::measures::{renewal_times, spread, waits, work_times};
use super::scene::Scene;
use super::times::noise;
use super::words::{millis, share};
use crate::plan::Plan;
use crate::timeline::event::{Answer, Call};
use crate::timeline::history::{History, ms};
use std::collections::{BTreeMap, HashSet};

/// Begin of the name of a figure that counts what was done to servers; the fault's kind follows.
pub const SERVER_FAULT: &str = "done_to_server.";

/// What was left of the lease when each renewal that the client reckoned with was sent, ns;
/// negative if the lease had ended.
pub fn margins(scene: &Scene) -> Vec<i64> {
    let left = scene.renewals.iter().filter_map(|renewal| renewal.margin);
    left.collect()
}

/// How long after its own deadline each loss was told, ns; stops of the worker included.
pub fn notices(history: &History) -> Vec<u64> {
    let losses = history.losses.iter();
    losses
        .map(|loss| loss.at.saturating_sub(loss.deadline))
        .collect()
}

/// How long the work took, held against the lease, and what lease that suggests.
pub fn told(work: &[u64], plan: &Plan) -> String {
    let lease = ms(plan.lock.lease_ms);
    let Some(longest) = work.iter().max().copied() else {
        return format!(
            "no work was finished and given back; the lease is {}",
            millis(plan.lock.lease_ms)
        );
    };
    let share = share(longest, lease);
    format!(
        "{}; the longest took {share} of the lease of {}",
        spread(work, "finished section"),
        millis(plan.lock.lease_ms)
    )
}

/// All figures that a history of runs keeps; one that the run has not is not there. The end of a
/// name says how several runs of one night become one figure: the least, the most, or the sum.
pub fn figures(history: &History, scene: &Scene) -> BTreeMap<String, i64> {
    let most = |values: Vec<u64>| values.into_iter().max().map(signed);
    let held = holds::holds(scene);
    let durations = [
        ("length_ns", Some(signed(history.last_at))),
        ("lease_min_ns", Some(signed(ms(history.plan.lock.lease_ms)))),
        (
            "renew_max_ns",
            history.plan.lock.renew_ms.map(|every| signed(ms(every))),
        ),
        ("wait_max_ns", most(waits(history))),
        ("hold_max_ns", most(holds::ended(&held))),
        ("hold_open_max_ns", most(holds::open(&held))),
        ("work_max_ns", most(work_times(history))),
        ("renewal_max_ns", most(renewal_times(history))),
        ("margin_min_ns", margins(scene).into_iter().min()),
        ("notice_max_ns", most(notices(history))),
        ("noise_max_ns", Some(signed(noise(history)))),
    ];
    let counts = counts(history, scene);
    let sum = |of: &[(&str, usize)]| of.iter().map(|(_, n)| *n).sum::<usize>();
    let nth = |of: &[(&str, usize)], n: usize| of.get(n).map_or(0, |(_, n)| *n);
    let (granted, shared) = owners(history);
    let numbers = [
        ("owners_n", granted),
        ("owners_shared_n", shared),
        ("attempts_n", sum(&counts.attempts)),
        ("granted_n", nth(&counts.attempts, 0)),
        ("renewals_n", sum(&counts.renewals)),
        ("renewed_n", nth(&counts.renewals, 0)),
        ("stale_refused_n", nth(&counts.stale, 0)),
        ("stale_accepted_n", nth(&counts.stale, 1)),
        ("tokenless_refused_n", nth(&counts.tokenless, 0)),
        ("tokenless_accepted_n", nth(&counts.tokenless, 1)),
        ("unheard_n", counts.unheard),
        ("hold_open_n", holds::open(&held).len()),
        ("server_ends_n", counts.server_exits),
        ("losses_n", history.losses.len()),
    ];
    let numbers = numbers.map(|(name, n)| (name, i64::try_from(n).ok()));
    let named = durations.into_iter().chain(numbers);
    let mut figures: BTreeMap<String, i64> = named
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect();
    for (kind, _, times) in &counts.done_to_servers {
        let n = figures
            .entry(format!("{SERVER_FAULT}{kind}_n"))
            .or_default();
        *n = n.saturating_add(i64::try_from(*times).unwrap_or(i64::MAX));
    }
    figures
}

/// How many attempts were granted, and how many of these had the owner token of another.
fn owners(history: &History) -> (usize, usize) {
    let mut known = HashSet::new();
    let attempts = history.operations.iter();
    let granted = attempts.filter_map(|operation| match (&operation.call, operation.answer()) {
        (Call::Attempt { owner, .. }, Some(Answer::Granted { .. })) => Some(owner),
        _other => None,
    });
    granted.fold((0, 0), |(all, shared), owner| {
        (all + 1, shared + usize::from(!known.insert(owner)))
    })
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

//! How near a run was to losing its lock: figures in nanoseconds, by name. They describe one run
//! and bound nothing.

use super::counts::counts;
use super::holds;
use super::measures::{renewal_times, spread, waits, work_times};
use super::scene::Scene;
use super::words::{millis, span, span_beside};
use crate::plan::Plan;
use crate::timeline::history::{History, ms};
use std::cmp::Ordering;
use std::collections::BTreeMap;

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
    let share = match longest.saturating_mul(100) / lease.max(1) {
        0 => "less than 1 %".to_owned(),
        share => format!("{share} %"),
    };
    format!(
        "{}; the longest took {share} of the lease of {}",
        spread(work, "finished section"),
        millis(plan.lock.lease_ms)
    )
}

/// The least lease, if it is not renewed, that the longest work time allows, ns: twice as long, rounded
/// up to two digits, so that work which takes twice as long as ever measured still fits.
pub fn suggested(longest: u64) -> u64 {
    let twice = longest.saturating_mul(2);
    let mut unit = 1;
    while twice / unit >= 100 {
        unit *= 10;
    }
    twice.div_ceil(unit).saturating_mul(unit)
}

/// How long a lease outlives two renewals in a row that fail, ns: three intervals and the slowest
/// renewal on top.
pub fn outlives(every: u64, slowest: u64) -> u64 {
    every.saturating_mul(3).saturating_add(slowest)
}

/// Less than this the times of a run do not tell: for so long the host kept the lab from running at a
/// stretch, or may have, without a line that says so, ns.
pub fn noise(history: &History) -> u64 {
    let stalls = history.stalls.iter().map(|stall| stall.span.len());
    stalls.max().unwrap_or(0).max(ms(15))
}

/// What the work times of a run suggest for the lease, in a sentence without its full stop; `noise` is
/// what they do not tell, ns.
pub fn suggestion(work: &[u64], renewals: &[u64], plan: &Plan, noise: u64) -> String {
    let lease = ms(plan.lock.lease_ms);
    let told = millis(plan.lock.lease_ms);
    if let Some(every) = plan.lock.renew_ms {
        let slowest = renewals.iter().max().copied().unwrap_or(0);
        let wanted = outlives(ms(every), slowest);
        let by = span(wanted.abs_diff(lease));
        let is = match wanted.cmp(&lease) {
            Ordering::Greater if wanted - lease <= noise => format!(
                "as long as that: {by} are less than the noise of these times ({})",
                span(noise)
            ),
            Ordering::Greater => format!("{by} shorter than that"),
            Ordering::Equal => "just as long".to_owned(),
            Ordering::Less => format!("{by} longer; that is no reason to shorten it"),
        };
        return format!(
            "it is renewed every {}, so work of any length fits as long as renewals get through. Three such intervals and the slowest renewal on top are {}: so long a lease outlives two renewals in a row that fail. This one of {told} is {is}",
            millis(every),
            span_beside(wanted, lease)
        );
    }
    let Some(longest) = work.iter().max().copied() else {
        return format!("no work was finished here, so nothing is suggested; the lease is {told}");
    };
    let wanted = suggested(longest);
    if wanted <= lease {
        return format!(
            "nothing: the lease of {told} is at least twice as long as the longest work of {}; that is no reason to shorten it, because a lease must also outlast pauses of the process and a slow network",
            span(longest)
        );
    }
    format!(
        "a lease of {} at least, which is twice the longest work of {}, rounded up; the lease here is {told} and is not renewed",
        span(wanted),
        span(longest)
    )
}

/// The least lease that the times of a run allow, ns, if the one of its plan is shorter by more than
/// the noise of these times.
pub fn wanted(history: &History) -> Option<u64> {
    let wanted = match history.plan.lock.renew_ms {
        Some(every) => {
            let slowest = renewal_times(history).into_iter().max().unwrap_or(0);
            outlives(ms(every), slowest)
        }
        None => suggested(work_times(history).into_iter().max()?),
    };
    let lease = ms(history.plan.lock.lease_ms);
    (wanted > lease.saturating_add(noise(history))).then_some(wanted)
}

/// All figures that a history of runs keeps; one that the run has not is not there. The end of a
/// name says how several runs of one night become one figure: the least, the most, or the sum.
pub fn figures(history: &History, scene: &Scene) -> BTreeMap<String, i64> {
    let most = |values: Vec<u64>| values.into_iter().max().map(signed);
    let held = holds::holds(history);
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
    ];
    let counts = counts(history);
    let sum = |of: &[(&str, usize)]| of.iter().map(|(_, n)| *n).sum::<usize>();
    let nth = |of: &[(&str, usize)], n: usize| of.get(n).map_or(0, |(_, n)| *n);
    let numbers = [
        ("attempts_n", sum(&counts.attempts)),
        ("granted_n", nth(&counts.attempts, 0)),
        ("renewals_n", sum(&counts.renewals)),
        ("renewed_n", nth(&counts.renewals, 0)),
        ("stale_refused_n", nth(&counts.stale, 0)),
        ("stale_accepted_n", nth(&counts.stale, 1)),
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

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

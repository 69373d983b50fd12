//! What the cells of the two tables say.

use super::super::super::nearness::SERVER_FAULT;
use super::super::super::past::trend::Night;
use super::super::super::times::Times;
use super::super::super::words::{self, rounded, span};
use crate::env::action::Action;
use crate::faults;

pub(super) fn signed(ns: i64) -> Option<String> {
    let told = span(ns.unsigned_abs());
    Some(if ns < 0 { format!("−{told}") } else { told })
}

/// Grants that the server made, whether or not their workers heard of it.
pub(super) fn granted(night: &Night) -> Option<i64> {
    let told = night.figure("granted_n")?;
    Some(told.saturating_add(night.figure("unheard_n").unwrap_or(0)))
}

/// The longest that ended on the record, and those that did not.
pub(super) fn held(night: &Night) -> Option<String> {
    let ended = night.figure("hold_max_ns").and_then(signed);
    let open = night.figure("hold_open_n").filter(|open| *open > 0);
    let so_far = night.figure("hold_open_max_ns").and_then(signed);
    match (ended, open.zip(so_far)) {
        (ended, None) => ended,
        (None, Some((n, so_far))) => Some(format!("{n} still held at the end, {so_far} so far")),
        (Some(ended), Some((n, so_far))) => Some(format!(
            "{ended}; {n} still held at the end, {so_far} so far"
        )),
    }
}

/// What the drill did to servers: first what ends one, then what leaves it alive.
pub(super) fn done_to_servers(night: &Night) -> String {
    let done = |ending: bool| {
        let done = night.figures.iter().filter_map(|(name, n)| {
            let kind = name.strip_prefix(SERVER_FAULT)?.strip_suffix("_n")?;
            (ends_a_server(kind) == ending).then(|| format!("{n} × {kind}"))
        });
        done.collect::<Vec<_>>().join(", ")
    };
    let ended = match done(true) {
        none if none.is_empty() => none,
        told => format!(" (by the drill: {told})"),
    };
    match done(false) {
        none if none.is_empty() => ended,
        told => format!("{ended}; done by the drill: {told}"),
    }
}

/// One that is frozen, emptied or cut off has not ended.
fn ends_a_server(kind: &str) -> bool {
    let onset = faults::find(kind).map_or(&[][..], |kind| kind.onset);
    let ends = |action: &Action| matches!(action, Action::KillGroup | Action::Terminate);
    onset.iter().any(ends)
}

/// Rounded to a tenth, in tenths.
pub(super) fn tenths(part: i64, whole: i64) -> Option<i64> {
    let whole = u64::try_from(whole).ok().filter(|whole| *whole > 0)?;
    let part = u64::try_from(part.checked_mul(10)?).ok()?;
    i64::try_from(rounded(part, whole)).ok()
}

/// The longest work and the lease, ns.
fn work(night: &Night) -> Option<(u64, u64)> {
    let figure = |name: &str| u64::try_from(night.figure(name)?).ok();
    let lease = figure("lease_min_ns").filter(|lease| *lease > 0)?;
    Some((figure("work_max_ns")?, lease))
}

/// The longest work in whole per cent of the lease.
pub(super) fn share(night: &Night) -> Option<i64> {
    let (work, lease) = work(night)?;
    i64::try_from(rounded(work.saturating_mul(100), lease)).ok()
}

/// The same, in words.
pub(super) fn share_told(night: &Night) -> Option<String> {
    let (work, lease) = work(night)?;
    Some(words::share(work, lease))
}

pub(super) fn lease(night: &Night) -> Option<String> {
    Some(Times::of_night(night)?.cell())
}

/// Writes of whoever never had the lock, if there were any.
pub(super) fn tokenless(night: &Night) -> String {
    let n = |name: &str| night.figure(name).unwrap_or(0);
    match (n("tokenless_refused_n"), n("tokenless_accepted_n")) {
        (0, 0) => String::new(),
        (refused, accepted) => {
            format!("; without a fencing token {refused} refused, {accepted} accepted")
        }
    }
}

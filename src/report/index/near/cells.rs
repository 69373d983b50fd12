//! What the cells of the two tables say.

use super::super::super::nearness::SERVER_FAULT;
use super::super::super::past::trend::Night;
use super::super::super::times::Times;
use super::super::super::words::span;

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

/// What the drill did to servers: one that is frozen has not ended.
pub(super) fn done_to_servers(night: &Night) -> String {
    let done = night.figures.iter().filter_map(|(name, n)| {
        let kind = name.strip_prefix(SERVER_FAULT)?.strip_suffix("_n")?;
        Some(format!("{n} × {kind}"))
    });
    match done.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => none,
        told => format!(" (by the drill: {told})"),
    }
}

pub(super) fn tenths(part: i64, whole: i64) -> Option<i64> {
    part.checked_mul(10)?.checked_div(whole)
}

pub(super) fn share(night: &Night) -> Option<i64> {
    let work = night.figure("work_max_ns")?;
    work.checked_mul(100)?
        .checked_div(night.figure("lease_min_ns")?)
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

//! The part of the index that speaks of many nights. Its size depends on the number of drills and
//! never on the length of the history.

use super::super::bound::per_cent;
use super::super::past::file::Past;
use super::super::past::trend::{Night, Rate, Series};
use super::super::words::{count, verdict_word};
use super::strip::{NIGHTS, Shown};
use super::{changed, matrix, near, worse};
use crate::report::html::of_run;
use crate::verdict::Verdict;
use maud::{Markup, html};
use std::collections::BTreeSet;
use std::path::Path;

/// More series than this are not drawn.
pub(super) const SERIES_MAX: usize = 120;

pub(super) fn section(root: &Path, past: &Past, series: &[Series]) -> Markup {
    if series.is_empty() && past.lost_count == 0 {
        return html! {};
    }
    let dates: BTreeSet<&String> = series.iter().flat_map(|s| s.nights.keys()).collect();
    let shown: Vec<&String> = dates.iter().rev().take(NIGHTS).rev().copied().collect();
    let shown = Shown::new(shown);
    html! {
        section id="trend" {
            @if past.lost_count > 0 {
                p.note { "Of the history " (count(past.lost_count, "line")) " could not be read and counts nothing"
                    ": line " (past.lost.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
                    @if past.lost_count > past.lost.len() { " and more" } "." }
            }
            (last_night(series, &dates))
            (changed::of_lab(past))
            (worse::section(root, past, series, &dates))
            (nights(root, series, &dates, &shown))
            (near::nearness(series, &shown))
            (near::signals(series, &shown))
            (matrix::section(series))
        }
    }
}

/// How the last night went, in four numbers.
fn last_night(series: &[Series], dates: &BTreeSet<&String>) -> Markup {
    let Some(last) = dates.last() else {
        return html! {};
    };
    let ran = series.iter().filter_map(|one| one.nights.get(*last));
    let worst: Vec<Verdict> = ran.filter_map(Night::worst).collect();
    let words = [
        (Verdict::Fail, "fail"),
        (Verdict::Inconclusive, "inconclusive"),
        (Verdict::Limit, "limit"),
        (Verdict::Pass, "pass"),
    ];
    html! {
        h2 { "The last night: " (last) }
        p { (count(worst.len(), "drill")) " ran; each counts by its worst execution." }
        div.answers {
            @for (verdict, word) in words {
                @let n = worst.iter().filter(|one| **one == verdict).count();
                p class=(format!("badge {}", if n == 0 { "neutral" } else { word })) { small { (word) } b { (n) } }
            }
        }
    }
}

/// The sign of a verdict, and its class.
pub(super) fn mark(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Pass => ("holds", "✓"),
        Verdict::Limit => ("limit", "L"),
        Verdict::Fail => ("violated", "✕"),
        Verdict::Inconclusive => ("unknown", "?"),
    }
}

/// The worst of the last night first, then by name.
fn ranked(series: &[Series]) -> Vec<&Series> {
    let mut all: Vec<&Series> = series.iter().collect();
    let rank = |one: &Series| match one.last().and_then(Night::worst) {
        Some(Verdict::Fail) => 0,
        Some(Verdict::Inconclusive) => 1,
        Some(Verdict::Limit | Verdict::Pass) | None => 2,
    };
    all.sort_by_key(|one| rank(one));
    all
}

fn nights(root: &Path, series: &[Series], dates: &BTreeSet<&String>, shown: &Shown) -> Markup {
    html! {
        h2 { "Each drill, night by night" }
        p.lead {
            (count(dates.len(), "night")) " on record"
            @if dates.len() > shown.dates.len() { ", the last " (shown.dates.len()) " drawn" }
            @if let [first, .., last] = shown.dates.as_slice() { " (" (first) " to " (last) ", oldest on the left)" }
            ". A bar is one night, its parts are its executions: "
            span.outcome.holds { "✓ pass" } ", " span.outcome.limit { "L limit" } " (foretold by the drill's file, no failure), "
            span.outcome.violated { "✕ fail" } ", " span.outcome.unknown { "? inconclusive" }
            ". Below the line hangs the share that was inconclusive, or conclusive only when it was repeated. Rates are exact 95 % intervals; a plan that changed begins a new count."
        }
        table.runs.nights {
            thead { tr {
                th scope="col" { "drill" } th scope="col" { "last" } th scope="col" { "nights" }
                th scope="col" { "failed" } th scope="col" { "inconclusive or repeated" }
            } }
            tbody { @for one in ranked(series).into_iter().take(SERIES_MAX) { (row(root, one, shown)) } }
        }
        @if series.len() > SERIES_MAX { p { (series.len() - SERIES_MAX) " more are not drawn." } }
    }
}

fn row(root: &Path, series: &Series, shown: &Shown) -> Markup {
    let last = series.last().and_then(|night| night.worst_run.as_ref());
    html! {
        tr {
            th scope="row" {
                @if let Some((_, run)) = last { (link(root, &series.drill, run)) } @else { (series.drill) }
                small { "on " (series.on) }
            }
            td { @if let Some((verdict, _)) = last {
                @let (class, sign) = mark(*verdict);
                span class=(format!("outcome {class}")) { (sign) " " (verdict_word(*verdict)) }
            } }
            td.strip { (shown.verdicts(series)) }
            td data-of="failed" { (rate(series.failed))
                @if series.limits > 0 { "; " (series.limits) " reached the limit" } }
            td data-of="inconclusive or repeated" { (rate(series.unsettled))
                small { "plan " (series.plan) " since " (series.plan_since)
                    @if series.earlier > 0 { "; " (series.earlier) " of earlier plans do not count" } } }
        }
    }
}

/// A run that was removed has no page any more.
pub(super) fn link(root: &Path, drill: &str, run: &str) -> Markup {
    html! {
        @if let Some(page) = of_run(root, drill, run) { a href=(page) { (drill) } } @else { (drill) }
    }
}

fn rate(rate: Rate) -> String {
    if rate.n == 0 {
        return "none has an answer".to_owned();
    }
    let interval = rate.interval();
    format!(
        "{} of {} ({} to {})",
        rate.k,
        rate.n,
        per_cent(interval.low),
        per_cent(interval.high)
    )
}

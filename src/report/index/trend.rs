//! The part of the index that speaks of many nights. Its size depends on the number of drills and
//! never on the length of the history.

use super::super::bound::per_cent;
use super::super::past::file::Past;
use super::super::past::trend::{Night, Rate, Series, Worse};
use super::super::words::{count, verdict_word};
use crate::checks::{self, Outcome};
use crate::report::html::FILE as PAGE;
use crate::verdict::Verdict;
use maud::{Markup, html};
use std::collections::BTreeSet;
use std::path::Path;

/// Nights in a picture.
const NIGHTS: usize = 40;

/// More series than this are not drawn.
const SERIES_MAX: usize = 120;

const WIDTH: usize = 320;
const HEIGHT: usize = 64;
const STEP: usize = WIDTH / NIGHTS;

pub(super) fn section(root: &Path, past: &Past, series: &[Series]) -> Markup {
    if series.is_empty() && past.lost_count == 0 {
        return html! {};
    }
    let dates: BTreeSet<&String> = series.iter().flat_map(|s| s.nights.keys()).collect();
    let shown: Vec<&String> = dates.iter().rev().take(NIGHTS).rev().copied().collect();
    html! {
        section id="trend" {
            @if past.lost_count > 0 {
                p.note { "Of the history " (count(past.lost_count, "line")) " could not be read and counts nothing"
                    ": line " (past.lost.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
                    @if past.lost_count > past.lost.len() { " and more" } "." }
            }
            (worse(root, series, &dates))
            h2 { "Each drill, night by night" }
            p.lead {
                (count(dates.len(), "night")) " on record, the last " (shown.len()) " drawn; a bar is one night, its parts are its executions: "
                span.outcome.holds { "pass" } ", " span.outcome.limit { "limit" } ", "
                span.outcome.violated { "fail" } ", " span.outcome.unknown { "inconclusive" }
                ". The line below it is the share that was inconclusive or had to be repeated."
            }
            div.nights {
                @for series in series.iter().take(SERIES_MAX) { (multiple(series, &shown)) }
            }
            @if series.len() > SERIES_MAX { p { (series.len() - SERIES_MAX) " more are not drawn." } }
            (matrix(series))
        }
    }
}

fn worse(root: &Path, series: &[Series], dates: &BTreeSet<&String>) -> Markup {
    let last = dates.last();
    let mut found: Vec<(&Series, Worse)> = series
        .iter()
        .filter_map(|series| Some((series, series.worse()?)))
        .collect();
    // Worst first; of the equally bad the latest to get so.
    found.sort_by(|(_, a), (_, b)| {
        let rank = |w: &Worse| {
            [Verdict::Fail, Verdict::Inconclusive]
                .iter()
                .position(|v| *v == w.verdict)
                .unwrap_or(2)
        };
        rank(a).cmp(&rank(b)).then_with(|| b.since.cmp(&a.since))
    });
    let absent: Vec<&str> = series
        .iter()
        .filter(|series| series.nights.keys().next_back() != last.copied())
        .map(|series| series.drill.as_str())
        .take(30)
        .collect();
    html! {
        h2 { "What got worse" }
        @if found.is_empty() { p { "Nothing: the last night of each drill was no worse than the one before it." } }
        @else {
            ol.worse {
                @for (place, (series, worse)) in found.iter().take(SERIES_MAX).enumerate() {
                    li {
                        @if place == 0 { b { "Look here first: " } }
                        (run_link(root, series, worse)) " "
                        span class=(format!("outcome {}", class(worse.verdict))) { (verdict_word(worse.verdict)) }
                        " since " (worse.since) " (" (count(worse.nights, "night")) "; "
                        @if worse.before == 0 { "never better on record" } @else { (count(worse.before, "night")) " before that" }
                        ")"
                        @if !worse.checks.is_empty() { ": " (worse.checks.join(", ")) }
                    }
                }
            }
        }
        @if !absent.is_empty() { p { "Did not run in the last night: " (absent.join(", ")) "." } }
    }
}

/// A run that was removed has no page any more.
fn run_link(root: &Path, series: &Series, worse: &Worse) -> Markup {
    let path = format!("{}/{}/{PAGE}", series.drill, worse.run);
    html! {
        @if root.join(&path).is_file() { a href=(path) { (series.drill) } }
        @else { (series.drill) }
        " (on " (series.on) ")"
    }
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "holds",
        Verdict::Limit => "limit",
        Verdict::Fail => "violated",
        Verdict::Inconclusive => "unknown",
    }
}

fn multiple(series: &Series, shown: &[&String]) -> Markup {
    let label = format!("{}: {} nights", series.drill, series.nights.len());
    html! {
        figure {
            figcaption { b { (series.drill) } "on " (series.on) }
            svg.trend viewBox=(format!("0 0 {WIDTH} {}", HEIGHT + 14)) role="img" aria-label=(label) {
                @for (place, date) in shown.iter().enumerate() {
                    @if let Some(night) = series.nights.get(*date) { (bar(place, date, night)) }
                }
                line x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) class="t-axis" {}
                polyline points=(flakes(series, shown)) class="t-flake" {}
            }
            p.aside { (rate("failed", series.failed)) "; " (rate("not settled at once", series.unsettled))
                " (plan " code { (series.plan) } " since " (series.plan_since)
                @if series.earlier > 0 { "; " (series.earlier) " of earlier plans do not count" } ")"
            }
        }
    }
}

fn bar(place: usize, date: &str, night: &Night) -> Markup {
    let all = night.executions().max(1) as usize;
    let words = ["pass", "limit", "fail", "inconclusive"];
    let mut parts = Vec::new();
    let mut below = 0;
    let mut told = date.to_owned() + ":";
    for (n, word) in night.counts.iter().zip(words) {
        if *n == 0 {
            continue;
        }
        let upto = below + *n as usize;
        // A single bad one among a thousand is still seen.
        let height = ((upto - below) * (HEIGHT - 4) / all).max(2);
        parts.push((HEIGHT - below * (HEIGHT - 4) / all - height, height, word));
        below = upto;
        told.push_str(&format!(" {n} {word}"));
    }
    html! {
        g {
            title { (told) }
            @for (y, height, word) in parts {
                rect x=(place * STEP) y=(y) width=(STEP - 1) height=(height) class=(format!("t-{word}")) {}
            }
        }
    }
}

/// The share that was not settled at once, upside down below the axis.
fn flakes(series: &Series, shown: &[&String]) -> String {
    let points = shown.iter().enumerate().filter_map(|(place, date)| {
        let night = series.nights.get(*date)?;
        let share = night.unsettled as usize * 11 / night.executions().max(1) as usize;
        let x = place * STEP + STEP / 2;
        Some(format!("{x},{}", HEIGHT + 2 + share))
    });
    points.collect::<Vec<_>>().join(" ")
}

fn rate(what: &str, rate: Rate) -> String {
    if rate.n == 0 {
        return format!("none to say how often {what}");
    }
    let interval = rate.interval();
    format!(
        "{}/{} {what} ({} to {}, exact 95 % interval)",
        rate.k,
        rate.n,
        per_cent(interval.low),
        per_cent(interval.high)
    )
}

fn matrix(series: &[Series]) -> Markup {
    let all: Vec<&str> = checks::ALL.iter().map(|check| check.name()).collect();
    html! {
        h2 { "Drills and checks, last night of each" }
        div.scroll {
            table.matrix {
                thead { tr { th scope="col" { "drill" }
                    @for check in &all { th scope="col" { span { (check) } } } } }
                tbody {
                    @for series in series.iter().take(SERIES_MAX) {
                        @let last = series.nights.values().next_back();
                        tr { th scope="row" { (series.drill) }
                            @for check in &all { (cell(check, last.and_then(|night| night.checks.get(*check)))) } }
                    }
                }
            }
        }
        p.aside { "✓ held in every execution, ✕ violated in one (in a drill that reaches its limit as foretold, too), ? could not be told in one, · not put to the test." }
    }
}

fn cell(check: &str, outcome: Option<&Outcome>) -> Markup {
    let (class, sign, word) = match outcome {
        Some(Outcome::Holds) => ("holds", "✓", "holds"),
        Some(Outcome::Violated) => ("violated", "✕", "violated"),
        Some(Outcome::Unknown) => ("unknown", "?", "unknown"),
        None => ("vacuous", "·", "not put to the test"),
    };
    html! { td title=(format!("{check}: {word}")) { span class=(format!("outcome {class}")) { (sign) } } }
}

//! The first line of a report, and the bound that it may claim: about this schedule alone.

use super::{bare, finding, is_foretold, listed, violated};
use crate::checks::Outcome;
use crate::report::bound::{exact_95, per_cent};
use crate::report::model::Model;
use crate::report::runs::Series;
use crate::report::words::count;
use crate::verdict::Verdict;

/// The first line, by verdict.
pub fn first_line(model: &Model, series: &Series) -> String {
    match model.result.verdict {
        Verdict::Pass if series.failed == 0 => format!(
            "In {}, {}, no named check was violated.",
            these_runs(series.passed),
            faults(model)
        ),
        Verdict::Pass => format!(
            "In this run, {}, no named check was violated; in {} of the {} of this schedule one was.",
            faults(model),
            series.failed,
            count(series.told(), "run")
        ),
        Verdict::Fail => failed(model),
        Verdict::Limit => {
            let limit = model.plan().and_then(|plan| plan.limit.as_ref());
            let (checks, why) = limit.map_or_else(
                || (names(model), bare(&model.result.why)),
                |limit| (listed(&limit.checks), bare(&limit.why)),
            );
            format!(
                "LIMIT, not a pass: this design cannot hold {checks}, as its file says beforehand: {why}."
            )
        }
        Verdict::Inconclusive => {
            format!("This run cannot tell: {}.", bare(&model.result.why))
        }
    }
}

fn failed(model: &Model) -> String {
    let names = names(model);
    if names.is_empty() {
        return format!("In this run the drill failed: {}.", bare(&model.result.why));
    }
    let were = if model.main().into_iter().flat_map(violated).count() == 1 {
        "was"
    } else {
        "were"
    };
    format!(
        "In this run, {}, {names} {were} violated{}.",
        faults(model),
        foretold(model)
    )
}

/// Which of what was violated is the limit that the drill's file names: no failure by itself.
fn foretold(model: &Model) -> String {
    let main = model.main().into_iter();
    let violated = main.flat_map(|main| violated(main).map(move |found| (main, found)));
    let foretold = violated.filter(|(main, found)| is_foretold(main, &found.check));
    let names: Vec<String> = foretold.map(|(_, found)| found.check.clone()).collect();
    match names.len() {
        0 => String::new(),
        1 => format!(
            "; {} is the limit that its file names beforehand",
            listed(&names)
        ),
        _ => format!(
            "; {} are the limits that its file names beforehand",
            listed(&names)
        ),
    }
}

fn names(model: &Model) -> String {
    let names: Vec<String> = model
        .main()
        .into_iter()
        .flat_map(violated)
        .map(|finding| finding.check.clone())
        .collect();
    listed(&names)
}

fn these_runs(n: usize) -> String {
    if n <= 1 {
        "this 1 run".to_owned()
    } else {
        format!("these {n} runs")
    }
}

fn faults(model: &Model) -> &'static str {
    if model.plan().is_some_and(|plan| plan.faults.is_empty()) {
        return "without any fault";
    }
    let shown = model.main().is_some_and(|main| {
        finding(main, "evidence").is_none_or(|finding| finding.outcome == Outcome::Holds)
    });
    if shown {
        "with these faults shown to have happened"
    } else {
        "although not all that the drill needs is shown to have happened"
    }
}

/// How often this schedule failed and how often it may, with the exact interval; none if no run
/// of it has an answer.
pub fn rate(series: &Series) -> Option<String> {
    let (k, n) = (series.failed, series.told());
    if n == 0 {
        return None;
    }
    const BOUND: &str = "This says nothing about other schedules, other locks or other machines.";
    let between = |k: usize| {
        let interval = exact_95(u64::try_from(k).ok()?, u64::try_from(n).ok()?);
        let (low, high) = (per_cent(interval.low), per_cent(interval.high));
        Some(format!("between {low} and {high} (exact 95 % interval)"))
    };
    let runs = count(n, "run");
    // A limit is neither a pass nor a failure, and counts as what it is.
    if series.limits > 0 {
        let (limits, rate) = (series.limits, between(series.limits)?);
        return Some(format!(
            "{limits} of {runs} of this schedule reached the limit that its file names, {} passed and {k} failed: the limit is reached at a rate {rate}. {BOUND}",
            series.passed
        ));
    }
    Some(format!(
        "{k} of {runs} of this schedule failed: its failure rate lies {}. {BOUND}",
        between(k)?
    ))
}

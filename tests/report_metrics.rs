//! `metrics.prom` as a scraper reads it, and the points before going live as the drills answer them.
#![allow(clippy::unwrap_used)]

use crate::support::golden;

use lockdrill::checks::{self, Outcome};
use lockdrill::report::checklist::{OWNERS, POINTS, Standing, standing};
use lockdrill::report::metrics;
use lockdrill::report::past::trend::{Night, Series};
use lockdrill::verdict::Verdict;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Reads the text format as strictly as `promtool check metrics`: help and type before the samples
/// of each family, every sample once, names and labels of allowed letters, units and endings.
fn read(text: &str) -> Result<HashMap<String, f64>, String> {
    let mut kinds: HashMap<&str, &str> = HashMap::new();
    let mut helped = HashSet::new();
    let mut samples = HashMap::new();
    if !text.ends_with('\n') {
        return Err("no line feed at the end".to_owned());
    }
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, words) = help.split_once(' ').ok_or("no help")?;
            if words.is_empty() || !helped.insert(name) {
                return Err(format!("help of {name}"));
            }
            continue;
        }
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').ok_or("no type")?;
            if !helped.contains(name) || kinds.insert(name, kind).is_some() {
                return Err(format!("type of {name}"));
            }
            let total = name.ends_with("_total");
            if total != (kind == "counter") {
                return Err(format!("{name} is a {kind}"));
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').ok_or("no value")?;
        let value: f64 = value.parse().map_err(|_| format!("value: {line}"))?;
        let (name, labels) = series.split_once('{').ok_or("no labels")?;
        let labels = labels.strip_suffix('}').ok_or("labels do not end")?;
        let base = name.strip_suffix("_sum").or(name.strip_suffix("_count"));
        let summary = base.is_some_and(|base| kinds.get(base) == Some(&"summary"));
        if !summary && !kinds.contains_key(name) {
            return Err(format!("{name} has no type"));
        }
        let plain = |c: char| c.is_ascii_lowercase() || c == '_';
        if !name.chars().all(plain) {
            return Err(format!("name: {name}"));
        }
        for label in labels.split(',') {
            let (key, quoted) = label.split_once('=').ok_or("no label")?;
            let inner = quoted.strip_prefix('"').and_then(|q| q.strip_suffix('"'));
            if !key.chars().all(plain) || inner.is_none_or(|inner| inner.contains('"')) {
                return Err(format!("label: {label}"));
            }
        }
        if samples.insert(series.to_owned(), value).is_some() {
            return Err(format!("twice: {series}"));
        }
    }
    Ok(samples)
}

#[test]
fn every_run_has_metrics_that_a_scraper_can_read() {
    let root = tempfile::tempdir().unwrap();
    for run in golden::all() {
        let text = metrics::text(&run.model(&root.path().join(run.name)));
        let samples = read(&text).unwrap_or_else(|wrong| panic!("{}: {wrong}\n{text}", run.name));
        let verdicts = samples
            .iter()
            .filter(|(name, _)| name.contains("_verdict{"));
        assert_eq!(verdicts.map(|(_, is)| is).sum::<f64>(), 1.0);
        let stale = |store: &str| {
            let name = format!(
                "lockdrill_stale_writes_total{{drill=\"{}\",store=\"{store}\"}}",
                run.result.drill
            );
            samples.get(&name).copied()
        };
        match run.name {
            "pass" => assert_eq!(
                (stale("refused"), stale("accepted")),
                (Some(1.0), Some(0.0))
            ),
            "fail" => assert_eq!(stale("accepted"), Some(1.0)),
            _ => {}
        }
    }
}

#[test]
fn the_reader_refuses_what_promtool_refuses() {
    let good = "# HELP a_total x\n# TYPE a_total counter\na_total{b=\"c\"} 1\n";
    assert!(read(good).is_ok());
    for (from, to) in [
        ("# HELP a_total x\n", ""),
        ("counter", "gauge"),
        ("} 1", "} one"),
        ("\"c\"", "c"),
        ("} 1\n", "} 1\na_total{b=\"c\"} 2\n"),
        ("} 1\n", "} 1"),
    ] {
        assert!(read(&good.replace(from, to)).is_err(), "{from} -> {to}");
    }
}

fn said(outcomes: &[(&str, &str, Outcome)], verdict: Verdict) -> Vec<Series> {
    let series = outcomes.iter().map(|(drill, check, outcome)| {
        let night = Night {
            checks: BTreeMap::from([((*check).to_owned(), *outcome)]),
            worst_run: Some((verdict, "run".to_owned())),
            ..Night::default()
        };
        Series {
            drill: (*drill).to_owned(),
            nights: BTreeMap::from([("2026-01-01".to_owned(), night)]),
            ..Series::default()
        }
    });
    series.collect()
}

#[test]
fn a_point_is_proven_only_by_everything_that_it_names() {
    let point = &POINTS[4];
    let both = |first, second| {
        [
            ("late-release", "owner_only", first),
            ("held-renew", "owner_only", second),
        ]
    };
    let (holds, violated) = (Outcome::Holds, Outcome::Violated);
    let of = |series: &[Series]| standing(point, series).0;
    assert_eq!(
        of(&said(&both(holds, holds), Verdict::Pass)),
        Standing::Proven
    );
    assert_eq!(
        of(&said(&both(holds, violated), Verdict::Fail)),
        Standing::Failed
    );
    assert_eq!(
        of(&said(&both(holds, holds)[..1], Verdict::Pass)),
        Standing::Partly,
        "one of the two drills has not run"
    );
    assert_eq!(
        of(&said(&both(holds, violated), Verdict::Limit)),
        Standing::Limit,
        "what a file foretells is no failure"
    );
    let unclear = said(&both(holds, holds), Verdict::Inconclusive);
    assert_eq!(
        of(&unclear),
        Standing::NotTested,
        "an inconclusive drill proves nothing"
    );
    assert_eq!(of(&[]), Standing::NotRun);
    assert_eq!(standing(&POINTS[0], &[]).0, Standing::Human);
}

#[test]
fn every_point_names_checks_that_exist() {
    for point in &POINTS {
        assert_eq!(
            point.shown_by.is_empty(),
            !point.human.is_empty(),
            "{}",
            point.what
        );
        for (_, check) in point.shown_by {
            let known = *check == OWNERS || checks::find(check).is_some();
            assert!(known, "{check}");
        }
    }
}

/// A release that compares no owner says nothing of whether owner tokens are shared.
#[test]
fn an_owner_token_of_its_own_is_no_comparison_of_it() {
    let (own, compared) = (&POINTS[3], &POINTS[4]);
    let of = |shared: i64| {
        let outcomes = [
            ("mutex", "owner_only", Outcome::Holds),
            ("late-release", "owner_only", Outcome::Violated),
            ("held-renew", "owner_only", Outcome::Holds),
        ];
        let mut all = said(&outcomes, Verdict::Fail);
        for night in all.iter_mut().flat_map(|series| series.nights.values_mut()) {
            night.figures.insert("owners_n".to_owned(), 2);
            night.figures.insert("owners_shared_n".to_owned(), shared);
        }
        (standing(own, &all).0, standing(compared, &all).0)
    };
    assert_eq!(of(0), (Standing::Proven, Standing::Failed));
    assert_eq!(of(1), (Standing::Failed, Standing::Failed));
}

/// A limit stays what the file said beforehand when something else was violated beside it.
#[test]
fn a_limit_beside_a_failure_is_still_foretold() {
    let outcomes = [("failover", "single_holder", Outcome::Violated)];
    let mut all = said(&outcomes, Verdict::Fail);
    let foretold = |all: &[Series]| {
        let worse = all[0].worse().unwrap();
        (worse.checks, worse.foretold)
    };
    let single = || vec!["single_holder".to_owned()];
    assert_eq!(foretold(&all), (single(), Vec::new()));
    let nights = all[0].nights.values_mut();
    for night in nights {
        night.limit.insert("single_holder".to_owned());
        night
            .checks
            .insert("no_stale_write".to_owned(), Outcome::Violated);
    }
    assert_eq!(
        foretold(&all),
        (vec!["no_stale_write".to_owned()], single())
    );
}

//! A hundred nights, made of recorded results: trend, rates, what got worse, and the size of the
//! page stay right.
#![allow(clippy::unwrap_used)]

use crate::support::golden;

use lockdrill::report::past::{Entry, file, remember, trend};
use lockdrill::report::{self};
use lockdrill::verdict::Verdict;
use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// The lines of the recorded runs, as a run adds them.
fn recorded(root: &Path) -> Vec<Entry> {
    for (seed, mut run) in (1..).zip(golden::all()) {
        // Two of them tell the same story: the seed makes them two runs.
        run.arms[0].0.seed = seed;
        let dir = root.join(&run.result.drill).join(run.name);
        fs::create_dir_all(&dir).unwrap();
        run.write(&dir);
        assert_eq!(remember(root, [(dir.as_path(), &run.result)]).unwrap(), 1);
        assert_eq!(remember(root, [(dir.as_path(), &run.result)]).unwrap(), 0);
    }
    file::read(root).unwrap().entries
}

fn day(night: u64) -> String {
    let at = UNIX_EPOCH + Duration::from_secs(1_700_000_000 + night * 86_400);
    humantime::format_rfc3339_seconds(at).to_string()
}

/// Each night ten executions of each of these; `change` makes them what they were.
fn nights(base: &[Entry], nights: u64, mut change: impl FnMut(u64, u64, &mut Entry)) -> Vec<Entry> {
    let mut all = Vec::new();
    for night in 0..nights {
        for base in base {
            for number in 0..10 {
                let mut entry = base.clone();
                entry.at = day(night);
                entry.run = format!("run-{night:04}-{number}");
                entry.id = format!("{}-{night}-{number}", base.id);
                change(night, number, &mut entry);
                all.push(entry);
            }
        }
    }
    all
}

fn green(root: &Path) -> Entry {
    let mut entries = recorded(root).into_iter();
    entries
        .find(|entry| entry.verdict == Verdict::Pass)
        .unwrap()
}

#[test]
fn a_line_says_what_ran_and_how_it_went() {
    let root = tempfile::tempdir().unwrap();
    let entry = green(root.path());
    assert_eq!(entry.drill, "pause");
    assert_eq!(
        (entry.lock.as_str(), entry.store.as_str()),
        ("redis", "sqlite")
    );
    assert_eq!(entry.controls.get("unfenced"), Some(&Some(true)));
    assert_eq!(entry.attempts, 1);
    assert!(entry.checks.contains_key("no_stale_write"), "{entry:?}");
    assert!(entry.figures.contains_key("length_ns"), "{entry:?}");
}

#[test]
fn a_hundred_nights_with_a_failing_one_at_the_end() {
    let root = tempfile::tempdir().unwrap();
    let base = green(root.path());
    let out = tempfile::tempdir().unwrap();
    let all = nights(&[base], 100, |night, number, entry| {
        if night < 20 {
            entry.plan = "another".to_owned();
            entry.verdict = Verdict::Fail;
        }
        if night >= 98 && number < 3 {
            entry.verdict = Verdict::Fail;
        }
        if night == 50 && number == 0 {
            entry.verdict = Verdict::Inconclusive;
        }
        if night == 60 && number == 0 {
            entry.attempts = 2;
        }
    });
    assert_eq!(file::append(out.path(), all).unwrap(), 1000);
    let past = file::read(out.path()).unwrap();
    let series = trend::series(&past.entries);
    let [series] = series.as_slice() else {
        panic!("{series:?}")
    };
    assert_eq!(series.nights.len(), 100);
    assert_eq!(series.earlier, 200, "a changed plan starts a new count");
    assert_eq!(series.failed, trend::Rate { k: 6, n: 799 });
    assert_eq!(series.unsettled, trend::Rate { k: 2, n: 800 });
    let interval = series.failed.interval();
    // Worked out apart, by the sums of the binomial tails.
    assert!((interval.low - 0.00276).abs() < 1e-4, "{interval:?}");
    assert!((interval.high - 0.01627).abs() < 1e-4, "{interval:?}");
    let worse = series.worse().unwrap();
    assert_eq!(worse.verdict, Verdict::Fail);
    assert_eq!(worse.since, day(98)[..10]);
    assert_eq!((worse.before, worse.nights), (98, 2));
    assert_eq!(worse.run, "run-0099-2");
    report::write_index(out.path()).unwrap();
    let page = fs::read_to_string(out.path().join("index.html")).unwrap();
    assert!(page.contains("Look here first"));
    assert!(page.contains(&format!("since {}", &day(98)[..10])));
    assert!(page.contains("6 of 799 (0.3 % to 1.6 %)"));
    assert!(page.contains("200 of earlier plans do not count"));
}

#[test]
fn the_page_grows_with_the_drills_and_not_with_the_nights() {
    let root = tempfile::tempdir().unwrap();
    let base = green(root.path());
    let drills: Vec<Entry> = (0..30)
        .map(|n| Entry {
            drill: format!("drill-{n:02}"),
            id: format!("{n}"),
            ..base.clone()
        })
        .collect();
    let size = |count| {
        let out = tempfile::tempdir().unwrap();
        file::append(out.path(), nights(&drills, count, |_, _, _| {})).unwrap();
        report::write_index(out.path()).unwrap();
        fs::metadata(out.path().join("index.html")).unwrap().len()
    };
    let (hundred, more) = (size(100), size(130));
    assert!(hundred < 600_000, "{hundred}");
    assert!(more < hundred + 2_000, "{hundred} {more}");
}

/// Many executions of one night: from when on they failed, and that lockdrill was changed then.
#[test]
fn what_changed_within_a_night_is_told_to_the_execution() {
    let root = tempfile::tempdir().unwrap();
    let base = green(root.path());
    let page = |bad: fn(u64) -> bool| {
        let out = tempfile::tempdir().unwrap();
        let all = nights(std::slice::from_ref(&base), 1, |_, number, entry| {
            entry.at = format!("2026-03-01T02:{number:02}:00Z");
            entry.lab = if number < 6 { "0.1.0 old" } else { "0.1.0 new" }.to_owned();
            if bad(number) {
                entry.verdict = Verdict::Fail;
            }
        });
        file::append(out.path(), all).unwrap();
        report::write_index(out.path()).unwrap();
        fs::read_to_string(out.path().join("index.html")).unwrap()
    };
    let since = "Each of its last 3 executions ended so, the first at 2026-03-01T02:07:00Z";
    let failing = page(|number| number >= 7);
    assert!(failing.contains(since));
    assert!(failing.contains("lockdrill itself is another one since 2026-03-01T02:06:00Z"));
    assert!(failing.contains("0.1.0 old") && failing.contains("0.1.0 new"));
    for bad in [|number| number == 3, |_| true] as [fn(u64) -> bool; 2] {
        assert!(!page(bad).contains("ended so, the first at"));
    }
}

#[test]
fn a_good_night_after_bad_ones_is_nothing_worse() {
    let root = tempfile::tempdir().unwrap();
    let base = green(root.path());
    let was = |bad: fn(u64) -> bool| {
        let all = nights(std::slice::from_ref(&base), 6, |night, _, entry| {
            if bad(night) {
                entry.verdict = Verdict::Inconclusive;
            }
        });
        trend::series(&all)[0].worse()
    };
    assert_eq!(was(|night| night < 5), None);
    let worse = was(|night| night == 2 || night > 3).unwrap();
    assert_eq!((worse.before, worse.nights), (4, 2));
    assert_eq!(was(|_| true).unwrap().before, 0);
}

#[test]
fn a_broken_line_loses_only_itself_and_is_told() {
    let root = tempfile::tempdir().unwrap();
    let base = green(root.path());
    let path = root.path().join(file::FILE);
    let text = fs::read_to_string(&path).unwrap();
    let whole = text.lines().count();
    fs::write(&path, format!("{text}nonsense\n{}", &text[..80])).unwrap();
    // The half line at the end is ended, not built upon.
    let mut next = base;
    next.id = "next".to_owned();
    assert_eq!(file::append(root.path(), vec![next]).unwrap(), 1);
    let past = file::read(root.path()).unwrap();
    assert_eq!(past.entries.len(), whole + 1);
    assert_eq!(past.lost, [whole + 1, whole + 2]);
    report::write_index(root.path()).unwrap();
    let page = fs::read_to_string(root.path().join("index.html")).unwrap();
    assert!(page.contains("2 lines could not be read"));
}

#[test]
fn labs_that_append_at_once_lose_nothing() {
    let root = tempfile::tempdir().unwrap();
    let base = green(root.path());
    let before = file::read(root.path()).unwrap().entries.len();
    std::thread::scope(|scope| {
        for lab in 0..4 {
            let (base, root) = (&base, root.path());
            scope.spawn(move || {
                for number in 0..25 {
                    let mut entry = base.clone();
                    entry.id = format!("{lab}-{number}");
                    entry.why = "long ".repeat(2000);
                    file::append(root, vec![entry]).unwrap();
                }
            });
        }
    });
    let past = file::read(root.path()).unwrap();
    assert_eq!((past.entries.len(), past.lost_count), (before + 100, 0));
    let text = fs::read_to_string(root.path().join(file::FILE)).unwrap();
    assert!(text.lines().all(|line| line.len() <= file::LINE_MAX));
}

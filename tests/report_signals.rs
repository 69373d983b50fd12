//! What a page says in numbers and pictures of numbers: the line that sums up, how near a run was,
//! the seven signals, and what to do about a limit.
#![allow(clippy::unwrap_used)]

use crate::support::golden;

use golden::Golden;
use lockdrill::report::charts::signal;
use lockdrill::report::model::Model;
use lockdrill::report::past::{Entry, file, remember};
use lockdrill::report::scene::Scene;
use lockdrill::report::scene::writes::{Fate, Harm};
use lockdrill::report::story::{limits, summed};
use lockdrill::report::tally::tally;
use lockdrill::report::times::{Stands, Times, suggested};
use lockdrill::report::{self, html, signals};
use lockdrill::timeline::event::{AttemptKind, Event};
use lockdrill::verdict::Verdict;
use lockdrill::{checks, experiment, faults};
use std::fs;
use std::path::Path;

fn named(name: &str) -> Golden {
    golden::all()
        .into_iter()
        .find(|run| run.name == name)
        .unwrap()
}

fn model(run: &Golden) -> Model {
    let root = tempfile::tempdir().unwrap();
    run.model(root.path())
}

/// The line and the signals count as the checks do, and a worker that was stopped inside overlaps
/// whoever was let in meanwhile.
#[test]
fn the_line_in_numbers_agrees_with_the_signals() {
    let model = model(&named("pass"));
    let history = &model.arms[0].record.as_ref().unwrap().history;
    let line = tally(history, &Scene::of(history));
    assert_eq!((line.asked, line.entered), (2, 2), "{line:?}");
    assert_eq!((line.overlapping, line.failed), (1, 0), "{line:?}");
    assert_eq!(
        (line.stale_accepted, line.stale_refused),
        (0, 1),
        "{line:?}"
    );
    let signals = signals::of(history, &Scene::of(history));
    assert_eq!(signals.len(), 8);
    let stale = signals.iter().find(|one| one.name == "stale writes");
    assert_eq!(stale.unwrap().value, "1 refused, 0 accepted");
    for signal in signals.iter().filter(|one| !one.shapes.is_empty()) {
        let picture = signal::draw(signal).unwrap();
        assert!(picture.shapes.len() > 1, "{}", signal.name);
    }
    // Two sections at once are explained where they stand: no two were entitled.
    let line = summed::line(&model.arms[0]).unwrap().plain();
    let explained = "overlapping entries 1 (a worker went in while another had not left, after that one's lease had ended: never were two entitled at once); highest";
    assert!(line.contains(explained), "{line}");
    assert!(
        html::page(&model)
            .unwrap()
            .contains("overlapping entries</abbr> 1")
    );
}

/// The store sees a number: one that two grants share tells neither from the other.
#[test]
fn an_equal_token_of_another_grant_is_stale_when_it_is_accepted() {
    let mut run = named("fail");
    for (_, lines) in &mut run.arms {
        for line in lines {
            if let Event::StoreAttempt {
                fencing,
                highest,
                kind: AttemptKind::Write,
                ..
            } = &mut line.event
            {
                *fencing = fencing.map(|_| lockdrill::ids::FencingToken(7));
                *highest = highest.map(|_| lockdrill::ids::FencingToken(7));
            }
        }
    }
    let model = model(&run);
    let writes = &model.arms[0].scene.writes;
    let twin = writes.iter().find(|write| write.twin.is_some()).unwrap();
    assert_eq!(twin.fate, Fate::Accepted);
    assert_eq!(twin.harm(), Some(Harm::Stale));
    let page = html::page(&model).unwrap();
    assert!(
        page.contains("of another grant with the same"),
        "{}",
        twin.write
    );
}

#[test]
fn a_lease_is_suggested_from_the_longest_work() {
    assert_eq!(suggested(2_440_000_000), 4_900_000_000);
    assert_eq!(suggested(1), 2);
    assert!(suggested(u64::MAX) > 0);
    let times = Times {
        lease: 1_000_000_000,
        renew: None,
        slowest: 0,
        longest: Some(2_440_000_000),
        noise: 0,
    };
    let told = times.suggestion();
    assert!(told.starts_with("a lease of 4.90 s at least"), "{told}");
    let short = Times {
        longest: Some(4_000_000),
        ..times
    };
    let told = short.suggestion();
    assert!(told.starts_with("nothing: the lease of 1.00 s"), "{told}");
    assert!(told.contains("no reason to shorten it"), "{told}");
    let renewed = |slowest, noise| {
        let renewed = Times {
            renew: Some(300_000_000),
            slowest,
            noise,
            ..times
        };
        (renewed.suggestion(), renewed.cell(), renewed.stands())
    };
    let (told, cell, stands) = renewed(200_000_000, 0);
    assert!(
        told.ends_with("of 1.00 s is 0.10 s shorter than that"),
        "{told}"
    );
    assert!(cell.ends_with(": too short for these times"), "{cell}");
    assert_eq!(stands, Stands::TooShort);
    // What reads the same to the hundredth is told by the difference.
    let (told, ..) = renewed(103_000_000, 0);
    assert!(told.ends_with("is 3 ms shorter than that"), "{told}");
    // What the host may have held up the lab for is no reason to call a lease too short.
    let (told, cell, stands) = renewed(103_000_000, 15_000_000);
    let as_long = "is as long as that: 3 ms are less than the noise of these times (15 ms)";
    assert!(told.ends_with(as_long), "{told}");
    assert_eq!(
        cell,
        "has 1.000 s; least 1.003 s: the same within the noise of these times, 15 ms"
    );
    assert_eq!(stands, Stands::WithinNoise);
    let (told, ..) = renewed(116_000_000, 15_000_000);
    assert!(told.ends_with("is 16 ms shorter than that"), "{told}");
    let (told, ..) = renewed(1_000_000, 0);
    assert!(
        told.ends_with("longer; that is no reason to shorten it"),
        "{told}"
    );
    // The same of a lease that is not renewed.
    let near = Times {
        longest: Some(505_000_000),
        noise: 200_000_000,
        ..times
    };
    let told = near.suggestion();
    assert!(
        told.starts_with("nothing: twice the longest work"),
        "{told}"
    );
    assert!(told.contains("0.10 s are less than the noise"), "{told}");
}

/// Each limit that a built-in drill names has more to say than that one must decide.
#[test]
fn every_limit_has_a_remedy_and_every_remedy_a_cause_that_exists() {
    for cause in limits::causes() {
        let known = faults::find(cause).is_some() || checks::find(cause).is_some();
        assert!(known, "{cause}");
    }
    let limited = experiment::built_in();
    let limited = limited.iter().filter(|drill| drill.main.limit.is_some());
    let mut seen = 0;
    for drill in limited {
        seen += 1;
        let checks = &drill.main.limit.as_ref().unwrap().checks;
        let told = limits::remedies(&drill.main, checks).count();
        assert!(told > 0, "{}", drill.name);
    }
    assert!(seen >= 5, "{seen}");
}

fn put(root: &Path, run: &Golden) -> Entry {
    let dir = root.join(&run.result.drill).join(run.name);
    fs::create_dir_all(&dir).unwrap();
    run.write(&dir);
    remember(root, [(dir.as_path(), &run.result)]).unwrap();
    let mut entries = file::read(root).unwrap().entries.into_iter();
    entries.find(|entry| entry.run == run.name).unwrap()
}

fn index(entries: Vec<Entry>) -> String {
    let root = tempfile::tempdir().unwrap();
    file::append(root.path(), entries).unwrap();
    report::write_index(root.path()).unwrap();
    fs::read_to_string(root.path().join("index.html")).unwrap()
}

fn night(entry: &Entry, day: u32, verdict: Verdict) -> Entry {
    Entry {
        at: format!("2026-01-{day:02}T01:00:00Z"),
        id: format!("{}-{day}", entry.drill),
        verdict,
        ..entry.clone()
    }
}

#[test]
fn the_index_compares_only_what_there_is_and_keeps_limits_apart() {
    let root = tempfile::tempdir().unwrap();
    let (pass, limit) = (
        put(root.path(), &named("pass")),
        put(root.path(), &named("limit")),
    );
    let one = index(vec![night(&limit, 1, Verdict::Limit)]);
    assert!(one.contains("No drill has run in more than one night yet"));
    assert!(
        !one.contains("outcome violated\">✕</span></td>"),
        "a limit is no fail"
    );
    assert!(one.contains("a limit, as foretold"));
    let two = index(vec![
        night(&pass, 1, Verdict::Pass),
        night(&pass, 2, Verdict::Pass),
    ]);
    assert!(two.contains("none was worse than in the night before."));
    assert!(two.contains("How near each drill was") && two.contains("The seven signals"));
    let bad = index(vec![
        night(&pass, 1, Verdict::Pass),
        night(&pass, 2, Verdict::Fail),
        night(&pass, 3, Verdict::Fail),
    ]);
    assert!(
        bad.contains("since 2026-01-02 (2 nights in a row); in the night before it was better")
    );
}

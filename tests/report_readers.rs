//! What a fresh reader reads off a page, a picture or the index, told of recorded runs: who is the
//! primary, what became of whoever never heard of its grant, what was done to a server, what has not
//! ended yet.
#![allow(clippy::unwrap_used)]

use lockdrill::report::charts::swimlane;
use lockdrill::report::html;
use lockdrill::report::model::Model;
use lockdrill::report::past::{Entry, file, remember};
use lockdrill::report::scene::Scene;
use lockdrill::report::scene::marks::{Renewal, Renewed};
use lockdrill::report::story::{chain, faults_done, holding, saved, summed, unheard};
use lockdrill::report::{self, metrics, signals};
use lockdrill::timeline::event::{Answer, Call};
use lockdrill::timeline::history::PointSeen;
use lockdrill::verdict::{self, Protection, Verdict};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn dir(drill: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/runs");
    dir.join(drill)
}

/// A real run that lies with the tests.
fn recorded(drill: &str) -> Model {
    let dir = dir(drill);
    Model::read(&dir, &verdict::judge_run_dir(&dir).unwrap()).unwrap()
}

/// What a page says, without its tags.
fn text(page: &str) -> String {
    let mut text = String::new();
    for part in page.split('<').skip(1) {
        text.push_str(part.split_once('>').map_or("", |(_, text)| text));
    }
    text.replace("&nbsp;", " ").replace('\u{a0}', " ")
}

#[track_caller]
fn says(text: &str, all: &[&str]) {
    for words in all {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
}

#[test]
fn a_picture_shows_who_is_the_primary_and_what_goes_on() {
    let model = recorded("failover");
    let scene = &model.arms[0].scene;
    let reigns: Vec<(&str, bool)> = scene
        .reigns
        .iter()
        .map(|reign| (reign.server.as_str(), reign.took_over))
        .collect();
    assert_eq!(reigns, [("redis-1", false), ("redis-2", true)]);
    let died = scene.down[0].1;
    assert!(scene.reigns[0].to <= died, "a dead server is no primary");
    assert!(scene.reigns[1].to >= scene.to, "the lab's own end is none");
    let picture = |scene: &Scene| {
        let options = swimlane::Options::default();
        let picture = swimlane::draw(scene, &options);
        lockdrill::report::charts::paint_svg::standalone(&picture, &|_| None)
    };
    let drawn = picture(scene);
    says(
        &drawn,
        &[
            "took over by 2.21 s",
            "by its own word",
            "lease goes on</text>",
            "the lease goes on beyond the end of the record",
        ],
    );
    let frozen = picture(&recorded("stop-server").arms[0].scene);
    says(&frozen, &["lease goes on</text>", "never heard of it"]);
    let pause = picture(&recorded("pause").arms[0].scene);
    assert!(!pause.contains("took over by") && !pause.contains("lease goes on</text>"));
}

#[test]
fn a_grant_that_nobody_heard_of_is_told_alike_everywhere() {
    let model = recorded("stop-server");
    let arm = &model.arms[0];
    let history = &arm.record.as_ref().unwrap().history;
    assert_eq!(
        unheard::told(arm)
            .iter()
            .map(|one| one.plain())
            .collect::<Vec<_>>(),
        [
            "b asked for the lock at 0.13 s and was told at 0.89 s that nobody knows whether it has it; the server granted it at 3.39 s all the same, and nobody was told; b wrote nothing under it, and its lease still runs when the record ends"
        ]
    );
    says(
        &summed::line(arm).unwrap().plain(),
        &[
            "not let in 1 (of these the server granted 1; the worker never heard of it)",
            "highest fencing token 2",
        ],
    );
    says(
        &holding::holders(&arm.scene).plain(),
        &["of which it never heard"],
    );
    says(
        &saved::by(arm).plain(),
        &["at 3.39 s, of which it never heard"],
    );
    let told: Vec<String> = signals::of(history, &Scene::of(history))
        .into_iter()
        .map(|one| one.value)
        .collect();
    says(
        &told.join("\n"),
        &[
            "(the server granted 1 of these; its worker never heard of it)",
            "2 commands for 2 grants (of 1 of them the worker never heard)",
            "1.50 s (until its lease ran out), 0.15 s (so far: still held when the record ends; its worker never heard of it)",
            "3.37 s; the longest took",
            "no server ended while the drill ran; done by the drill: stop-server of redis",
        ],
    );
    says(
        &steps(&model),
        &["b is granted the lock with fencing token 2, of which it never heard"],
    );
    says(
        &text(&html::page(&model).unwrap()),
        &["never: it was not told of the grant"],
    );
    says(
        &metrics::text(&model),
        &[
            "lockdrill_unheard_grants_total{drill=\"stop-server\",kind=\"grant\"} 1",
            "lockdrill_held_at_end{drill=\"stop-server\"} 1",
            "lockdrill_lock_server_faults_total{drill=\"stop-server\",kind=\"stop-server\",server=\"redis\"} 1",
        ],
    );
}

fn steps(model: &Model) -> String {
    let steps = chain::told(&model.arms[0]).told;
    let steps = steps.iter().map(|step| step.told.plain());
    steps.collect::<Vec<_>>().join("\n")
}

/// A fault counts from when it was seen to work; when it was begun stands beside that.
#[test]
fn the_onset_of_a_fault_is_told_by_one_rule() {
    let told = |drill: &str| -> String {
        let model = recorded(drill);
        let told = faults_done::told(&model.arms[0]);
        let told: Vec<String> = told.iter().map(|one| one.plain()).collect();
        told.join("\n") + "\n" + &steps(&model)
    };
    says(
        &told("failover"),
        &[
            "the fault named crash, begun at 1.53 s and done by 1.54 s (SIGKILL",
            "fault crash is begun: lose-server of redis-1, done by 1.542 s",
        ],
    );
    says(
        &told("stop-server"),
        &[
            "from 0.133 s (begun at 0.128 s) to",
            "fault freeze is in effect: stop-server of redis, begun at 0.128 s",
        ],
    );
    let page = html::page(&recorded("stop-server")).unwrap();
    says(
        &page,
        &["freeze: stop-server of redis, in effect from 0.13 s to"],
    );
    says(&text(&page), &["fault, from when it was seen to work"]);
}

#[test]
fn a_write_without_a_token_is_called_what_it_is() {
    let model = recorded("redlock-minority");
    let control = &model.arms[1];
    assert_eq!(control.result.arm, "two-voters");
    let mut found = control.result.checks.iter();
    let found = found.find(|found| found.check == "no_stale_write").unwrap();
    says(
        &found.why,
        &[
            "0 stale or late and refused, 0 accepted after its writer's lease had ended, 1 without a grant and without a fencing token and refused",
        ],
    );
    let words = "writes without the lock and without a fencing token 1: 0 accepted, 1 refused";
    says(
        &summed::line(control).unwrap().plain(),
        &["stale or late writes 0", words],
    );
    let history = &control.record.as_ref().unwrap().history;
    let stale = signals::of(history, &Scene::of(history)).swap_remove(5);
    assert_eq!(
        stale.value,
        "0 refused, 0 accepted; writes without a fencing token: 1 refused, 0 accepted"
    );
}

#[test]
fn the_index_explains_its_words_and_tells_what_the_pages_tell() {
    let root = tempfile::tempdir().unwrap();
    let entry = put(root.path(), "stop-server");
    report::write_index(root.path()).unwrap();
    let page = fs::read_to_string(root.path().join("index.html")).unwrap();
    let (told, words) = page.split_once("id=\"words\"").unwrap();
    says(
        words,
        &[
            "<dt>night, execution</dt>",
            "<dt>control</dt>",
            "<dt>grant, lease</dt>",
        ],
    );
    says(words, &["a job was not done and published exactly once"]);
    says(
        &text(told),
        &[
            "2 by 2 commands; 3 ms; of 1 the worker never heard",
            "no_false_lossnobody is told before its own deadline",
            "1.50 s; 1 still held at the end, 0.15 s so far",
            "no server ended; done by the drill: 1 × stop-server; 1 loss told",
        ],
    );
    assert_eq!(entry.figures.get("owners_shared_n"), Some(&0));
    // The page of the run and the index take the same noise into account.
    let near = |lease: i64| {
        let mut entry = entry.clone();
        entry.figures.insert("lease_min_ns".to_owned(), lease);
        entry.figures.insert("renewal_max_ns".to_owned(), 1_000_000);
        entry.figures.insert("noise_max_ns".to_owned(), 15_000_000);
        text(&index(vec![entry]))
    };
    says(
        &near(1_500_000_000),
        &["has 1.500 s; least 1.501 s: the same within the noise"],
    );
    says(
        &near(1_000_000_000),
        &["has 1.00 s; least 1.50 s: too short for these times"],
    );
}

fn put(root: &Path, drill: &str) -> Entry {
    let at = root.join(drill).join("one");
    fs::create_dir_all(&at).unwrap();
    for name in ["plan.json", "timeline.jsonl"] {
        fs::copy(dir(drill).join(name), at.join(name)).unwrap();
    }
    let result = verdict::judge_run_dir(&at).unwrap();
    remember(root, [(at.as_path(), &result)]).unwrap();
    file::read(root).unwrap().entries.remove(0)
}

fn index(entries: Vec<Entry>) -> String {
    let root = tempfile::tempdir().unwrap();
    file::append(root.path(), entries).unwrap();
    report::write_index(root.path()).unwrap();
    fs::read_to_string(root.path().join("index.html")).unwrap()
}

/// Among drills that are equally bad since the same night the alphabet decides last.
#[test]
fn what_to_look_at_first_is_not_what_the_alphabet_says() {
    let root = tempfile::tempdir().unwrap();
    let base = put(root.path(), "stop-server");
    let mut all = Vec::new();
    let mut drill = |name: &str, runs: &[Verdict], change: fn(&mut Entry)| {
        for (n, verdict) in runs.iter().enumerate() {
            let mut entry = Entry {
                drill: name.to_owned(),
                id: format!("{name}-{n}"),
                run: format!("{n}"),
                at: format!("2026-01-02T0{n}:00:00Z"),
                verdict: *verdict,
                protection: Protection::Kept,
                controls: BTreeMap::new(),
                ..base.clone()
            };
            change(&mut entry);
            all.push(entry);
        }
    };
    use Verdict::{Fail, Inconclusive, Pass};
    drill("g-limit", &[Verdict::Limit], |_| {});
    drill("h-limit", &[Verdict::Limit], |entry| {
        entry.protection = Protection::Lost;
    });
    drill("a-unclear", &[Inconclusive], |_| {});
    drill("b-often", &[Fail, Fail, Fail], |_| {});
    drill("c-once-of-two", &[Pass, Fail], |_| {});
    drill("d-always", &[Fail, Fail], |_| {});
    drill("e-green", &[Fail, Fail], |entry| {
        entry.controls.insert("unfenced".to_owned(), Some(false));
    });
    drill("f-lost", &[Fail, Fail], |entry| {
        entry.protection = Protection::Lost
    });
    let page = text(&index(all));
    let first = page.split_once("What to look at first").unwrap().1;
    let first = first.split_once("Each drill, night by night").unwrap().0;
    let places = [
        "f-lost",
        "e-green",
        "d-always",
        "c-once-of-two",
        "b-often",
        "a-unclear",
    ];
    let places = places.map(|name| first.find(&format!("{name} on")).unwrap());
    assert!(places.is_sorted(), "{places:?} {first}");
    says(
        first,
        &[
            "The work was lost.",
            "Not red, as it must be: control unfenced",
            "does not hold: h-limit (the work was lost), g-limit.",
        ],
    );
}

#[test]
fn a_page_tells_a_limit_from_what_else_was_violated() {
    let mut model = recorded("failover");
    model.result.verdict = Verdict::Fail;
    let line = "In this run, with these faults shown to have happened, single_holder was violated; single_holder is the limit that its file names beforehand.";
    let page = text(&html::page(&model).unwrap());
    says(
        &page,
        &[line, "the limit that the drill's file names beforehand"],
    );
}

/// What a reader of eight reports checked by hand against their records.
#[test]
fn what_is_told_of_a_holder_ends_where_the_record_says() {
    let frozen = recorded("stop-server");
    let arm = &frozen.arms[0];
    says(
        &saved::by(arm).plain(),
        &[
            "asking before the write: a was told",
            "asked before its next write, so it stopped",
        ],
    );
    assert_eq!(saved::word(arm), saved::ASKED);
    let failover = recorded("failover");
    let told = holding::holders(&failover.arms[0].scene).plain();
    says(
        &told,
        &[
            "then no key until the record ends at",
            ", while a was still entitled",
        ],
    );
    let page = html::page(&failover).unwrap();
    says(
        &text(&page),
        &["no key, while a was still entitled; the record ends at"],
    );
}

/// A step and the command that it waits for are one unknown, and what never left is no command.
#[test]
fn nothing_is_counted_twice_and_nothing_that_never_left() {
    let mut history = recorded("stop-server").arms[0]
        .record
        .as_ref()
        .unwrap()
        .history
        .clone();
    let value = |history: &_, name: &str| {
        let mut all = signals::of(history, &Scene::of(history)).into_iter();
        all.find(|one| one.name == name).unwrap().value
    };
    assert_eq!(value(&history, "unknown outcomes"), "5 operations");
    let attempts = "attempts an acquisition";
    says(&value(&history, attempts), &["2 commands for 2 grants"]);
    let mut operations = history.operations.iter_mut();
    let attempt = operations
        .find(|one| {
            let granted = matches!(one.answer(), Some(Answer::Granted { .. }));
            matches!(one.call, Call::Attempt { .. }) && !granted
        })
        .unwrap();
    attempt.returned = None;
    let stood = PointSeen {
        seq: u64::MAX,
        at: attempt.invoked,
        worker: attempt.worker,
        point: "b.acquire.1.armed".to_owned(),
        waits: true,
    };
    history.points.push(stood.clone());
    says(&value(&history, attempts), &["1 command for 2 grants"]);
    history.resumed.push(stood);
    says(&value(&history, attempts), &["2 commands for 2 grants"]);
}

/// Two wrote, and none of them late: the index says that nothing was put to the test, and so does the
/// page.
#[test]
fn the_index_and_the_page_take_no_untried_write_for_a_test() {
    for (drill, tried) in [("pause", true), ("redlock-minority", false)] {
        let root = tempfile::tempdir().unwrap();
        let entry = put(root.path(), drill);
        assert_eq!(
            entry.checks.contains_key("no_stale_write"),
            tried,
            "{drill}"
        );
        let page = html::page(&recorded(drill)).unwrap();
        let checks = page.split_once("<section id=\"checks\"").unwrap().1;
        let row = checks.split_once("<code>no_stale_write</code>").unwrap().1;
        let row = row.split_once("</tr>").unwrap().0;
        assert_eq!(row.contains("not put to the test"), !tried, "{row}");
    }
}

/// The renewals that a lost server fails are told in one sentence, and leave room for the rest.
#[test]
fn renewals_that_fail_in_a_row_are_one_step() {
    let mut arm = recorded("stop-server").arms.remove(0);
    let one = arm
        .scene
        .renewals
        .iter()
        .find(|one| one.became == Renewed::Unknown);
    let one = one.unwrap().clone();
    let row = (0..19).map(|n| Renewal {
        sent: one.sent + n * 30_000_000,
        answered: Some(one.sent + n * 30_000_000 + 1_000_000),
        ..one.clone()
    });
    arm.scene.renewals = row.collect();
    let steps = chain::told(&arm);
    assert_eq!(steps.left_out, 0);
    let told: Vec<String> = steps.told.iter().map(|step| step.told.plain()).collect();
    says(
        &told.join("\n"),
        &[
            "a sends 19 renewals in a row, from",
            "a is granted the lock",
        ],
    );
}

//! What a page tells of a control step by step, and what a stranger must be able to read off a page
//! without knowing the checks: what became of the work, who took a key, what a number of a line means.
#![allow(clippy::unwrap_used)]

use crate::support::golden;

use golden::Golden;
use lockdrill::experiment;
use lockdrill::report::html;
use lockdrill::report::model::Model;
use lockdrill::report::scene::tenure::Ended;
use lockdrill::report::story::{chain, controls, holding, saved, summed};
use lockdrill::timeline::event::{By, Event, Line};
use lockdrill::verdict;
use std::path::PathBuf;

/// A real run that lies with the tests.
fn recorded(drill: &str) -> Model {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/runs");
    let dir = dir.join(drill);
    Model::read(&dir, &verdict::judge_run_dir(&dir).unwrap()).unwrap()
}

fn named(name: &str) -> Golden {
    let mut all = golden::all().into_iter();
    all.find(|run| run.name == name).unwrap()
}

fn model(run: &Golden) -> Model {
    run.model(tempfile::tempdir().unwrap().path())
}

fn place(model: &Model, arm: &str) -> usize {
    let mut arms = model.arms.iter();
    arms.position(|one| one.result.arm == arm).unwrap()
}

/// The sentence of the table at the top about a control.
fn above(model: &Model, arm: &str) -> String {
    let told = controls::told(model).into_iter();
    let mut own = told.filter(|(control, _)| control.result.arm == arm);
    own.next().unwrap().1.plain()
}

fn steps(model: &Model, arm: &str) -> Vec<String> {
    let told = chain::told(&model.arms[place(model, arm)]).told;
    told.iter().map(|step| step.told.plain()).collect()
}

#[track_caller]
fn in_order(told: &[String], wanted: &[&str]) {
    let mut rest = told.iter();
    for words in wanted {
        assert!(
            rest.any(|step| step.contains(words)),
            "{words:?} in {told:#?}"
        );
    }
}

#[test]
fn a_racy_fence_is_seen_to_compare_before_and_to_write_after() {
    let model = recorded("pause");
    let told = above(&model, "racy-fence");
    assert!(
        told.contains(
            "its fencing token had been compared by 0.75 s, before b was granted the lock at 2.11 s"
        ),
        "{told}"
    );
    in_order(
        &steps(&model, "racy-fence"),
        &[
            "the store has compared the fencing token of a.write.2 (1)",
            "fault nap is in effect: pause of a",
            "b is granted the lock with fencing token 2",
            "b.write.1 reaches the store with fencing token 2 and is accepted",
            "a.write.2 reaches the store with fencing token 1 and is accepted, although the store knew 2; it replaces b.write.1 without having read it: that update is lost",
        ],
    );
    let compares = |step: &String| step.contains("has compared");
    assert!(!steps(&model, "unfenced").iter().any(compares));
}

#[test]
fn a_control_without_damage_says_what_became_of_the_work() {
    let mut model = recorded("pause");
    let told = above(&model, "blind_release");
    assert!(
        told.contains("; the work was kept by fencing: a wrote with fencing token 1 at 2.40 s"),
        "{told}"
    );
    assert!(!told.contains(", too"), "one key alone was deleted: {told}");
    // Had b's release deleted the next key in its turn, it would be told, too.
    let index = place(&model, "blind_release");
    let tenures = &mut model.arms[index].scene.tenures;
    tenures[2].key_taken = tenures[1].key_taken;
    tenures[2].deleted_by = vec!["b".into()];
    let told = above(&model, "blind_release");
    assert!(
        told.contains("; the key that a was granted with fencing token 3 was deleted by a release of b at 2.40 s, too;"),
        "{told}"
    );
}

#[test]
fn a_protection_that_two_controls_took_away_is_named_once() {
    let mut model = recorded("pause");
    let told = saved::told(&model, &model.arms[0])[1].plain();
    assert!(
        told.ends_with("that the fence compares and writes in one step (without it, in control racy-fence, an update was lost); the store's fence (atomic) (without it, in control unfenced, an update was lost)"),
        "{told}"
    );
    let racy = place(&model, "racy-fence");
    let record = model.arms[racy].record.as_mut().unwrap();
    record.plan.control.as_mut().unwrap().to = "off".into();
    let told = saved::told(&model, &model.arms[0])[1].plain();
    assert!(
        told.ends_with("the store's fence (atomic) (without it, in control racy-fence, an update was lost; in control unfenced, an update was lost)"),
        "{told}"
    );
}

/// The store had heard of the newer holder by its seal alone.
#[test]
fn the_line_of_numbers_counts_the_writes_that_the_answers_count() {
    let model = recorded("late-first");
    let line = summed::line(&model.arms[0]).unwrap().plain();
    assert!(
        line.contains("stale or late writes 1: 0 accepted, 1 refused"),
        "{line}"
    );
    let line = summed::line(&model.arms[1]).unwrap().plain();
    assert!(
        line.contains("stale or late writes 1: 1 accepted, 0 refused"),
        "{line}"
    );
}

#[test]
fn a_number_that_was_wrong_is_not_called_its_writers_fault() {
    let model = model(&named("limit"));
    in_order(
        &steps(&model, "unfenced"),
        &[
            "the key of a's grant (fencing token 1) is flushed; a stays entitled until 2.44 s",
            "b is granted the lock with fencing token 1, the same number that a was granted before, while a is still entitled",
            "b.write.1 reaches the store with fencing token 1 and is accepted",
        ],
    );
    let told = above(&model, "unfenced");
    assert!(
        told.contains("the lock server had granted the lock to b last, so the number was wrong and not the writer"),
        "{told}"
    );
}

#[test]
fn a_grant_that_the_record_does_not_see_end_says_so() {
    let mut scene = model(&named("pass")).arms[0].scene.clone();
    scene.tenures.truncate(1);
    scene.tenures[0].ended = Ended::Open;
    let told = holding::holders(&scene).plain();
    assert!(
        told.contains("a from 0.43 s on (its lease still runs when the record ends)"),
        "{told}"
    );
}

/// The queue's own log: known before, it keeps the job once; not known before, it takes it again.
#[test]
fn a_job_is_published_again_only_where_the_queue_took_it_again() {
    let page = |known_before| {
        let mut run = named("pass");
        let lines = &mut run.arms[0].1;
        for (n, known_before) in [(1, false), (2, known_before)] {
            lines.push(Line {
                seq: lines.len() as u64,
                at: 3_600_000_000 + n,
                by: By::Worker("b".into()),
                event: Event::Published {
                    n,
                    message: "invoice-7".into(),
                    publish: format!("b.publish.{n}"),
                    known_before,
                    applied: 1_000_000_000 * n,
                },
            });
        }
        html::page(&model(&run)).unwrap()
    };
    let (again, known) = ("published again</text>", "known, kept once</text>");
    let page_of = page(true);
    assert!(page_of.contains(known) && !page_of.contains(again));
    let page_of = page(false);
    assert!(page_of.contains(again) && !page_of.contains(known));
}

/// A drill that breaks the same thing is not praised for trying something new.
#[test]
fn a_drill_with_the_same_fault_is_proposed_as_what_it_is() {
    let mut run = named("pass");
    let drills = experiment::built_in();
    let own = drills.into_iter().find(|drill| drill.name == "half-done");
    run.arms[0].0 = own.unwrap().main;
    run.result.drill = "half-done".into();
    let page = html::page(&model(&run)).unwrap();
    let kill = page
        .split("<code>lockdrill run kill</code>")
        .nth(1)
        .unwrap();
    assert!(
        kill.starts_with(", which breaks the same (kill) in another course of events: "),
        "{}",
        &kill[..80]
    );
}

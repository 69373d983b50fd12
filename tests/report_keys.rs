//! What becomes of keys and of those who hold them, as a report tells it: a key that something
//! else took, a key without a lease, a holder that died, a rightful writer that was refused.
#![allow(clippy::unwrap_used)]

use crate::support::golden;

use golden::tape::{Tape, Write, grant, ms, owner};
use golden::{Golden, plans};
use lockdrill::ids::FencingToken;
use lockdrill::report::scene::Scene;
use lockdrill::report::scene::frames::Did;
use lockdrill::report::scene::marks::Renewed;
use lockdrill::report::scene::tenure::Ended;
use lockdrill::report::story::{faults_done, holding, saved};
use lockdrill::timeline::event::{Answer, Call, Change, Event, FrameFate, Line, Outcome};
use lockdrill::timeline::history::History;

fn scene(lines: Vec<Line>) -> Scene {
    Scene::of(&History::from_lines(&plans::flush(), lines))
}

fn limit() -> Golden {
    let mut all = golden::all().into_iter();
    all.find(|run| run.name == "limit").unwrap()
}

/// a is granted the lock at 432 ms with a key that has this lease, and writes.
fn granted(tape: &mut Tape, lease: Option<u64>) {
    tape.clock(410);
    let (step, _) = tape.invoke(430, "a", Some("acquire.1"), Call::Acquire);
    let attempt = Call::Attempt {
        grant: grant("a", 1),
        owner: owner("a", 1),
    };
    let (op, _) = tape.invoke(431, "a", None, attempt);
    match lease {
        Some(lease) => {
            tape.set(432, "a", 1, lease);
        }
        None => {
            tape.effect(
                432,
                Change::Set {
                    owner: owner("a", 1),
                    fencing: Some(FencingToken(1)),
                    until_ms: None,
                },
            );
        }
    }
    let answer = || Answer::Granted {
        grant: grant("a", 1),
        fencing: Some(FencingToken(1)),
        lease_ms: 1500,
    };
    tape.ret(434, "a", op, Outcome::Ok, answer());
    tape.ret(435, "a", step, Outcome::Ok, answer());
}

#[test]
fn a_key_without_a_lease_never_ends() {
    let mut tape = Tape::start("flush", "main", "20260302-021500-1");
    granted(&mut tape, None);
    let scene = scene(tape.finish(4000, "a.write.1", 1));
    let tenure = &scene.tenures[0];
    assert!(tenure.endless);
    assert_eq!((tenure.ended, tenure.until), (Ended::Open, scene.ends));
    let told = holding::holders(&scene).plain();
    assert_eq!(
        told,
        "nobody until 0.43 s, then a from 0.43 s to 4.03 s (a key without a lease, it never ends); the key is still there when the record ends at 4.03 s"
    );
}

#[test]
fn the_dead_believe_nothing() {
    let mut tape = Tape::start("flush", "main", "20260302-021500-1");
    granted(&mut tape, Some(1500));
    tape.lab(
        600,
        Event::WorkerExited {
            worker: "a".into(),
            code: None,
            signal: Some(9),
        },
    );
    let scene = scene(tape.finish(4000, "a.write.1", 1));
    let belief = &scene.beliefs[0];
    assert_eq!((belief.until, belief.died), (ms(600), true));
    assert!(!scene.tenures[0].endless);
    assert_eq!(scene.tenures[0].ended, Ended::Expired);
}

#[test]
fn a_bar_ends_where_its_key_ended_and_the_promise_goes_on() {
    let root = tempfile::tempdir().unwrap();
    let model = limit().model(root.path());
    let first = &model.arms[0].scene.tenures[0];
    let taken = first.key_taken.unwrap();
    assert_eq!((taken.how, taken.at), ("flushed", first.until));
    assert!(first.entitled > first.until + ms(1000));
}

#[test]
fn a_rightful_writer_that_was_refused_is_not_called_late() {
    let root = tempfile::tempdir().unwrap();
    let model = limit().model(root.path());
    let told = saved::by(&model.arms[0]).plain();
    assert_eq!(
        told,
        "none: the store's fence (atomic) compared fencing tokens, and the one that b was granted was not above an older one; so it kept out b, whom the lock server had granted the lock last, and let in a"
    );
    let refused = model.arms[0]
        .scene
        .writes
        .iter()
        .find(|write| write.rightful);
    assert_eq!(refused.unwrap().write, "b.write.1");
    let write = Write {
        worker: "a",
        n: 1,
        token: 1,
        based_on: None,
    };
    let mut tape = Tape::start("flush", "main", "20260302-021500-1");
    granted(&mut tape, Some(1500));
    tape.ask_write(3000, &write);
    tape.store(3001, &write, false, Some(2));
    let late = scene(tape.finish(4000, "b.write.1", 2));
    assert!(late.writes[0].late.is_some());
}

#[test]
fn a_renewal_that_the_server_never_applied_is_told_apart() {
    let mut tape = Tape::start("flush", "main", "20260302-021500-1");
    granted(&mut tape, Some(1500));
    tape.renew(900, "a", 1, 1500);
    let renew = Call::Renew {
        grant: grant("a", 1),
        auto: true,
    };
    let told = (Outcome::Ok, Answer::Renewed);
    tape.op((1400, 1450), "a", None, renew, told);
    let scene = scene(tape.finish(4000, "a.write.1", 1));
    let became: Vec<Renewed> = scene.renewals.iter().map(|one| one.became).collect();
    assert_eq!(became, [Renewed::Applied, Renewed::OnlyTold]);
    let at = scene.renewals[0].at();
    assert!((ms(900)..=ms(902)).contains(&at), "{at}");
    assert_eq!(scene.renewals[1].at(), ms(1450));
}

#[test]
fn a_fault_that_is_over_at_once_has_no_end_to_miss() {
    let root = tempfile::tempdir().unwrap();
    let model = limit().model(root.path());
    let told = faults_done::told(&model.arms[0])[0].plain();
    assert!(
        told.contains("the fault named amnesia, done by 1.10 s"),
        "{told}"
    );
    assert!(!told.contains("not on the record"), "{told}");
}

#[test]
fn the_index_counts_a_limit_as_a_limit() {
    let root = tempfile::tempdir().unwrap();
    let run = limit();
    let dir = run.model(root.path()).dir;
    lockdrill::report::write_all(&dir, &run.result).unwrap();
    let index = std::fs::read_to_string(root.path().join("index.html")).unwrap();
    let words = "Of 1 run, 1 reached the limit that the drill's file names, 0 passed, 0 failed.";
    assert!(index.contains(words));
}

/// A renewal is held until b holds the lock: where it arrives, and that it changes nothing.
#[test]
fn a_held_renewal_is_told_where_it_arrives() {
    let mut tape = Tape::start("flush", "main", "20260302-021500-1");
    granted(&mut tape, Some(1000));
    let renew = Call::Renew {
        grant: grant("a", 1),
        auto: false,
    };
    tape.invoke(500, "a", Some("renew.1"), renew);
    let frame = |what| Event::Frame {
        fault: "amnesia".into(),
        edge: "a>redis".into(),
        what,
        reply: false,
    };
    tape.lab(501, frame(FrameFate::Held));
    tape.effect(1440, Change::Deleted);
    let attempt = Call::Attempt {
        grant: grant("b", 2),
        owner: owner("b", 2),
    };
    let (op, _) = tape.invoke(1449, "b", None, attempt);
    tape.set(1450, "b", 2, 1500);
    let answer = Answer::Granted {
        grant: grant("b", 2),
        fencing: Some(FencingToken(2)),
        lease_ms: 1500,
    };
    tape.ret(1452, "b", op, Outcome::Ok, answer);
    tape.lab(1500, frame(FrameFate::Delivered));
    let scene = scene(tape.finish(4000, "a.write.1", 2));
    let held = &scene.frames[0];
    assert_eq!((held.what, held.at), ("renewal", ms(1500)));
    assert_eq!(held.did, Did::Nothing);
    let other = faults_done::holder(&scene, held).unwrap();
    assert_eq!(other.worker.as_deref(), Some("b"));
}

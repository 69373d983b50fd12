//! Several real workers on a real Redis: what the drills are made of, played by hand.
#![allow(clippy::unwrap_used)]

use crate::support;

use lockdrill::env::stop::stop_group;
use lockdrill::ids::{FencingToken, OwnerDigest};
use lockdrill::plan::StepAction::{self, Acquire, Await, Check, Enter, Read, Release, Write};
use lockdrill::store::Logged;
use lockdrill::timeline::event::{Answer, Call, Event};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use support::drill::{Drill, script, worker};
use support::played_director::{Played, transcript};
use support::redis_server::RedisServer;

const ENTER: StepAction = Enter { wait_ms: 20_000 };

/// The lock's key as the back end names it, with the prefix of these tests.
const KEY: &str = "t:{account}";

fn answered(worker: &Played, wanted: &Answer) -> bool {
    let mut events = worker.seen.iter().map(|line| &line.event);
    events.any(|event| matches!(event, Event::Return { answer, .. } if answer == wanted))
}

fn until_answer(worker: &mut Played, wanted: Answer) {
    worker.until(
        &format!("{wanted:?}"),
        |event| matches!(event, Event::Return { answer, .. } if *answer == wanted),
    );
}

#[test]
fn a_holder_that_sleeps_through_its_lease_is_refused_and_disturbs_nobody() {
    let redis = RedisServer::start();
    let a = worker("a", script(&[Acquire, Write, Check, Write, Check, Release]));
    let a_released = "a.released".to_owned();
    let b = [
        ENTER,
        Read,
        Write,
        Await { event: a_released },
        Check,
        Release,
    ];
    let b = worker("b", script(&b));
    let mut drill = Drill::on_redis(&redis.address(), vec![a, b]);
    drill.plan.lock.lease_ms = 1_500;
    drill.plan.lock.renew_ms = Some(300);

    let mut a = drill.start("a", &["a.write.2.armed"]);
    a.until_waiting("a.write.2.armed");
    stop_group(a.group()).unwrap();
    a.go();

    let mut b = drill.start("b", &[]);
    b.until_waiting("b.await.1.before");
    let held_by_b: String = redis.tell(&format!("GET {KEY}"));
    assert!(answered(&b, &Answer::Accepted));

    killpg(Pid::from_raw(a.group()), Signal::SIGCONT).unwrap();
    assert!(a.finish().success());
    let told = transcript(&a.seen);
    let highest = Some(FencingToken(2));
    assert!(answered(&a, &Answer::Rejected { highest }), "{told:#?}");
    assert!(answered(&a, &Answer::Locked { locked: false }), "{told:#?}");
    assert!(answered(&a, &Answer::AlreadyLost), "{told:#?}");
    let lost = told.iter().filter(|line| line.starts_with("lost a.1: "));
    assert_eq!(lost.count(), 1, "{told:#?}");
    assert_eq!(redis.tell::<String>(&format!("GET {KEY}")), held_by_b);

    b.go();
    until_answer(&mut b, Answer::Locked { locked: true });
    until_answer(&mut b, Answer::Released);
    assert!(b.finish().success());
    let order = [
        ("a.write.1", true),
        ("b.read.1", true),
        ("b.write.1", true),
        ("a.write.2", false),
    ];
    assert_eq!(
        drill.attempts(),
        order.map(|(write, ok)| (write.to_owned(), ok))
    );
}

#[test]
fn a_busy_lock_is_told_and_the_script_goes_on_without_it() {
    let redis = RedisServer::start();
    let a = worker("a", script(&[Acquire, Release]));
    let b = worker("b", script(&[Acquire, Check, Write, Release]));
    let drill = Drill::on_redis(&redis.address(), vec![a, b]);
    let mut a = drill.start("a", &["a.release.1.before"]);
    a.until_waiting("a.release.1.before");

    let mut b = drill.start("b", &[]);
    assert!(b.finish().success());
    assert!(answered(&b, &Answer::Busy));
    assert!(answered(&b, &Answer::Locked { locked: false }));
    assert_eq!(drill.attempts(), [("b.write.1".to_owned(), false)]);
    a.go();
    until_answer(&mut a, Answer::Released);
    assert!(a.finish().success());
}

#[test]
fn workers_that_take_turns_leave_one_chain() {
    let redis = RedisServer::start();
    let names = ["a", "b", "c", "d"];
    let turn = [ENTER, Write, Release];
    let turns = script(&vec![turn; 4].concat());
    let workers = names.map(|name| worker(name, turns.clone())).to_vec();
    let drill = Drill::on_redis(&redis.address(), workers);
    let mut playing = names.map(|name| drill.start(name, &[]));
    for worker in &mut playing {
        let status = worker.finish();
        assert!(status.success(), "{:#?}", transcript(&worker.seen));
    }

    let log = drill.store_log();
    assert_eq!(log.len(), 16, "four turns of four");
    let mut before: Option<&Logged> = None;
    for (line, n) in log.iter().zip(1..) {
        assert_eq!(line.n, n, "no gaps");
        assert!(line.accepted, "{line:?}");
        assert!(line.attempt.fencing > line.highest, "tokens rise");
        let standing = before.map(|line| line.attempt.write.clone());
        assert_eq!(line.attempt.based_on, standing, "one chain");
        before = Some(line);
    }
}

#[test]
fn a_raw_owner_token_is_on_the_server_and_nowhere_else() {
    let redis = RedisServer::start();
    let a = worker("a", script(&[Acquire, Write, Release]));
    let drill = Drill::on_redis(&redis.address(), vec![a]);
    let mut a = drill.start("a", &["a.write.1.after"]);
    a.until_waiting("a.write.1.after");
    let value: String = redis.tell(&format!("GET {KEY}"));
    let token = value.split(':').next().unwrap().to_owned();
    a.go();
    assert!(a.finish().success());

    let digest = OwnerDigest::of(token.as_bytes());
    let attempted = a.seen.iter().any(|line| {
        matches!(&line.event, Event::Invoke { call: Call::Attempt { owner, .. }, .. } if *owner == digest)
    });
    assert!(attempted, "the digest tells whose it was");
    let log = std::fs::read_to_string(&a.stderr).unwrap();
    assert!(log.contains(&digest.0), "{log}");
    let record = serde_json::to_string(&a.seen).unwrap();
    assert!(!record.contains(&token) && !log.contains(&token));
}

#[test]
fn a_worker_without_its_lock_service_says_so() {
    let mut redis = RedisServer::start();
    let a = worker("a", script(&[Acquire]));
    let drill = Drill::on_redis(&redis.address(), vec![a]);
    redis.kill();
    let mut a = drill.start("a", &[]);
    assert_eq!(a.finish().code(), Some(4));
    let told = transcript(&a.seen);
    assert!(told.len() == 1 && told[0].starts_with("note: "), "{told:?}");
}

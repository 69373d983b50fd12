//! What a worker asks before it writes, what it presents, and what its work leaves running.
#![allow(clippy::unwrap_used)]

use crate::support;

use lockdrill::ids::FencingToken;
use lockdrill::plan::StepAction::{self, *};
use lockdrill::plan::{Fencing, Gate, RunsOn};
use lockdrill::timeline::event::{Answer, Call, Event, Outcome};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use support::drill::{Drill, script, worker};
use support::played_director::{Played, transcript};
use support::redis_server::RedisServer;

fn play(drill: &Drill) -> Played {
    let mut played = drill.start("a", &[]);
    let status = played.finish();
    let log = std::fs::read_to_string(&played.stderr).unwrap();
    assert!(status.success(), "{status}: {log}");
    played
}

fn alone(actions: &[StepAction]) -> Drill {
    Drill::alone(script(actions))
}

/// The lease of `a` ends between its two writes.
fn outlived(gate: Gate) -> (Vec<(String, bool)>, Vec<String>) {
    let mut drill = alone(&[Acquire, Write, Hold { for_ms: 400 }, Write]);
    drill.plan.lock.lease_ms = 200;
    drill.plan.workers[0].gate = gate;
    let told = transcript(&play(&drill).seen);
    (drill.attempts(), told)
}

#[test]
fn a_gate_leaves_out_what_it_does_not_let_through() {
    let both = [
        ("a.write.1".to_owned(), true),
        ("a.write.2".to_owned(), true),
    ];
    assert_eq!(outlived(Gate::None).0, both);
    assert_eq!(outlived(Gate::Handle).0, both, "the handle is still there");
    let (attempts, told) = outlived(Gate::IsLocked);
    assert_eq!(attempts, both[..1]);
    assert!(
        told.iter().any(|line| line.ends_with("write.2: check")),
        "{told:#?}"
    );
    assert!(told.contains(&"at a.write.2.after".to_owned()));
}

#[test]
fn a_handle_is_only_there_once_it_was_given() {
    let mut drill = alone(&[Write, Acquire, Write]);
    drill.plan.workers[0].gate = Gate::Handle;
    play(&drill);
    assert_eq!(drill.attempts(), [("a.write.2".to_owned(), true)]);
}

#[test]
fn a_counter_of_its_own_counts_the_grants_of_this_worker() {
    let server = RedisServer::start();
    let again = [Acquire, Release, Acquire, Write];
    let mut drill = Drill::on_redis(
        &server.address(),
        vec![worker("b", script(&again)), worker("a", script(&again))],
    );
    let mut other = drill.start("b", &[]);
    assert!(other.finish().success());
    drill.plan.workers[1].fencing = Fencing::OwnCounter;
    play(&drill);
    let log = drill.store_log();
    let tokens: Vec<_> = log.iter().map(|line| line.attempt.fencing).collect();
    assert_eq!(tokens, [Some(FencingToken(2)), Some(FencingToken(2))]);
    assert!(!log[1].accepted, "the lock gave it 4");
}

#[test]
fn a_worker_may_lock_a_key_of_its_own() {
    let server = RedisServer::start();
    let workers = vec![
        worker("b", script(&[Acquire])),
        worker("a", script(&[Acquire])),
    ];
    let mut drill = Drill::on_redis(&server.address(), workers);
    drill.plan.workers[1].key = Some("other".to_owned());
    let mut holder = drill.start("b", &["b.acquire.1.after"]);
    holder.until_waiting("b.acquire.1.after");
    let told = transcript(&play(&drill).seen);
    assert!(
        told.iter().any(|line| line.contains("granted")),
        "{told:#?}"
    );
}

/// The answers of the renewals that `a` was given while it computed for two leases and a half.
fn renewed_while_it_burns(renewal: RunsOn) -> usize {
    let server = RedisServer::start();
    let actions = [Acquire, Burn { for_ms: 1_000 }, Check];
    let mut drill = Drill::on_redis(&server.address(), vec![worker("a", script(&actions))]);
    drill.plan.lock.lease_ms = 400;
    drill.plan.lock.renew_ms = Some(100);
    drill.plan.lock.renewal = renewal;
    let played = play(&drill);
    let at = |point: &str| {
        let found = |event: &Event| matches!(event, Event::Point { point: at, .. } if at == point);
        played
            .seen
            .iter()
            .position(|line| found(&line.event))
            .unwrap()
    };
    let during = &played.seen[at("a.burn.1.before")..at("a.burn.1.after")];
    let renewed = Answer::Renewed;
    during
        .iter()
        .filter(|line| matches!(&line.event, Event::Return { answer, .. } if *answer == renewed))
        .count()
}

#[test]
fn work_starves_renewals_only_on_its_own_thread() {
    assert!(renewed_while_it_burns(RunsOn::Own) >= 2);
    assert_eq!(renewed_while_it_burns(RunsOn::Script), 0);
}

#[test]
fn an_acquire_stands_at_its_last_moment_and_is_decided_after() {
    let server = RedisServer::start();
    let actions = [Acquire, Acquire];
    let workers = vec![
        worker("a", script(&actions)),
        worker("b", script(&[Acquire])),
    ];
    let drill = Drill::on_redis(&server.address(), workers);
    let mut a = drill.start("a", &["a.acquire.1.armed"]);
    a.until_waiting("a.acquire.1.armed");
    // It has not asked yet: somebody else is granted.
    let mut b = drill.start("b", &["b.acquire.1.after"]);
    b.until_waiting("b.acquire.1.after");
    a.go();
    assert!(a.finish().success());
    let told = transcript(&a.seen);
    let armed = told
        .iter()
        .filter(|line| line.ends_with(".armed") && !line.starts_with("resumed"));
    assert_eq!(armed.count(), 2, "one a step: {told:#?}");
    assert!(told.contains(&r#"2 fail: "busy""#.to_owned()), "{told:#?}");
}

#[test]
fn an_acquire_of_two_commands_stands_between_them() {
    let server = RedisServer::start();
    let mut drill = Drill::on_redis(&server.address(), vec![worker("a", script(&[Acquire]))]);
    drill.plan.lock.flaw = Some("set_then_pexpire".to_owned());
    let mut a = drill.start("a", &["a.acquire.1.armed"]);
    a.until_waiting("a.acquire.1.armed");
    let ttl = |server: &RedisServer| -> i64 {
        let mut ask = redis::cmd("PTTL");
        ask.arg("t:{account}")
            .query(&mut server.connection())
            .unwrap()
    };
    assert_eq!(ttl(&server), -1, "a key without a lease");
    a.go();
    a.until("granted", |event| {
        matches!(
            event,
            Event::Return {
                answer: Answer::Granted { .. },
                ..
            }
        )
    });
    assert!(a.finish().success());
}

#[test]
fn an_answer_that_does_not_come_in_time_is_unknown() {
    let server = RedisServer::start();
    let stop = |signal| kill(Pid::from_raw(server.pid()), signal).unwrap();
    let within = WriteAs {
        job: Some("j".to_owned()),
        if_pending: false,
        within_ms: Some(200),
    };
    let mut drill = alone(&[Acquire, Read, within]);
    drill.store_server = Some(format!("redis://{}", server.address()));
    let mut a = drill.start("a", &["a.write.1.armed"]);
    a.until_waiting("a.write.1.armed");
    stop(Signal::SIGSTOP);
    a.go();
    let returned = |event: &Event| {
        matches!(event, Event::Return { outcome: Outcome::Info, answer: Answer::Error { message }, .. }
            if message == "no answer within 200 ms")
    };
    a.until("an unknown outcome", returned);
    stop(Signal::SIGCONT);
    assert!(a.finish().success());
    // And it was done all the same.
    let said = |id: &str| (id.to_owned(), true);
    assert_eq!(drill.attempts(), ["a.read.1", "a.write.1"].map(said));
    assert_eq!(drill.store_log()[1].attempt.job.as_deref(), Some("j"));
    let asked = |event: &Event| {
        matches!(
            event,
            Event::Invoke {
                call: Call::Write { .. },
                ..
            }
        )
    };
    assert_eq!(a.seen.iter().filter(|line| asked(&line.event)).count(), 1);
}

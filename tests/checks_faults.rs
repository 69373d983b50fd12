//! Faults of workers, servers and edges on literal histories: each way to fake one leaves it
//! unproven, and what they do to the lock is seen as what it is.
#![allow(clippy::unwrap_used)]

use crate::support::history::*;

use lockdrill::checks::Outcome as Found;
use lockdrill::plan::{Asks, ChosenCommand, FaultPlan, Heal, Service, Target};
use lockdrill::timeline::event::{
    Answer, Change, Event, FrameFate, Line, Outcome, Seen, ThreadLook,
};
use lockdrill::timeline::history::KeyEnd;

/// The fault of every test here begins at 500 ms, is in effect from 502 ms, and is undone from
/// 900 ms to 902 ms if it can be undone.
const FAULT: &str = "f";
const BEGAN: u64 = 500;
const HEAL: u64 = 900;

/// A record with one fault, its onset and, if it lasts, its heal. Nothing shows it yet.
fn struck(kind: &str, target: Target) -> Record {
    let mut h = Record::new();
    h.lab(1, server_started(50, 500));
    let kind = lockdrill::faults::find(kind).unwrap();
    let (worker, server) = match &target {
        Target::Worker(worker) => (Some(worker.clone()), None),
        Target::Server(_) | Target::Member(_) => (None, Some(SERVER.to_owned())),
        Target::Holder | Target::Everyone => (None, None),
    };
    let chooses = kind
        .harm()
        .is_some_and(lockdrill::env::action::Harm::chooses);
    h.plan.faults.push(FaultPlan {
        name: FAULT.to_owned(),
        kind: kind.name.to_owned(),
        target,
        edge: kind.harm().map(|_| Service::Lock),
        command: chooses.then_some(ChosenCommand {
            asks: Asks::Renew,
            nth: 1,
        }),
        by_ms: None,
        when: "a.acquired".to_owned(),
        heal: kind.lasts().then_some(Heal::For(HEAL - BEGAN)),
    });
    h.lab(
        BEGAN + 2,
        Event::FaultOnset {
            fault: FAULT.to_owned(),
            kind: kind.name.to_owned(),
            worker,
            server,
            grant: None,
            trigger: "t".to_owned(),
            began: ns(BEGAN),
            effective: ns(BEGAN + 2),
        },
    );
    if kind.lasts() {
        h.heal(FAULT, HEAL);
    }
    h
}

fn worker_a() -> Target {
    Target::Worker("a".to_owned())
}

fn server() -> Target {
    Target::Server(Service::Lock)
}

fn server_started(pid: i32, start_ticks: u64) -> Event {
    Event::ServerStarted {
        server: SERVER.to_owned(),
        pid,
        start_ticks,
    }
}

fn server_exited(pid: i32, signal: i32) -> Event {
    Event::ServerExited {
        server: SERVER.to_owned(),
        pid,
        code: None,
        signal: Some(signal),
    }
}

/// The same record with some lines changed, or gone.
fn with(h: &Record, mut change: impl FnMut(&mut Line) -> bool) -> Record {
    let mut h = h.clone();
    h.lines.retain_mut(|line| change(line));
    for (seq, line) in h.lines.iter_mut().enumerate() {
        line.seq = seq as u64;
    }
    h
}

fn without(h: &Record, is_it: impl Fn(&Event) -> bool) -> Record {
    with(h, |line| !is_it(&line.event))
}

/// The same record with the times of some lines moved, ms.
fn at(h: &Record, at: u64, is_it: impl Fn(&Event) -> bool) -> Record {
    with(h, |line| {
        if is_it(&line.event) {
            line.at = ns(at);
        }
        true
    })
}

#[track_caller]
fn proven(h: &Record) {
    assert_holds(&h.judge("evidence"));
}

#[track_caller]
fn lacks(h: &Record, what: &str) {
    assert_unknown(&h.judge("evidence"), what);
}

// ---- kill ----

const fn is_exit(event: &Event) -> bool {
    matches!(
        event,
        Event::WorkerExited { .. } | Event::ServerExited { .. }
    )
}

fn killed_worker() -> Record {
    let mut h = struck("kill", worker_a());
    h.died("a", BEGAN + 1);
    h
}

fn started(worker: &str, pid: i32) -> Event {
    Event::WorkerStarted {
        worker: worker.to_owned(),
        pid,
        start_ticks: 9000,
    }
}

#[test]
fn a_killed_worker_is_one_that_sigkill_ended_in_time() {
    let h = killed_worker();
    proven(&h);
    lacks(&without(&h, is_exit), "not shown that a ended");
    let by = |code: Option<i32>, signal: Option<i32>| {
        with(&h, |line| {
            if let Event::WorkerExited {
                code: c, signal: s, ..
            } = &mut line.event
            {
                (*c, *s) = (code, signal);
            }
            true
        })
    };
    lacks(&by(None, Some(15)), "not by SIGKILL");
    lacks(&by(Some(0), None), "not by SIGKILL");
    lacks(&at(&h, BEGAN - 1, is_exit), "not between the call");
    lacks(&at(&h, BEGAN + 3, is_exit), "not between the call");
}

#[test]
fn the_end_of_another_worker_kills_nobody() {
    let mut h = struck("kill", worker_a());
    h.died("b", BEGAN + 1);
    lacks(&h, "not shown that a ended");
}

/// The process that ended is the one from before; who runs under its name now lives on.
#[test]
fn a_worker_that_was_replaced_before_was_not_killed() {
    let mut h = struck("kill", worker_a());
    h.lab(300, started("a", 200));
    h.died("a", BEGAN + 1);
    lacks(&h, "not shown that a ended");
    h.died("a", BEGAN + 1);
    proven(&h);
}

#[test]
fn a_killed_worker_never_comes_back() {
    let mut h = killed_worker();
    h.lab(700, started("a", 200));
    lacks(&h, "running again");
}

// ---- kill-server ----

const NEXT: (i32, u64) = (51, 900);

fn killed_server() -> Record {
    let mut h = struck("kill-server", server());
    h.lab(BEGAN + 1, server_exited(50, 9));
    h.lab(HEAL + 1, server_started(NEXT.0, NEXT.1));
    for (at, moment) in [(CUT, "cut"), (HEAL - 1, "heal")] {
        probe(
            &mut h,
            at,
            (moment, "lab>lock"),
            (true, Seen::Refused, None),
        );
    }
    h
}

/// The picture and the story tell one length of an outage: that of the fault.
#[test]
fn a_killed_server_is_down_as_long_as_its_fault_lasts() {
    let scene = lockdrill::report::scene::Scene::of(&killed_server().history());
    let down = (SERVER.to_owned(), ns(BEGAN + 2), ns(HEAL + 2));
    assert_eq!(scene.down, [down]);
}

fn is_back(event: &Event) -> bool {
    matches!(event, Event::ServerStarted { pid, .. } if *pid == NEXT.0)
}

#[test]
fn a_killed_server_is_gone_in_time_and_by_sigkill() {
    let h = killed_server();
    proven(&h);
    lacks(&without(&h, is_exit), "not shown that lock ended");
    lacks(&at(&h, BEGAN - 1, is_exit), "not between the call");
    lacks(&at(&h, BEGAN + 3, is_exit), "not between the call");
    let by = |process: i32, by: i32| {
        with(&h, |line| {
            if is_exit(&line.event) {
                line.event = server_exited(process, by);
            }
            true
        })
    };
    lacks(&by(50, 15), "not by SIGKILL");
    // Another process's end.
    lacks(&by(99, 9), "not shown that lock ended");
}

#[test]
fn a_killed_server_comes_back_as_another_process_at_the_heal() {
    let h = killed_server();
    lacks(&without(&h, is_back), "not shown that lock was started");
    // The heal was seen before the start.
    lacks(
        &at(&h, HEAL + 3, is_back),
        "not shown that lock was started",
    );
    // It came back while it was to be dead, and once more at the heal.
    let mut again = h.clone();
    again.lab(700, server_started(60, 700));
    lacks(&again, "running again");
    lacks(&at(&h, 700, is_back), "running again");
    // Started before it was killed: nothing came back.
    lacks(&at(&h, 400, is_back), "not shown that lock ended");
    // The same process is no new one; a number that came around again is.
    let back_as = |pid, ticks| {
        with(&h, |line| {
            if is_back(&line.event) {
                line.event = server_started(pid, ticks);
            }
            true
        })
    };
    lacks(&back_as(50, 500), "not shown that lock was started");
    proven(&back_as(50, 900));
}

/// Somebody answers where the server was: started again behind the lab's back, or a stranger.
#[test]
fn nobody_is_where_a_dead_server_was() {
    let h = killed_server();
    for moment in ["cut", "heal"] {
        for seen in [Seen::Answered, Seen::Silent, Seen::Broken, Seen::Unknown] {
            let taken = saw(&h, (moment, true), seen);
            lacks(&taken, "somebody else was in its place: lab>lock was");
        }
        let nobody = format!("nobody tried its place as `{moment}`");
        lacks(&without(&h, |event| is_probe(event, moment)), &nobody);
        lacks(&at(&h, BEGAN + 1, |event| is_probe(event, moment)), &nobody);
        lacks(&at(&h, HEAL + 1, |event| is_probe(event, moment)), &nobody);
    }
}

// ---- stop-server ----

fn server_threads() -> Vec<ThreadLook> {
    let mut threads = stopped_threads();
    for thread in &mut threads {
        (thread.pid, thread.start_ticks) = (50, 500);
        thread.tid -= 50;
    }
    threads
}

fn stopped_server() -> Record {
    let mut h = struck("stop-server", server());
    h.look(FAULT, "stopped", BEGAN + 2, server_threads());
    h.look(FAULT, "heal", HEAL - 1, server_threads());
    h
}

/// The same with the threads of one look changed.
fn seen_otherwise(moment: &str, change: impl Fn(&mut Vec<ThreadLook>)) -> Record {
    with(&stopped_server(), |line| {
        if let Event::Look {
            moment: m, threads, ..
        } = &mut line.event
            && m == moment
        {
            change(threads);
        }
        true
    })
}

#[test]
fn a_stopped_server_stood_still_with_every_thread() {
    proven(&stopped_server());
    for moment in ["stopped", "heal"] {
        let runs = seen_otherwise(moment, |threads| threads[1].state = 'S');
        lacks(&runs, "was in state S");
        let is_look = |event: &Event| matches!(event, Event::Look { moment: m, .. } if m == moment);
        lacks(&without(&stopped_server(), is_look), "nobody looked");
    }
    let ran = seen_otherwise("heal", |threads| threads[2].run_ns += 1);
    lacks(&ran, "ran between");
    let switched = seen_otherwise("heal", |threads| threads[0].switches += 1);
    lacks(&switched, "ran between");
}

#[test]
fn another_process_that_stood_still_is_not_the_server() {
    let strangers = |threads: &mut Vec<ThreadLook>| threads.iter_mut().for_each(|t| t.pid = 77);
    lacks(&seen_otherwise("heal", strangers), "are not the same");
    let both = with(&stopped_server(), |line| {
        if let Event::Look { threads, .. } = &mut line.event {
            strangers(threads);
        }
        true
    });
    lacks(&both, "process 50 of lock was not among those");
    let mut replaced = stopped_server();
    replaced.lab(700, server_started(60, 700));
    lacks(&replaced, "lock was replaced");
    let mut gone = stopped_server();
    gone.lab(800, server_exited(50, 9));
    lacks(&gone, "was gone before it was woken");
}

// ---- what a server is told ----

fn told(command: &str, answer: &str) -> Event {
    Event::ServerAsked {
        fault: FAULT.to_owned(),
        server: SERVER.to_owned(),
        command: command.to_owned(),
        answer: answer.to_owned(),
        ok: !answer.starts_with("ERR"),
    }
}

/// A fault whose onset is one command, answered.
fn told_once(kind: &str, command: &str) -> Record {
    let mut h = struck(kind, server());
    h.lab(BEGAN + 1, told(command, "OK"));
    h
}

const FLUSH: &str = "FLUSHALL";
const RESET: &str = "DEL lockdrill:{job}:fence";

/// `a` holds under fencing token 2 when the server is flushed, and `b` is granted after it.
fn flushed() -> Record {
    let mut h = told_once("flush", FLUSH);
    h.acquire_with("a", 100, 2);
    h.effect(BEGAN + 1, Change::Flushed);
    h.acquire_with("b", 700, 1);
    h
}

/// The same, and only the counter is lost.
fn counter_lost() -> Record {
    let mut h = told_once("counter-reset", RESET);
    let a = h.acquire_with("a", 100, 2);
    h.effect(BEGAN + 1, Change::Counter { value: Some(0) });
    h.release(&a, 600);
    h.acquire_with("b", 700, 1);
    h
}

const COUNT: &str = "INFO errorstats NOSCRIPT";

/// Nine times somebody was told before; so often after.
fn scripts_forgotten(after: &str) -> Record {
    let mut h = told_once("forget-scripts", "SCRIPT FLUSH");
    h.lab(BEGAN + 1, told(COUNT, "9"));
    h.lab(HEAL, told(COUNT, after));
    h
}

#[test]
fn what_another_server_was_told_shows_nothing() {
    let h = flushed();
    proven(&h);
    let elsewhere = with(&h, |line| {
        if let Event::ServerAsked { server, .. } = &mut line.event {
            "other".clone_into(server);
        }
        true
    });
    lacks(&elsewhere, "the server did not answer that it did");
}

#[test]
fn what_a_server_was_told_was_answered_in_its_time() {
    for (h, command) in [
        (flushed(), FLUSH),
        (counter_lost(), RESET),
        (scripts_forgotten("10"), "SCRIPT FLUSH"),
    ] {
        let is_it = |event: &Event| matches!(event, Event::ServerAsked { command: said, .. } if said == command);
        proven(&h);
        let what = "the server did not answer that it did";
        lacks(&without(&h, is_it), what);
        lacks(&at(&h, BEGAN - 1, is_it), what);
        lacks(&at(&h, BEGAN + 3, is_it), what);
        let mut refused = without(&h, is_it);
        refused.lab(BEGAN + 1, told(command, "ERR no"));
        lacks(&refused, what);
        for other in ["PING", "FLUSHALL ASYNC", "DEL", "SCRIPT LOAD"] {
            let mut h = without(&h, is_it);
            h.lab(BEGAN + 1, told(other, "OK"));
            lacks(&h, what);
        }
    }
}

// ---- sessions ----

const END: &str = "pg_terminate_backend a";
const LEFT: &str = "pg_stat_activity a";

/// The server ended so many sessions of `a`, and showed so many afterwards.
fn sessions_ended(ended: &str, left: &str) -> Record {
    let mut h = struck("kill-session", worker_a());
    for line in &mut h.lines {
        if let Event::FaultOnset { server, .. } = &mut line.event {
            *server = Some(SERVER.to_owned());
        }
    }
    h.acquire("a", 100);
    h.lab(BEGAN + 1, told(END, ended));
    h.lab(BEGAN + 2, told(LEFT, left));
    h
}

#[test]
fn sessions_are_ended_if_there_were_some_and_none_is_left() {
    let h = sessions_ended("2", "0");
    proven(&h);
    let (ended, left) = (
        "not shown that the server ended",
        "not shown that the sessions are gone",
    );
    lacks(&sessions_ended("0", "0"), ended);
    lacks(&sessions_ended("2", "1"), left);
    for (command, what) in [(END, ended), (LEFT, left)] {
        let is_it = |event: &Event| matches!(event, Event::ServerAsked { command: said, .. } if said == command);
        lacks(&without(&h, is_it), what);
        lacks(&at(&h, BEGAN - 1, is_it), what);
        lacks(&at(&h, BEGAN + 3, is_it), what);
    }
}

// ---- what a server forgot ----

const fn is_effect(event: &Event) -> bool {
    matches!(event, Event::Effect { .. })
}

/// The server says that it did, and its stream does not show it, or not then.
#[test]
fn what_a_server_forgot_is_in_its_stream() {
    let what = "lock was not seen to forget a counter of fencing tokens";
    for h in [flushed(), counter_lost()] {
        lacks(&without(&h, is_effect), what);
        let lost = |event: &Event| {
            let zero = Change::Counter { value: Some(0) };
            matches!(event, Event::Effect { change, .. } if *change == Change::Flushed || *change == zero)
        };
        lacks(&at(&h, BEGAN - 1, lost), what);
        lacks(&at(&h, BEGAN + 3, lost), what);
    }
    // One that knew nothing yet is emptied all the same: its stream says so.
    let mut empty = told_once("flush", FLUSH);
    lacks(&empty, what);
    empty.effect(BEGAN + 1, Change::Flushed);
    proven(&empty);
    // A release is no loss: locks do that.
    let mut released = told_once("evict", "CONFIG SET maxmemory 1");
    let a = released.acquire("a", 100);
    released.release(&a, BEGAN + 1);
    lacks(&released, what);
}

#[test]
fn what_somebody_put_back_is_not_forgotten() {
    let counter = "somebody put back the counter of job";
    let counts = |h: &mut Record, value: u64| {
        h.effect(600, Change::Counter { value: Some(value) });
    };
    for kind in ["flush", "counter-reset"] {
        // By one jump, by counting up without a grant, and beyond.
        for values in [&[2][..], &[1, 2], &[7]] {
            let (command, lost) = match kind {
                "flush" => (FLUSH, Change::Flushed),
                _ => (RESET, Change::Counter { value: Some(0) }),
            };
            let mut h = told_once(kind, command);
            h.acquire_with("a", 100, 2);
            h.effect(BEGAN + 1, lost);
            values.iter().for_each(|value| counts(&mut h, *value));
            h.acquire_with("b", 700, values[values.len() - 1] + 1);
            lacks(&h, counter);
        }
    }
    // The key, as it was.
    let mut h = told_once("flush", FLUSH);
    let a = h.acquire_with("a", 100, 2);
    h.effect(BEGAN + 1, Change::Flushed);
    h.set(&a, 600);
    lacks(&h, "somebody put back the owner of job");
}

/// A worker draws a fencing token without the lock: the counter rises, and nobody put it back.
#[test]
fn a_token_that_a_worker_drew_is_not_put_back() {
    let mut h = counter_lost();
    h.invoke("c", 790, None, lockdrill::timeline::event::Call::Refence);
    h.effect(800, Change::Counter { value: Some(2) });
    proven(&h);
    h.effect(810, Change::Counter { value: Some(4) });
    lacks(&h, "somebody put back the counter of job");
}

/// Somebody loaded the scripts again before anybody missed them.
#[test]
fn scripts_are_forgotten_if_somebody_misses_them() {
    proven(&scripts_forgotten("10"));
    let what = "nobody was told that the server does not know a script";
    for after in ["9", "8", "0", "?"] {
        lacks(&scripts_forgotten(after), what);
    }
    let is_count =
        |event: &Event| matches!(event, Event::ServerAsked { command, .. } if command == COUNT);
    lacks(&without(&scripts_forgotten("10"), is_count), what);
    lacks(&at(&scripts_forgotten("10"), BEGAN - 1, is_count), what);
}

/// The disk lagged, as is shown by a restart that lost a running lease; or somebody saw to it that
/// everything was on the disk.
#[test]
fn a_disk_that_lagged_had_lost_what_was_granted_since() {
    let story = |granted: u64, kept: bool| {
        let mut h = told_once("lag-disk", "CONFIG SET appendonly no");
        h.lab(BEGAN + 1, told("CONFIG GET appendonly", "no"));
        let a = h.acquire("a", granted);
        restarted(&mut h, 800, kept.then_some((&a, granted + LEASE_MS)), 1);
        h
    };
    proven(&story(600, false));
    let what = "what lock granted from then on is not shown to have been in memory alone";
    lacks(&story(600, true), what);
    lacks(&story(450, false), what);
    let mut never = told_once("lag-disk", "CONFIG SET appendonly no");
    never.acquire("a", 600);
    lacks(&never, what);
    let is_read = |event: &Event| matches!(event, Event::ServerAsked { command, .. } if command == "CONFIG GET appendonly");
    lacks(&without(&story(600, false), is_read), "was not read back");
}

// ---- what a server is set to ----

const REFUSE: &str = "CONFIG SET min-replicas-to-write 2";
const ALLOW: &str = "CONFIG SET min-replicas-to-write 0";
const REFUSES: &str = "CONFIG GET min-replicas-to-write";

/// The server refuses all writes; read back at once, just before the heal, and after it.
fn refusing(at_once: &str, before: &str, after: &str) -> Record {
    let mut h = told_once("refuse-writes", REFUSE);
    h.lab(BEGAN + 1, told(REFUSES, at_once));
    h.lab(HEAL - 1, told(REFUSES, before));
    h.lab(HEAL + 1, told(ALLOW, "OK"));
    h.lab(HEAL + 1, told(REFUSES, after));
    h
}

#[test]
fn what_lasts_is_undone_by_a_command_too() {
    let is_heal =
        |event: &Event| matches!(event, Event::ServerAsked { command, .. } if command == ALLOW);
    let whole = refusing("2", "2", "0");
    let undone = |at, command, answer| {
        let mut h = without(&whole, is_heal);
        h.lab(at, told(command, answer));
        h
    };
    proven(&undone(HEAL + 1, ALLOW, "OK"));
    let what = "the server did not answer that it had undone it";
    lacks(&without(&whole, is_heal), what);
    lacks(&undone(HEAL + 1, ALLOW, "ERR no"), what);
    lacks(&undone(HEAL + 1, REFUSE, "OK"), what);
    lacks(&undone(HEAL - 1, ALLOW, "OK"), what);
    lacks(&undone(HEAL + 3, ALLOW, "OK"), what);
    // Undone, but never done.
    let never =
        |event: &Event| matches!(event, Event::ServerAsked { command, .. } if command == REFUSE);
    lacks(
        &without(&whole, never),
        "the server did not answer that it did",
    );
}

#[test]
fn what_a_server_is_set_to_it_stays() {
    proven(&refusing("2", "2", "0"));
    lacks(&refusing("0", "2", "0"), "was to be 2 and was 0");
    lacks(&refusing("2", "0", "0"), "was to be 2 and was 0");
    lacks(&refusing("2", "2", "2"), "was to be 0 and was 2");
    // Allowed for a while, and refused again before anybody looked.
    let mut seen = refusing("2", "2", "0");
    seen.lab(700, told(REFUSES, "0"));
    lacks(&seen, "was to be 2 and was 0");
    for (moment, value) in [(BEGAN + 1, 2), (HEAL - 1, 2), (HEAL + 1, 0)] {
        let unread = with(&refusing("2", "2", "0"), |line| {
            let read =
                matches!(&line.event, Event::ServerAsked { command, .. } if command == REFUSES);
            !(read && line.at == ns(moment))
        });
        let what = format!("was not read back when it was to be {value}");
        lacks(&unread, &what);
    }
}

/// Writes were allowed again while they were to be refused, and nobody looked; but somebody wrote.
#[test]
fn a_server_that_wrote_has_refused_nothing() {
    let refusing = || refusing("2", "2", "0");
    let mut granted = refusing();
    granted.acquire("b", 700);
    lacks(&granted, "lock wrote for");
    let mut extended = refusing();
    let a = extended.acquire("a", 100);
    extended.renew(&a, 700);
    lacks(&extended, "lock wrote for");
    // Before the onset, and after the heal.
    let mut around = refusing();
    let a = around.acquire("a", 100);
    around.renew(&a, 450);
    around.renew(&a, 950);
    proven(&around);
}

#[test]
fn every_command_of_an_onset_is_needed() {
    let commands = [
        (BEGAN, "CONFIG SET maxmemory-policy allkeys-random"),
        (BEGAN + 1, "CONFIG SET maxmemory 1"),
        (HEAL + 1, "CONFIG SET maxmemory 0"),
    ];
    for missing in 0..=commands.len() {
        let mut h = struck("evict", server());
        h.acquire("a", 100);
        h.delete(BEGAN + 1);
        h.effect(BEGAN + 1, Change::Counter { value: Some(0) });
        for (at, setting, value) in [
            (BEGAN + 1, "maxmemory-policy", "allkeys-random"),
            (BEGAN + 1, "maxmemory", "1"),
            (HEAL - 1, "maxmemory-policy", "allkeys-random"),
            (HEAL - 1, "maxmemory", "1"),
            (HEAL + 1, "maxmemory", "0"),
        ] {
            h.lab(at, told(&format!("CONFIG GET {setting}"), value));
        }
        for (index, (at, command)) in commands.iter().enumerate() {
            if index != missing {
                h.lab(*at, told(command, "OK"));
            }
        }
        if missing == commands.len() {
            proven(&h);
        } else {
            lacks(&h, "the server did not answer");
        }
    }
}

// ---- edges ----

const CUT: u64 = 600;
const MENDED: u64 = HEAL + 1;

fn probe(h: &mut Record, at: u64, (moment, edge): (&str, &str), saw: (bool, Seen, Option<Seen>)) {
    let (hit, fresh, old) = saw;
    h.lab(
        at,
        Event::Probe {
            fault: FAULT.to_owned(),
            moment: moment.to_owned(),
            edge: edge.to_owned(),
            hit,
            fresh,
            old,
        },
    );
}

/// The edge of `a` is injured; what a stranger saw on it, and on the other edge of `a`.
fn injured(kind: &str, fresh: Seen, old: Option<Seen>) -> Record {
    let mut h = struck(kind, worker_a());
    probe(&mut h, CUT, ("cut", "a>lock"), (true, fresh, old));
    let alone = (false, Seen::Answered, None);
    probe(&mut h, CUT, ("cut", "a>store"), alone);
    probe(&mut h, HEAL - 1, ("heal", "a>lock"), (true, fresh, None));
    let healed = (true, Seen::Answered, None);
    probe(&mut h, MENDED, ("healed", "a>lock"), healed);
    h
}

fn cut() -> Record {
    injured("cut", Seen::Silent, Some(Seen::NeverArrived))
}

fn is_probe(event: &Event, wanted: &str) -> bool {
    matches!(event, Event::Probe { moment, .. } if moment == wanted)
}

/// The same with what was seen at a moment changed, on edges that were hit or on the others.
fn saw(h: &Record, (moment, hit): (&str, bool), seen: Seen) -> Record {
    with(h, |line| {
        if let Event::Probe {
            moment: m,
            hit: struck,
            fresh,
            ..
        } = &mut line.event
            && (m.as_str(), *struck) == (moment, hit)
        {
            *fresh = seen;
        }
        true
    })
}

/// Each injury with all that can be seen on a new and an old connection: only its own proves it.
#[test]
fn an_injury_is_known_by_what_a_stranger_sees() {
    let news = [
        Seen::Answered,
        Seen::Silent,
        Seen::Refused,
        Seen::Broken,
        Seen::Unknown,
    ];
    let olds = [
        Some(Seen::Answered),
        Some(Seen::NeverArrived),
        Some(Seen::ReplyLost),
        Some(Seen::Broken),
        Some(Seen::Unknown),
        None,
    ];
    let silent: &[Seen] = &[Seen::Silent];
    for (kind, new, old) in [
        ("cut", silent, Seen::NeverArrived),
        ("cut-requests", silent, Seen::NeverArrived),
        ("cut-replies", silent, Seen::ReplyLost),
        ("stall", silent, Seen::NeverArrived),
        ("reset", &[Seen::Refused, Seen::Broken], Seen::Broken),
    ] {
        for fresh in news {
            for seen in olds {
                let finding = injured(kind, fresh, seen).judge("evidence");
                let right = new.contains(&fresh) && seen == Some(old);
                let wanted = if right { Found::Holds } else { Found::Unknown };
                let why = &finding.why;
                assert_eq!(finding.outcome, wanted, "{kind} {fresh:?} {seen:?}: {why}");
            }
        }
    }
}

#[test]
fn an_edge_that_must_be_left_alone_answers() {
    for seen in [Seen::Silent, Seen::Refused, Seen::Broken, Seen::Unknown] {
        lacks(&saw(&cut(), ("cut", false), seen), "leave alone");
    }
}

#[test]
fn an_edge_that_nobody_tried_is_not_injured() {
    let h = cut();
    proven(&h);
    lacks(&without(&h, |event| is_probe(event, "cut")), "nobody tried");
    let only_others = without(
        &h,
        |e| matches!(e, Event::Probe { hit: true, moment, .. } if moment == "cut"),
    );
    lacks(&only_others, "nobody tried the edge of a");
    // Before the onset, or when it was being undone.
    lacks(&at(&h, BEGAN - 1, |e| is_probe(e, "cut")), "at its time");
    lacks(&at(&h, HEAL + 1, |e| is_probe(e, "cut")), "at its time");
}

/// The edge of `b` is cut and `a` goes on untouched.
#[test]
fn the_edge_of_another_worker_is_not_the_target() {
    let h = with(&cut(), |line| {
        if let Event::Probe { edge, .. } = &mut line.event {
            *edge = edge.replace("a>", "b>");
        }
        true
    });
    lacks(&h, "b>lock is no edge of its target");
    lacks(&h, "nobody tried the edge of a");
}

#[test]
fn an_edge_answers_again_after_the_heal() {
    let h = cut();
    lacks(&without(&h, |e| is_probe(e, "healed")), "nobody tried");
    for seen in [Seen::Silent, Seen::Refused, Seen::Broken, Seen::Unknown] {
        lacks(
            &saw(&h, ("healed", true), seen),
            "did not answer after the heal",
        );
    }
    lacks(&at(&h, HEAL - 1, |e| is_probe(e, "healed")), "at its time");
    lacks(&at(&h, HEAL + 3, |e| is_probe(e, "healed")), "at its time");
}

/// Everybody is cut off: each has to be tried, and one that answered is enough to refute it.
#[test]
fn everyone_is_every_worker() {
    let everyone = |cut: &[(&str, Seen)], healed: &[&str]| {
        let mut h = struck("cut", Target::Everyone);
        for (worker, seen) in cut {
            let saw = (true, *seen, Some(Seen::NeverArrived));
            probe(&mut h, CUT, ("cut", &format!("{worker}>lock")), saw);
            probe(&mut h, HEAL - 1, ("heal", &format!("{worker}>lock")), saw);
        }
        for worker in healed {
            let saw = (true, Seen::Answered, None);
            probe(&mut h, MENDED, ("healed", &format!("{worker}>lock")), saw);
        }
        h
    };
    let silent = |worker| (worker, Seen::Silent);
    let all = [silent("a"), silent("b"), silent("c")];
    let names = ["a", "b", "c"];
    proven(&everyone(&all, &names));
    lacks(&everyone(&all[..2], &names), "nobody tried the edge of c");
    lacks(&everyone(&all, &names[1..]), "nobody tried the edge of a");
    let but_one = [all[0], all[1], ("c", Seen::Answered)];
    lacks(
        &everyone(&but_one, &names),
        "new connection on c>lock was Answered",
    );
}

fn frame(h: &mut Record, at: u64, (edge, what, reply): (&str, FrameFate, bool)) {
    h.lab(
        at,
        Event::Frame {
            fault: FAULT.to_owned(),
            edge: edge.to_owned(),
            what,
            reply,
        },
    );
}

/// One request of `a` is chosen; these frames came by.
fn chosen(kind: &str, frames: &[(u64, (&str, FrameFate, bool))]) -> Record {
    let mut h = struck(kind, worker_a());
    for (at, what) in frames {
        frame(&mut h, *at, *what);
    }
    let healed = (true, Seen::Answered, None);
    probe(&mut h, MENDED, ("healed", "a>lock"), healed);
    h
}

#[test]
fn a_held_frame_is_held_from_onset_to_heal() {
    use FrameFate::{Delivered, Dropped, Held};
    for (kind, reply) in [("hold-request", false), ("hold-reply", true)] {
        let sent = (HEAL, ("a>lock", Delivered, reply));
        let held = (600, ("a>lock", Held, reply));
        proven(&chosen(kind, &[held, sent]));
        let never = "that it chose never came by";
        lacks(&chosen(kind, &[]), never);
        lacks(&chosen(kind, &[sent]), never);
        lacks(&chosen(kind, &[(BEGAN, held.1), sent]), never);
        lacks(&chosen(kind, &[(HEAL, held.1), sent]), never);
        lacks(
            &chosen(kind, &[(600, ("a>lock", Dropped, reply)), sent]),
            never,
        );
        lacks(
            &chosen(kind, &[(600, ("b>lock", Held, reply)), sent]),
            never,
        );
        // A reply where a request was chosen, and the other way round.
        lacks(
            &chosen(kind, &[(600, ("a>lock", Held, !reply)), sent]),
            never,
        );
        let on = "was never sent on";
        lacks(&chosen(kind, &[held]), on);
        lacks(&chosen(kind, &[held, (700, sent.1)]), on);
        lacks(
            &chosen(kind, &[held, (HEAL, ("a>lock", Delivered, !reply))]),
            on,
        );
        lacks(
            &chosen(kind, &[held, (HEAL, ("b>lock", Delivered, reply))]),
            on,
        );
    }
}

#[test]
fn a_fault_of_one_member_hit_that_one() {
    let hit = |member: &str| struck("lose-server", Target::Member(member.to_owned()));
    lacks(&hit("redis-2"), "f did not hit redis-2");
    let why = format!("{:?}", hit(SERVER).judge("evidence"));
    assert!(!why.contains("did not hit"), "{why}");
}

/// What the server refuses is not done: neither late nor unheard.
#[test]
fn a_frame_that_the_server_refused_shows_nothing() {
    use FrameFate::{Delivered, Dropped, Held, Refused};
    let request = |what| ("a>lock", what, false);
    let reply = |what| ("a>lock", what, true);
    let held = [(600, request(Held)), (HEAL, request(Delivered))];
    proven(&chosen("hold-request", &held));
    let refused = [held[0], held[1], (HEAL + 1, request(Refused))];
    lacks(
        &chosen("hold-request", &refused),
        "the server refused the request",
    );
    let error = (550, reply(Refused));
    let late = [(600, reply(Held)), (HEAL, reply(Delivered))];
    proven(&chosen("hold-reply", &[error, late[0], late[1]]));
    proven(&chosen("lose-reply", &[error, (600, reply(Dropped))]));
    for kind in ["hold-reply", "lose-reply"] {
        lacks(
            &chosen(kind, &[error]),
            "was an error, and no other came by",
        );
    }
}

#[test]
fn a_lost_frame_is_lost_while_the_fault_is_in_effect() {
    use FrameFate::{Dropped, Held};
    for (kind, reply) in [("lose-request", false), ("lose-reply", true)] {
        let lost = ("a>lock", Dropped, reply);
        proven(&chosen(kind, &[(600, lost)]));
        let never = "that it chose never came by";
        lacks(&chosen(kind, &[]), never);
        lacks(&chosen(kind, &[(BEGAN, lost)]), never);
        lacks(&chosen(kind, &[(HEAL, lost)]), never);
        lacks(&chosen(kind, &[(600, ("a>lock", Held, reply))]), never);
        lacks(&chosen(kind, &[(600, ("a>lock", Dropped, !reply))]), never);
        lacks(&chosen(kind, &[(600, ("b>lock", Dropped, reply))]), never);
        let unmended = without(&chosen(kind, &[(600, lost)]), |e| is_probe(e, "healed"));
        lacks(&unmended, "nobody tried");
    }
}

// ---- what a restart leaves of a lock ----

/// What the server that was started again holds of the key, and of its counter.
fn restarted(h: &mut Record, at: u64, key: Option<(&Held, u64)>, counter: u64) {
    h.effect(
        at,
        Change::Restarted {
            owner: key.map(|(held, _)| held.owner.clone()),
            fencing: key.and_then(|(held, _)| held.fencing),
            until_ms: key.map(|(_, until)| SERVER_AHEAD_MS + until),
        },
    );
    let value = Some(counter);
    h.effect(at, Change::Counter { value });
}

const LOCK_CHECKS: [&str; 5] = [
    "single_holder",
    "owner_only",
    "fencing_rises",
    "outcome_honesty",
    "records_agree",
];

#[track_caller]
fn none_violated(h: &Record) {
    for check in LOCK_CHECKS {
        let finding = h.judge(check);
        assert_eq!(finding.outcome, Found::Holds, "{finding:#?}");
    }
}

#[test]
fn a_key_that_was_kept_is_the_same_grant() {
    let mut h = killed_server();
    let a = h.acquire("a", 100);
    restarted(&mut h, HEAL + 1, Some((&a, 1_100)), 1);
    assert_eq!(h.history().grants[0].end, KeyEnd::Open);
    h.renew(&a, 950);
    h.release(&a, 1_000);
    h.acquire("b", 1_010);
    none_violated(&h);
    let grants = &h.history().grants;
    assert_eq!(grants.len(), 2);
    assert_eq!(grants[0].extensions.len(), 1);
    assert!(matches!(grants[0].end, KeyEnd::Released { .. }));
}

#[test]
fn a_key_that_was_lost_lets_two_hold() {
    let mut h = killed_server();
    h.acquire("a", 100);
    restarted(&mut h, HEAL + 1, None, 1);
    h.acquire("b", 950);
    let finding = h.judge("single_holder");
    assert_violated(&finding, "b");
    let why = &finding.why;
    assert!(why.contains("started again and had lost its key"), "{why}");
    assert_holds(&h.judge("records_agree"));
    assert_holds(&h.judge("outcome_honesty"));
}

/// The server's disk is older than its last grant: it names the owner before.
#[test]
fn a_key_of_the_owner_before_is_not_the_last_grant() {
    let mut h = killed_server();
    let a = h.acquire("a", 100);
    h.release(&a, 200);
    h.acquire("b", 300);
    restarted(&mut h, HEAL + 1, Some((&a, 1_100)), 1);
    h.delete(1_101);
    h.acquire("c", 1_150);
    let finding = h.judge("single_holder");
    assert_violated(&finding, "c");
    let why = &finding.why;
    assert!(why.contains("started again and had lost its key"), "{why}");
    assert!(finding.by.contains(&"b".to_owned()), "{why}");
}

#[test]
fn a_lease_that_ran_out_while_the_server_was_away_was_not_lost() {
    for (back, ran_out) in [(1_000, false), (1_200, true)] {
        let mut h = struck("kill-server", server());
        h.acquire("a", 100);
        restarted(&mut h, back, None, 1);
        h.acquire("b", 1_300);
        none_violated(&h);
        let history = h.history();
        let end = &history.grants[0].end;
        let expired = matches!(end, KeyEnd::Expired { .. });
        assert_eq!(expired, ran_out, "{end:?}");
    }
}

/// The disk has no word of the release. Nobody holds what comes back, and who released did.
#[test]
fn a_released_grant_whose_key_comes_back_stays_released() {
    let ghost = || {
        let mut h = killed_server();
        let a = h.acquire("a", 100);
        h.release(&a, 450);
        restarted(&mut h, HEAL + 1, Some((&a, 1_100)), 1);
        h
    };
    let mut h = ghost();
    h.ends(1_000, "complete");
    assert_holds(&h.judge("outcome_honesty"));
    assert_holds(&h.judge("records_agree"));
    let mut h = ghost();
    h.delete(1_110);
    h.acquire("b", 1_150);
    none_violated(&h);
    // Whoever is granted meanwhile is alone.
    let mut h = ghost();
    h.acquire("b", 950);
    assert_holds(&h.judge("single_holder"));
    // One that was not released is not.
    let mut h = killed_server();
    let a = h.acquire("a", 100);
    restarted(&mut h, HEAL + 1, Some((&a, 1_100)), 1);
    h.acquire("b", 950);
    assert_violated(&h.judge("single_holder"), "b");
}

#[test]
fn who_deleted_the_key_of_another_did_so_although_it_came_back() {
    let story = |back: bool| {
        let mut h = killed_server();
        let b = h.acquire("b", 20);
        h.delete(50);
        let a = h.acquire("a", 100);
        h.release(&b, 400);
        if back {
            restarted(&mut h, HEAL + 1, Some((&a, 1_100)), 2);
        }
        h.judge("owner_only")
    };
    assert_violated(&story(false), "b");
    assert_violated(&story(true), "b");
}

#[test]
fn a_counter_that_went_back_gives_tokens_twice() {
    let story = |next: u64| {
        let mut h = killed_server();
        let a = h.acquire_with("a", 100, 5);
        h.release(&a, 200);
        restarted(&mut h, HEAL + 1, None, next - 1);
        h.acquire_with("b", 950, next);
        h.judge("fencing_rises")
    };
    assert_violated(&story(1), "b");
    assert_violated(&story(5), "b");
    assert_holds(&story(6));
}

// ---- what a fault of a server does to other findings ----

/// `b` is told that somebody else holds the lock; its request lies at a server that stands still,
/// and is executed when it wakes.
fn told_no_too_early(outcome: Outcome, answer: Answer) -> Record {
    let mut h = stopped_server();
    let (mut b, op) = h.attempt("b", 600);
    h.ret("b", op, 700, outcome, answer);
    h.grant(&mut b, HEAL + 1);
    h
}

#[test]
fn a_request_that_was_executed_after_its_no_was_denied() {
    let h = told_no_too_early(Outcome::Fail, Answer::Busy);
    assert_violated(&h.judge("outcome_honesty"), "b");
    assert_holds(&h.judge("records_agree"));
    let message = "no answer in time".to_owned();
    let open = told_no_too_early(Outcome::Info, Answer::Error { message });
    let honest = open.judge("outcome_honesty");
    assert_eq!(honest.outcome, Found::Holds, "{honest:#?}");
    assert_holds(&open.judge("records_agree"));
}

#[test]
fn a_grant_that_nobody_can_have_asked_for_stays_unexplained() {
    // Asked for only afterwards.
    let mut h = stopped_server();
    let (mut b, op) = h.attempt("b", 950);
    h.ret("b", op, 960, Outcome::Fail, Answer::Busy);
    h.grant(&mut b, HEAL + 1);
    let finding = h.judge("records_agree");
    assert_eq!(finding.outcome, Found::Violated, "{finding:#?}");
    // Asked for, and granted before.
    let mut h = stopped_server();
    let a = h.acquire("a", 100);
    h.release(&a, 200);
    h.set(&a, HEAL + 1);
    let finding = h.judge("records_agree");
    assert_eq!(finding.outcome, Found::Violated, "{finding:#?}");
    assert!(
        finding.why.contains("no recorded attempt"),
        "{}",
        finding.why
    );
}

/// `c` waits from 100 ms for a lock that nobody holds, in vain.
fn waits_in_vain(mut h: Record, until: u64) -> Record {
    let op = h.enter("c", 100);
    h.ret("c", op, until, Outcome::Fail, Answer::TimedOut);
    h
}

/// Lease and bound are 1.5 s: what is over at once owes from its end, what lasts from its heal.
#[test]
fn a_free_lock_is_owed_from_the_end_of_the_fault() {
    let flush = || told_once("flush", "FLUSHALL");
    assert_holds(&waits_in_vain(flush(), 1_990).judge("recovers"));
    assert_violated(&waits_in_vain(flush(), 2_015).judge("recovers"), "c");
    assert_holds(&waits_in_vain(killed_server(), 2_390).judge("recovers"));
    assert_violated(
        &waits_in_vain(killed_server(), 2_415).judge("recovers"),
        "c",
    );
    // Nothing was done to a server.
    let calm = waits_in_vain(Record::new(), 2_415);
    assert_vacuous(&calm.judge("recovers"));
}

/// A key that was deleted by no command of a worker: a fault of the server is named only if it
/// came before.
#[test]
fn a_key_that_is_gone_is_told_with_the_fault_that_came_before() {
    let story = |gone: u64| {
        let mut h = told_once("evict", "CONFIG SET maxmemory 1");
        h.acquire("a", 100);
        h.delete(gone);
        h.acquire("b", 700);
        h.judge("single_holder")
    };
    let finding = story(600);
    assert_violated(&finding, "b");
    assert!(
        finding.why.contains("after f (evict) began"),
        "{finding:#?}"
    );
    let finding = story(400);
    assert_violated(&finding, "b");
    assert!(
        finding.why.contains("nothing on the record removed it"),
        "{finding:#?}"
    );
}

#[test]
fn a_flush_is_the_cause_of_two_holders() {
    let mut h = told_once("flush", "FLUSHALL");
    h.acquire("a", 100);
    h.effect(BEGAN + 1, Change::Flushed);
    h.acquire("b", 700);
    let finding = h.judge("single_holder");
    assert_violated(&finding, "b");
    assert!(
        finding.why.contains("the server was flushed"),
        "{finding:#?}"
    );
    assert_holds(&h.judge("records_agree"));
}

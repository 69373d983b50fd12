//! Faults of servers and ends of workers, defeated behind the lab's back: such a run must never
//! pass.

use crate::lab::Lab;
use crate::meddling::{file, files, heard, meddled, process, server, tell};
use nix::sys::signal::{Signal, kill};
use std::net::TcpListener;
use std::time::{Duration, Instant};

fn signal(lab: &Lab, words: &[&str], signal: Signal) {
    if let Some(pid) = process(lab, words) {
        let _ = kill(pid, signal);
    }
}

#[test]
fn a_stopped_server_that_somebody_continued() {
    let end = meddled("stop-server", "fault freeze (stop-server) began", |lab| {
        if let Some(server) = server(lab, "redis") {
            let _ = kill(server, Signal::SIGCONT);
        }
    });
    end.is_inconclusive("freeze: thread");
}

/// One of three that have a vote each, while the others answer.
const HANG: &str = r#"summary = "one server hangs"
class = "correctness"
[lock]
backend = "redlock"
lease = "2s"
[store]
kind = "sqlite"
fence = "atomic"
[worker.a]
script = ["acquire", "write", "hold until hang.healed", "release", "acquire", "release"]
[fault.hang]
kind = "stop-server"
target = "redis-2"
when = { after = "a.write.1.accepted" }
for = "300ms"
"#;

#[test]
fn a_stopped_voter_that_somebody_continued() {
    let home = Lab::new();
    let drill = file(&home, "hang", HANG);
    let end = meddled(&drill, "fault hang (stop-server) began", |lab| {
        if let Some(server) = server(lab, "redis-2") {
            let _ = kill(server, Signal::SIGCONT);
        }
    });
    end.is_inconclusive("hang: thread");
}

/// It is to die while it asks; somebody else killed it before.
#[test]
fn a_worker_that_was_dead_before_it_was_to_die() {
    let end = meddled("kill", "phase drill", |lab| {
        signal(lab, &["worker --spec", "worker.c.json"], Signal::SIGKILL);
    });
    end.is_inconclusive("birth was not injected");
}

/// It is asked to end, and is killed before it can.
#[test]
fn a_worker_that_did_not_end_by_itself() {
    let end = meddled("shutdown", "a is asked to end", |lab| {
        signal(lab, &["worker --spec", "worker.a.json"], Signal::SIGKILL);
    });
    end.is_inconclusive("not shown that a ended by itself");
}

/// What is lost or refused in turn, each time long enough for a stranger to put it back.
const IN_TURN: &str = r#"summary = "a server loses one thing after another"
class = "correctness"
[lock]
backend = "redis"
key = "job"
lease = "8s"
persist = "always"
[store]
kind = "sqlite"
fence = "atomic"
[worker.a]
script = ["acquire", "release", "acquire", "write", "await wipe.onset", "hold 400ms", "release", "await crash.onset", "hold 500ms"]
[fault.loss]
kind = "counter-reset"
target = "lock-server"
when = { after = "a.write.1.accepted" }
[fault.amnesia]
kind = "forget-scripts"
target = "lock-server"
when = { after = "loss.onset" }
[fault.refusal]
kind = "refuse-writes"
target = "lock-server"
when = { after = "amnesia.onset" }
for = "300ms"
[fault.squeeze]
kind = "evict"
target = "lock-server"
when = { after = "refusal.healed" }
for = "300ms"
[fault.wipe]
kind = "flush"
target = "lock-server"
when = { after = "squeeze.healed" }
[fault.crash]
kind = "kill-server"
target = "lock-server"
when = { at = "a.release.2.after" }
for = "300ms"
"#;

/// The lock's key, and its counter's.
const KEY: &str = "lockdrill:{job}";
const COUNTER: &str = "lockdrill:{job}:fence";

/// The value in an answer to `GET`.
fn value(answer: &str) -> &str {
    answer.lines().nth(1).unwrap_or("").trim()
}

/// Loads every script of the lock into the server.
fn load_scripts(lab: &Lab) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lock/backends/scripts");
    for script in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(script.unwrap().path()).unwrap();
        tell(lab, &["SCRIPT", "LOAD", &text]);
    }
}

/// Listens where the lock server did, which is dead.
fn take_its_place(lab: &Lab) -> Option<TcpListener> {
    let spec = files(lab, "worker.a.json");
    let spec = std::fs::read_to_string(spec.first()?).ok()?;
    let spec: serde_json::Value = serde_json::from_str(&spec).ok()?;
    let address = spec["lock"]["address"].as_str()?.to_owned();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        if let Ok(listener) = TcpListener::bind(&address) {
            return Some(listener);
        }
    }
    None
}

/// A stranger puts everything back, and in the end takes the dead server's place.
#[test]
fn whatever_somebody_put_back() {
    let lab = Lab::new();
    let drill = file(&lab, "in-turn", IN_TURN);
    let mut held = String::new();
    let mut places = Vec::new();
    let end = heard(&lab, &[&drill, "--isolation", "guard"], |line| {
        let says = |what: &str| line.contains(what);
        let put_back = |held: &str| {
            tell(&lab, &["SET", COUNTER, "2"]);
            tell(&lab, &["SET", KEY, held, "PX", "9000"]);
        };
        if says("fault loss (counter-reset) began") {
            held = value(&tell(&lab, &["GET", KEY])).to_owned();
            tell(&lab, &["SET", COUNTER, "2"]);
        } else if says("fault amnesia (forget-scripts) began") {
            load_scripts(&lab);
        } else if says("fault refusal (refuse-writes) began") {
            tell(&lab, &["CONFIG", "SET", "min-replicas-to-write", "0"]);
        } else if says("fault squeeze (evict) began") {
            tell(&lab, &["CONFIG", "SET", "maxmemory", "0"]);
            put_back(&held);
        } else if says("fault wipe (flush) began") {
            put_back(&held);
        } else if says("fault crash (kill-server) began") {
            places.push(take_its_place(&lab).unwrap());
        }
    });
    assert!(!places.is_empty(), "{}", end.results);
    for why in [
        "loss: somebody put back the counter of job",
        "amnesia: nobody was told that the server does not know a script",
        "refusal: min-replicas-to-write was to be 2 and was 0",
        "squeeze: maxmemory was to be 1 and was 0",
        "squeeze: somebody put back the owner of job",
        "wipe: somebody put back the owner of job",
        "wipe: somebody put back the counter of job",
        "crash: somebody else was in its place: lab>redis was Silent as `heal`",
    ] {
        end.is_inconclusive(why);
    }
}

/// What is granted while the disk lags is to be lost with the server.
const LAGS: &str = r#"summary = "the disk lags when the server dies"
class = "correctness"
[lock]
backend = "redis"
lease = "8s"
persist = "everysec"
[store]
kind = "sqlite"
fence = "atomic"
[worker.a]
script = ["acquire", "write", "hold 700ms", "await crash.healed", "release"]
[fault.lag]
kind = "lag-disk"
target = "lock-server"
when = { at = "a.acquire.1.before" }
[fault.crash]
kind = "kill-server"
target = "lock-server"
when = { at = "a.hold.1.after" }
heal = { after = "crash.onset" }
"#;

#[test]
fn a_disk_that_somebody_made_keep_up() {
    let lab = Lab::new();
    let drill = file(&lab, "lags", LAGS);
    let mut times = 0;
    let end = heard(&lab, &[&drill, "--isolation", "guard"], |line| {
        if line.contains("fault lag (lag-disk) began") {
            let told = tell(&lab, &["CONFIG", "SET", "appendonly", "yes"]);
            times += usize::from(told.starts_with("+OK"));
        }
    });
    assert!(times > 0, "{}", end.results);
    end.is_inconclusive("lag: what redis granted from then on is not shown");
}

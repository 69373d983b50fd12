//! What a lock costs on each back end: every one on real servers of its own, one after the other, so
//! that no two share the machine.
//!
//! `cargo bench --bench backends`, or of some: `cargo bench --bench backends -- redis etcd`.
//!
//! Each line says what it was measured against. A question (`remaining`) is the cheapest thing that
//! the same service can be asked over the same connection; the bare steps are the service's own
//! acquire and release, without the lock core above them.
#![allow(clippy::unwrap_used, reason = "a bench")]

#[path = "support/percentile.rs"]
mod percentile;
#[path = "../tests/support/mod.rs"]
mod support;

use lockdrill::ids::OwnerToken;
use lockdrill::lock::backends::{self, Servers};
use lockdrill::lock::probe::{Probe, Signal};
use lockdrill::lock::service::{AcquireAnswer, Ask, LockName, ReleaseAnswer};
use lockdrill::lock::{LockHandle, LockManager, LockOptions, Release};
use percentile::{at, micros};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::place::Place;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

const LEASE: Duration = Duration::from_secs(20);
/// Nothing here may take longer.
const PATIENCE: Duration = Duration::from_secs(60);
const PAIRS: usize = 1_000;
const WARM_UP: usize = 50;
const HAND_OFFS: usize = 200;
const WAITERS: usize = 64;
/// How often they all come.
const ROUNDS: usize = 5;
const IDLE: usize = 10_000;
/// How many of those are asked for at once.
const AT_ONCE: usize = 64;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| words.iter().any(|word| word == name);
    let all = !backends::ALL.iter().any(|kind| wanted(kind.name));
    for kind in backends::ALL {
        if all || wanted(kind.name) {
            println!("{}", kind.name);
            // One for each, so that nothing goes on renewing while the next is measured.
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            // As an application would run it: on a worker of the runtime.
            let measured = runtime.spawn(measure(kind));
            runtime.block_on(measured).unwrap();
            runtime.shutdown_background();
        }
    }
}

async fn measure(kind: &'static backends::LockKind) {
    let place = Place::of(kind.name).await;
    pairs(&place).await;
    hand_offs(&place).await;
    crowd(&place).await;
    // A session for each grant: a server lets in some hundred of them.
    if kind.servers == Servers::PostgresSessions {
        println!("  {IDLE} idle handles          not tried: each holds a session of the server");
    } else {
        idle(&place).await;
    }
}

/// A question, the bare steps and the lock core in turn, so that noise falls on all alike.
async fn pairs(place: &Place) {
    let (service, locks) = (place.service().await, place.manager().await);
    let (name, bare) = (named("asked"), named("bare"));
    let options = LockOptions::new(LEASE, Some(LEASE / 3)).unwrap();
    let (mut asked, mut steps, mut core) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..WARM_UP + PAIRS {
        let began = Instant::now();
        let until = tokio::time::Instant::now() + PATIENCE;
        service.remaining(&name, until).await.unwrap();
        let question = began.elapsed();
        let owner = OwnerToken::fresh().unwrap();
        let began = Instant::now();
        let mut ask = Ask {
            name: &bare,
            owner: &owner,
            fencing: None,
            lease: LEASE,
            until,
        };
        match service.acquire(&ask).await.unwrap() {
            AcquireAnswer::Granted { fencing, .. } => ask.fencing = fencing,
            other => panic!("nobody else takes this lock: {other:?}"),
        }
        assert_eq!(service.release(&ask).await, Ok(ReleaseAnswer::Released));
        let step = began.elapsed();
        let began = Instant::now();
        let lock = entered(&locks, "paired", &options).await;
        assert_eq!(lock.release().await, Release::Released);
        if pair >= WARM_UP {
            asked.push(question);
            steps.push(step);
            core.push(began.elapsed());
        }
    }
    say("a question", &mut asked);
    say("acquire + release, bare", &mut steps);
    say("acquire + release, core", &mut core);
}

/// From before the release leaves until a waiter that stood in line has the lock.
async fn hand_offs(place: &Place) {
    let (locks, other) = (place.manager().await, place.manager().await);
    let options = LockOptions::new(LEASE, None).unwrap();
    let mut times = Vec::new();
    for _ in 0..HAND_OFFS {
        let lock = entered(&locks, place.key(), &options).await;
        let waiting = tokio::spawn(place.entering(&other, LEASE));
        place.until_waiting().await;
        // Whoever comes to the head of a queue looks once for itself; that look is not the hand-off.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let began = Instant::now();
        assert_eq!(lock.release().await, Release::Released);
        let next = waiting.await.unwrap().unwrap();
        times.push(began.elapsed());
        assert_eq!(next.release().await, Release::Released);
    }
    say("hand-off after release", &mut times);
}

/// Counts what leaves.
#[derive(Default)]
struct Sent(AtomicU64);

impl Probe for Sent {
    fn on(&self, signal: Signal<'_>) {
        if let Signal::Sending { .. } = signal {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// All want one lock that somebody holds, and come one after the other once it is given back; whoever
/// has it gives it back at once. The time is counted from the first release.
async fn crowd(place: &Place) {
    let (mut waits, mut commands, mut took) = (Vec::new(), 0, Duration::ZERO);
    for _ in 0..ROUNDS {
        let sent = Arc::new(Sent::default());
        let options = LockOptions::new(LEASE, None).unwrap();
        let first = entered(&place.manager().await, place.key(), &options).await;
        let mut crowd = JoinSet::new();
        for _ in 0..WAITERS / 8 {
            let locks = place.manager().await.with_probe(sent.clone());
            for _ in 0..8 {
                let entering = place.entering(&locks, LEASE);
                crowd.spawn(async move {
                    let lock = entering.await.unwrap();
                    let granted = Instant::now();
                    lock.release().await;
                    granted
                });
            }
        }
        // All of them have asked once, stand in line, and may ask again at once.
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        let began = Instant::now();
        let asked = sent.0.swap(0, Ordering::Relaxed);
        first.release().await;
        let granted = crowd.join_all().await;
        took += began.elapsed();
        commands += sent.0.load(Ordering::Relaxed);
        assert!(asked >= WAITERS as u64, "not everybody waits");
        waits.extend(granted.into_iter().map(|at| at - began));
    }
    waits.sort_unstable();
    let grants = waits.len() as f64;
    println!(
        "  {WAITERS} waiters, one lock   {:>7.0} grants/s   p95 wait {:>6.0} ms   {:.2} commands a grant",
        grants / took.as_secs_f64(),
        at(&waits, 95).as_secs_f64() * 1e3,
        commands as f64 / grants,
    );
}

/// What held locks that are renewed cost in the memory of their process.
async fn idle(place: &Place) {
    let locks = place.manager().await;
    let options = LockOptions::new(PATIENCE, Some(LEASE)).unwrap();
    drop(entered(&locks, "first", &options).await);
    let (before, began) = (resident(), Instant::now());
    let mut taking = JoinSet::new();
    for first in 0..AT_ONCE {
        let locks = locks.clone();
        taking.spawn(async move {
            let mut held = Vec::new();
            for number in (first..IDLE).step_by(AT_ONCE) {
                held.push(entered(&locks, &format!("idle-{number}"), &options).await);
            }
            held
        });
    }
    let held: Vec<LockHandle> = taking.join_all().await.into_iter().flatten().collect();
    let (more, took) = (resident().saturating_sub(before), began.elapsed());
    let lost = held.iter().filter(|lock| !lock.is_locked()).count();
    println!(
        "  {} idle handles          {:>7.1} MB   taken in {:.1} s, {lost} of them lost meanwhile",
        held.len(),
        more as f64 / 1e6,
        took.as_secs_f64(),
    );
}

async fn entered(locks: &LockManager, key: &str, options: &LockOptions) -> LockHandle {
    let nobody = CancellationToken::new();
    locks.enter(key, options, PATIENCE, &nobody).await.unwrap()
}

fn named(key: &str) -> LockName {
    LockName {
        prefix: "bench:".to_owned(),
        key: key.to_owned(),
    }
}

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

fn say(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    println!(
        "  {what:<24} p50 {:>9.0} µs   p99 {:>9.0} µs",
        micros(times, 50),
        micros(times, 99)
    );
}

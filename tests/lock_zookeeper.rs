//! The ZooKeeper back end in trouble: what each kind is told as (before the send an error, after it
//! unknown), what it recovers from, what it leaves behind, and who is woken.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;
use crate::support::one_server::OneServer as _;

use lockdrill::env::seen::Observed;
use lockdrill::env::zookeeper::{observe, stream};
use lockdrill::lock::backends::{self, ConnectSpec};
use lockdrill::lock::flaws::Flaw;
use lockdrill::lock::service::LockName;
use lockdrill::lock::{Acquired, LockError, LockManager, LostReason, Release, Renewal};
use lockdrill::timeline::event::{Change, Event};
use nix::sys::signal::Signal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use support::one_server;
use support::place::Place;
use support::proxy::{Mode, Proxy};
use support::redis_lab::{LONG, MS, SHORT, acquire, granted, options, unknown, until};
use support::zookeeper_server::ZookeeperServer;
use tokio_util::sync::CancellationToken;

async fn with(spec: ConnectSpec) -> LockManager {
    one_server::locks_of("zookeeper", spec).await
}

async fn at(address: String) -> LockManager {
    with(ConnectSpec::new(address)).await
}

/// Locks whose first request that decides finds the proxy in that mode, its session being there.
async fn deciding(server: &ZookeeperServer, mode: Mode) -> (Arc<Proxy>, LockManager) {
    let proxy = Arc::new(Proxy::before(server.address()).await);
    let (before, first) = (Arc::clone(&proxy), AtomicBool::new(true));
    let spec = ConnectSpec::new(proxy.address()).arming(Arc::new(move || {
        if first.swap(false, Ordering::SeqCst) {
            before.set(mode);
        }
    }));
    (proxy, with(spec).await)
}

async fn until_nothing_is_left(server: &ZookeeperServer) {
    until("that nothing is left", || async {
        server.nodes("").is_empty()
    })
    .await;
}

/// Each on one server, one after the other: to start one takes longer than all of this.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_no_answer_is_unknown_and_found_again_or_given_back() {
    let server = ZookeeperServer::start();
    // A folder that is there already: the request that decides is the first.
    let locks = at(server.address()).await;
    assert_eq!(
        granted(&locks, LONG).await.release().await,
        Release::Released
    );
    a_held_reply_is_unknown_and_the_resend_gets_the_same_grant(&server).await;
    a_reset_in_place_of_the_reply_is_unknown_and_what_was_taken_is_given_back(&server).await;
    an_acquire_that_is_dropped_after_it_was_executed_is_given_back(&server).await;
    a_lease_is_what_the_server_keeps_and_no_more_than_was_asked_for(&server).await;
}

async fn a_held_reply_is_unknown_and_the_resend_gets_the_same_grant(server: &ZookeeperServer) {
    let (proxy, locks) = deciding(server, Mode::HoldReplies).await;
    let lock = unknown(&locks, 3 * SHORT).await;
    assert!(!lock.is_held() && !lock.is_locked());
    let before = server.nodes("app:k/");
    assert_eq!(before.len(), 2, "it was executed: {before:?}");
    proxy.set(Mode::Pass);
    lock.enter(LONG, &CancellationToken::new()).await.unwrap();
    assert_eq!(server.nodes("app:k/"), before, "the same grant");
    let other = at(server.address()).await;
    assert!(matches!(acquire(&other, LONG).await, Ok(Acquired::Busy(_))));
    proxy.set(Mode::HoldReplies);
    assert!(
        matches!(lock.renew().await, Renewal::Unknown(_)),
        "not lost"
    );
    assert!(lock.is_locked());
    assert!(matches!(lock.release().await, Release::Unknown(_)));
    proxy.set(Mode::Pass);
    // Whether the first release was executed or not, this one ends it.
    let again = lock.release().await;
    assert!(!matches!(again, Release::Unknown(_)), "{again:?}");
    until_nothing_is_left(server).await;
    let next = granted(&other, LONG).await;
    assert!(next.fencing_token() > lock.fencing_token());
    assert_eq!(next.release().await, Release::Released);
}

async fn a_reset_in_place_of_the_reply_is_unknown_and_what_was_taken_is_given_back(
    server: &ZookeeperServer,
) {
    let (proxy, locks) = deciding(server, Mode::CloseAtReply).await;
    let lock = unknown(&locks, LONG).await;
    assert_eq!(server.nodes("app:k/").len(), 2, "it was executed");
    proxy.set(Mode::Pass);
    drop(lock);
    until_nothing_is_left(server).await;
}

async fn an_acquire_that_is_dropped_after_it_was_executed_is_given_back(server: &ZookeeperServer) {
    let (proxy, locks) = deciding(server, Mode::HoldReplies).await;
    let acquiring = tokio::spawn(async move { drop(acquire(&locks, LONG).await) });
    until("the execution", || async {
        server.nodes("app:k/").len() == 2
    })
    .await;
    acquiring.abort();
    proxy.set(Mode::Pass);
    until_nothing_is_left(server).await;
}

/// The server keeps no session for longer than it is told to, and none for less than a tick; the
/// holder believes in no more than it asked for.
async fn a_lease_is_what_the_server_keeps_and_no_more_than_was_asked_for(server: &ZookeeperServer) {
    let locks = at(server.address()).await;
    for (lease, believed) in [
        (1_000 * LONG, Duration::from_secs(600)),
        (1_500 * MS, 1_500 * MS),
    ] {
        let Ok(Acquired::Granted(lock)) = locks.acquire("k", &options(lease)).await else {
            panic!("not granted for {lease:?}");
        };
        assert_eq!(lock.granted_lease(), believed);
        assert_eq!(lock.release().await, Release::Released);
    }
    // One of a millisecond may be over before its answer is here.
    drop(locks.acquire("k", &options(MS)).await);
    until_nothing_is_left(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_stopped_or_killed_is_an_error_and_forgets_nothing() {
    let server = ZookeeperServer::start();
    let locks = at(server.address()).await;
    server.signal(Signal::SIGSTOP);
    let began = Instant::now();
    let refused = acquire(&locks, SHORT).await.unwrap_err();
    let took = began.elapsed();
    server.signal(Signal::SIGCONT);
    // It began with a question, and nothing was asked for.
    assert!(matches!(refused, LockError::Failed(_)), "{refused}");
    assert!(took >= 450 * MS && took < 10 * SHORT, "{took:?}");
    let [lock, next] = one_server::a_killed_server_is_an_error_and_forgets_nothing(&server).await;
    assert!(next > lock);
    an_observer_who_comes_late_is_told_all(&server).await;
}

/// What an observer who comes late is told, up to where it is in sync and to the server's end.
async fn an_observer_who_comes_late_is_told_all(server: &ZookeeperServer) {
    let locks = at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    assert_eq!(lock.renew().await, Renewal::Renewed);
    let left = granted_elsewhere(&locks).await;
    until("its end", || async {
        server.nodes("app:other/").is_empty()
    })
    .await;
    assert_eq!(lock.release().await, Release::Released);
    let (out, mut told) = tokio::sync::mpsc::unbounded_channel();
    let address = server.address().parse().unwrap();
    let control = observe::Control::connect(address, "app:", LONG)
        .await
        .unwrap();
    let place = stream::beginning("zookeeper", "app:");
    tokio::spawn(stream::follow(control, server.log(), place, out));
    let mut changes = Vec::new();
    let mut others = Vec::new();
    loop {
        match told.recv().await.unwrap() {
            Observed::Effect(_, Event::Effect { key, change, .. }) if key == "k" => {
                changes.push(change);
            }
            Observed::Effect(_, Event::Effect { change, .. }) => others.push(change),
            Observed::Synced(_) => break,
            other => panic!("{other:?}"),
        }
    }
    let last = &changes[changes.len() - 3..];
    let (fencing, left) = (lock.fencing_token(), left.fencing_token());
    assert!(
        matches!(
            last,
            [Change::Set { fencing: told, .. }, Change::Extended { .. }, Change::Deleted]
                if *told == fencing
        ),
        "{changes:?}"
    );
    assert!(
        matches!(&others[..], [Change::Set { fencing: told, .. }, Change::Deleted] if *told == left),
        "a session that ended: {others:?}"
    );
    server.kill();
    let over = told.recv().await.unwrap();
    assert!(matches!(over, Observed::Gap(..)), "{over:?}");
}

/// One whose holder says nothing more.
async fn granted_elsewhere(locks: &LockManager) -> lockdrill::lock::LockHandle {
    match locks.acquire("other", &options(300 * MS)).await {
        Ok(Acquired::Granted(lock)) => lock,
        other => panic!("not granted: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_longest_waiter_is_woken_and_one_that_leaves_is_forgotten() {
    let server = ZookeeperServer::shared();
    let kind = backends::named("zookeeper").unwrap();
    let service = (kind.connect)(ConnectSpec::new(server.address())).await;
    let service = service.unwrap();
    let (prefix, key) = ("app:".to_owned(), "k".to_owned());
    let name = LockName { prefix, key };
    let locks = at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    let mut waiters = Vec::new();
    for number in 0..3 {
        let mut ear = service.watch(&name);
        let (told, woken) = tokio::sync::mpsc::unbounded_channel();
        let listening = tokio::spawn(async move {
            loop {
                ear.woken().await;
                told.send(()).unwrap();
            }
        });
        waiters.push((listening, woken));
        until("one more in the queue", || async {
            server.queue("app:k/") == number + 1
        })
        .await;
    }
    let patience = tokio::time::Duration::from_secs(20);
    let (first, mut woken) = waiters.remove(0);
    lock.release().await;
    let heard = tokio::time::timeout(patience, woken.recv()).await.unwrap();
    heard.expect("woken by the release");
    let (left, _) = waiters.remove(0);
    left.abort();
    until("one less in the queue", || async {
        server.queue("app:k/") == 2
    })
    .await;
    let (last, mut woken) = waiters.remove(0);
    assert!(woken.try_recv().is_err(), "not its turn");
    first.abort();
    let heard = tokio::time::timeout(patience, woken.recv()).await.unwrap();
    heard.expect("it is the head now, and finds the lock free");
    last.abort();
    until("an empty queue", || async {
        server.nodes("app:k/").is_empty()
    })
    .await;
}

/// A late holder gives back, or renews, what is no longer its own.
async fn late(flaw: Option<Flaw>) -> (Renewal, bool) {
    let place = Place::flawed("zookeeper", flaw).await;
    let (a, b) = (place.manager().await, place.manager().await);
    let source = place.identity();
    let held = place.granted(&a.with_source(source.clone()), LONG).await;
    assert_eq!(
        b.release(place.key(), &source.last()).await,
        Release::Released
    );
    let next = place.granted(&b, LONG).await;
    let renewed = held.renew().await;
    held.release().await;
    (renewed, next.renew().await == Renewal::Renewed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_flaw_of_the_back_end_shows_where_the_sound_code_holds() {
    // Kept, so that each place finds it.
    let _server = ZookeeperServer::shared();
    let foreign = Renewal::Lost(LostReason::Foreign);
    assert_eq!(late(None).await, (foreign.clone(), true));
    let blind = late(Some(Flaw::BlindRelease)).await;
    assert_eq!(blind, (foreign, false), "the successor's lock is gone");
    for (flaw, renewal) in [
        (None, Renewal::Lost(LostReason::Absent)),
        (Some(Flaw::RenewRecreates), Renewal::Renewed),
    ] {
        let place = Place::flawed("zookeeper", flaw).await;
        let (a, b) = (place.manager().await, place.manager().await);
        let source = place.identity();
        let held = place.granted(&a.with_source(source.clone()), LONG).await;
        b.release(place.key(), &source.last()).await;
        assert_eq!(held.renew().await, renewal);
    }
}

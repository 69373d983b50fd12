//! The etcd back end in trouble: what each kind is told as (before the send an error, after it
//! unknown), what it recovers from, what it leaves behind, and who is woken.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;
use crate::support::one_server::OneServer as _;

use lockdrill::env::etcd::stream;
use lockdrill::env::seen::Observed;
use lockdrill::lock::backends::{self, ConnectSpec};
use lockdrill::lock::flaws::Flaw;
use lockdrill::lock::service::LockName;
use lockdrill::lock::{Acquired, LockManager, LostReason, Release, Renewal};
use lockdrill::timeline::event::{Change, Event};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::etcd_server::EtcdServer;
use support::one_server;
use support::place::{Place, Remembering};
use support::proxy::{Mode, Proxy};
use support::redis_lab::{LONG, MS, SHORT, acquire, granted, unknown, until};
use tokio_util::sync::CancellationToken;

async fn with(spec: ConnectSpec) -> LockManager {
    one_server::locks_of("etcd", spec).await
}

async fn at(address: String) -> LockManager {
    with(ConnectSpec::new(address)).await
}

/// Locks whose first transaction, after the lease was granted, finds the proxy in that mode.
async fn deciding(server: &EtcdServer, mode: Mode) -> (Arc<Proxy>, LockManager) {
    let proxy = Arc::new(Proxy::before(server.address()).await);
    let (before, first) = (Arc::clone(&proxy), AtomicBool::new(true));
    let spec = ConnectSpec::new(proxy.address()).arming(Arc::new(move || {
        if first.swap(false, Ordering::SeqCst) {
            before.set(mode);
        }
    }));
    (proxy, with(spec).await)
}

async fn until_nothing_is_left(server: &EtcdServer) {
    until("that nothing is left", || async {
        server.keys("").is_empty() && server.leases() == 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_reply_is_unknown_and_the_resend_gets_the_same_grant() {
    let server = EtcdServer::start();
    let (proxy, locks) = deciding(&server, Mode::HoldReplies).await;
    let lock = unknown(&locks, 4 * SHORT).await;
    assert!(!lock.is_held() && !lock.is_locked());
    let look = json!({ "key": "YXBwOms=" });
    let before = server.tell("kv/range", &look);
    proxy.set(Mode::Pass);
    lock.enter(LONG, &CancellationToken::new()).await.unwrap();
    let made = before["kvs"][0]["create_revision"].as_str().unwrap();
    assert_eq!(lock.fencing_token().unwrap().0.to_string(), made);
    assert_eq!(server.tell("kv/range", &look)["kvs"], before["kvs"]);
    proxy.set(Mode::HoldReplies);
    assert!(
        matches!(lock.renew().await, Renewal::Unknown(_)),
        "not lost"
    );
    assert!(lock.is_locked());
    assert!(matches!(lock.release().await, Release::Unknown(_)));
    proxy.set(Mode::Pass);
    // The release was executed; that its lease is given back too is left to this one.
    assert_eq!(lock.release().await, Release::AlreadyLost);
    until_nothing_is_left(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_in_place_of_the_reply_is_unknown_and_what_was_taken_is_given_back() {
    let server = EtcdServer::start();
    let (proxy, locks) = deciding(&server, Mode::CloseAtReply).await;
    let lock = unknown(&locks, LONG).await;
    assert_eq!(server.keys("app:").len(), 1, "it was executed");
    proxy.set(Mode::Pass);
    drop(lock);
    until_nothing_is_left(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acquire_that_is_dropped_after_it_was_executed_is_given_back() {
    let server = EtcdServer::start();
    let (proxy, locks) = deciding(&server, Mode::HoldReplies).await;
    let acquiring = tokio::spawn(async move { drop(acquire(&locks, LONG).await) });
    until("the execution", || async { server.keys("").len() == 1 }).await;
    acquiring.abort();
    proxy.set(Mode::Pass);
    until_nothing_is_left(&server).await;
}

/// Its lease is gone, and nothing can be put under it any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_is_still_on_its_way_at_the_release_makes_nothing() {
    let server = EtcdServer::start();
    let (proxy, locks) = deciding(&server, Mode::HoldRequests).await;
    let source = Arc::new(Remembering::default());
    let locks = locks.with_source(source.clone());
    let lock = unknown(&locks, SHORT).await;
    let leases = server.tell("lease/leases", &json!({}));
    let lease = leases["leases"][0]["ID"].as_str().unwrap();
    let other = at(server.address()).await;
    let released = other.release("k", &source.last()).await;
    assert_eq!(released, Release::AlreadyLost);
    let late = json!({ "success": [{ "request_put": { "key": "YXBwOms=", "lease": lease } }] });
    assert_eq!(server.tell("kv/txn", &late)["code"], 5, "no such lease");
    assert_eq!(server.keys("").len(), 0);
    proxy.set(Mode::Pass);
    drop(lock);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_is_an_error_and_forgets_nothing() {
    let server = EtcdServer::start();
    let [lock, next] = one_server::a_killed_server_is_an_error_and_forgets_nothing(&server).await;
    assert!(next > lock);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_server_costs_the_budget_and_no_more() {
    let server = EtcdServer::start();
    one_server::a_stopped_server_costs_the_budget_and_no_more(&server).await;
    until_nothing_is_left(&server).await;
}

/// The server keeps whole seconds and not fewer than were asked for; the holder believes in what it
/// asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_is_rounded_up_on_the_server_and_not_believed_in_beyond_what_was_asked_for() {
    let server = EtcdServer::start();
    let locks = at(server.address()).await;
    for (lease, kept) in [(MS, "1"), (1_500 * MS, "2"), (2_000 * MS, "2")] {
        let handle = locks
            .acquire("k", &support::redis_lab::options(lease))
            .await;
        // One of a millisecond may be over before its answer is here.
        if lease == MS {
            drop(handle);
            until_nothing_is_left(&server).await;
            continue;
        }
        let Ok(Acquired::Granted(lock)) = handle else {
            panic!("{handle:?}");
        };
        assert_eq!(lock.granted_lease(), lease);
        let leases = server.tell("lease/leases", &json!({}));
        let left = json!({ "ID": leases["leases"][0]["ID"] });
        assert_eq!(server.tell("lease/timetolive", &left)["grantedTTL"], kept);
        assert_eq!(lock.release().await, Release::Released);
    }
    until_nothing_is_left(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_longest_waiter_is_woken_and_one_that_leaves_is_forgotten() {
    let server = EtcdServer::start();
    let kind = backends::named("etcd").unwrap();
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
            server.queue("app:") == number + 1
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
        server.queue("app:") == 2
    })
    .await;
    let (last, mut woken) = waiters.remove(0);
    assert!(woken.try_recv().is_err(), "not its turn");
    first.abort();
    let heard = tokio::time::timeout(patience, woken.recv()).await.unwrap();
    heard.expect("it is the head now, and finds the lock free");
    last.abort();
    until_nothing_is_left(&server).await;
}

/// A late holder gives back, or renews, what is no longer its own.
async fn late(flaw: Option<Flaw>) -> (Renewal, bool) {
    let place = Place::flawed("etcd", flaw).await;
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
    let foreign = Renewal::Lost(LostReason::Foreign);
    assert_eq!(late(None).await, (foreign.clone(), true));
    let blind = late(Some(Flaw::BlindRelease)).await;
    assert_eq!(blind, (foreign, false), "the successor's lock is gone");
    let blind = late(Some(Flaw::BlindRenew)).await;
    assert_eq!(blind, (Renewal::Renewed, true), "the successor's lease");
    for (flaw, renewal) in [
        (None, Renewal::Lost(LostReason::Absent)),
        (Some(Flaw::RenewRecreates), Renewal::Renewed),
    ] {
        let place = Place::flawed("etcd", flaw).await;
        let (a, b) = (place.manager().await, place.manager().await);
        let source = place.identity();
        let held = place.granted(&a.with_source(source.clone()), LONG).await;
        b.release(place.key(), &source.last()).await;
        assert_eq!(held.renew().await, renewal);
    }
}

/// What an observer who comes late is told, up to where it is in sync or hears no more.
async fn followed(server: &EtcdServer) -> (Vec<Change>, Option<String>) {
    let (out, mut told) = tokio::sync::mpsc::unbounded_channel();
    let place = stream::beginning("etcd", "app:");
    tokio::spawn(stream::follow(
        server.address().parse().unwrap(),
        place,
        out,
    ));
    let mut changes = Vec::new();
    loop {
        match told.recv().await.unwrap() {
            Observed::Effect(_, Event::Effect { change, .. }) => changes.push(change),
            Observed::Synced(_) => return (changes, None),
            Observed::Gap(_, why) => return (changes, Some(why)),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observer_who_comes_late_is_told_all_unless_the_server_has_forgotten_it() {
    let server = EtcdServer::start();
    let locks = at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    assert_eq!(lock.renew().await, Renewal::Renewed);
    assert_eq!(lock.release().await, Release::Released);
    let (changes, gap) = followed(&server).await;
    let fencing = lock.fencing_token();
    assert!(
        matches!(
            changes.as_slice(),
            [Change::Set { fencing: told, .. }, Change::Extended { .. }, Change::Deleted]
                if *told == fencing
        ),
        "{changes:?}"
    );
    assert_eq!(gap, None);
    server.tell("kv/compaction", &json!({ "revision": "3" }));
    let (_, gap) = followed(&server).await;
    assert!(gap.is_some(), "what is missing is declared");
}

//! The etcd back end in trouble: what each kind is told as (before the send an error, after it
//! unknown), what it recovers from, what it leaves behind, and who is woken.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;
use crate::support::one_server::OneServer as _;

use lockdrill::env::etcd::stream;
use lockdrill::env::seen::Observed;
use lockdrill::lock::flaws::Flaw;
use lockdrill::lock::{Acquired, Release, Renewal};
use lockdrill::timeline::event::{Change, Event};
use serde_json::json;
use std::sync::Arc;
use support::etcd_server::EtcdServer;
use support::late_holder::{each_flaw_shows_where_the_sound_code_holds, late};
use support::one_server::{self, a_holder_without_replies_is_told_unknown, deciding, locks_on};
use support::place::Remembering;
use support::proxy::Mode;
use support::redis_lab::{LONG, MS, SHORT, acquire, granted, unknown, until};
use tokio_util::sync::CancellationToken;

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
    a_holder_without_replies_is_told_unknown(&proxy, &lock).await;
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
    let other = locks_on(&server).await;
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
    let locks = locks_on(&server).await;
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
    let queue = async || server.queue("app:");
    let at = ("etcd", server.address());
    one_server::the_longest_waiter_is_woken_and_one_that_leaves_is_forgotten(
        at,
        queue,
        false,
        async || until_nothing_is_left(&server).await,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_flaw_of_the_back_end_shows_where_the_sound_code_holds() {
    each_flaw_shows_where_the_sound_code_holds("etcd").await;
    let blind = late("etcd", Some(Flaw::BlindRenew)).await;
    assert_eq!(blind, (Renewal::Renewed, true), "the successor's lease");
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
    let locks = locks_on(&server).await;
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

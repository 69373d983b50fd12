//! The ZooKeeper back end in trouble: what each kind is told as (before the send an error, after it
//! unknown), what it recovers from, what it leaves behind, and who is woken.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;
use crate::support::one_server::OneServer as _;

use lockdrill::env::seen::Observed;
use lockdrill::env::zookeeper::{observe, stream};
use lockdrill::lock::{Acquired, LockError, LockManager, Release, Renewal};
use lockdrill::timeline::event::{Change, Event};
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};
use support::late_holder::each_flaw_shows_where_the_sound_code_holds;
use support::one_server::{self, a_holder_without_replies_is_told_unknown, deciding, locks_on};
use support::proxy::Mode;
use support::redis_lab::{LONG, MS, SHORT, acquire, granted, options, unknown, until};
use support::zookeeper_server::ZookeeperServer;
use tokio_util::sync::CancellationToken;

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
    let locks = locks_on(&server).await;
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
    let other = locks_on(server).await;
    assert!(matches!(acquire(&other, LONG).await, Ok(Acquired::Busy(_))));
    a_holder_without_replies_is_told_unknown(&proxy, &lock).await;
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
    let locks = locks_on(server).await;
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
    let locks = locks_on(&server).await;
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
    let locks = locks_on(server).await;
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
    let queue = async || server.queue("app:k/");
    let at = ("zookeeper", server.address());
    one_server::the_longest_waiter_is_woken_and_one_that_leaves_is_forgotten(
        at,
        queue,
        false,
        async || {
            until("an empty queue", || async {
                server.nodes("app:k/").is_empty()
            })
            .await;
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_flaw_of_the_back_end_shows_where_the_sound_code_holds() {
    // Kept, so that each place finds it.
    let _server = ZookeeperServer::shared();
    each_flaw_shows_where_the_sound_code_holds("zookeeper").await;
}

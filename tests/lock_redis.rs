//! What the Redis back end leaves on a real server, and how it waits there.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use lockdrill::ids::{OwnerDigest, OwnerToken};
use lockdrill::lock::backends::{self, ConnectSpec};
use lockdrill::lock::{Acquired, EnterError, LockError, LockOptions, Release, Renewal};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use support::redis_lab::{LONG, MS, acquire, blocked, granted, locks_at, until};
use support::redis_server::RedisServer;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn the_value_names_owner_and_fencing_token_and_the_counter_shares_the_slot() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    let value: String = server.tell("GET app:{k}");
    let (owner, fencing) = value.rsplit_once(':').unwrap();
    assert_eq!(OwnerDigest::of(owner.as_bytes()), lock.owner());
    assert_eq!(fencing, "1");
    assert_eq!(server.tell::<String>("GET app:{k}:fence"), "1");
    let left: i64 = server.tell("PTTL app:{k}");
    assert!(left > 50_000 && left <= 60_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_key_but_the_counter_is_without_a_lease() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    let check = || {
        for key in server.tell::<Vec<String>>("KEYS *") {
            let left: i64 = server.tell(&format!("PTTL {key}"));
            // -2: it ended between the two questions.
            assert!(key == "app:{k}:fence" || left != -1, "{key} has no lease");
        }
    };
    let lock = granted(&locks, LONG).await;
    check();
    lock.renew().await;
    check();
    let waiting = tokio::spawn({
        let locks = locks.clone();
        async move {
            let options = LockOptions::new(LONG, None).unwrap();
            locks
                .enter("k", &options, LONG, &CancellationToken::new())
                .await
        }
    });
    until("a waiter", || async { blocked(&server) == 1 }).await;
    check();
    lock.release().await;
    let next = waiting.await.unwrap().unwrap();
    check();
    next.release().await;
    check();
    assert!(!server.tell::<bool>("EXISTS app:{k}"));
}

#[tokio::test]
async fn a_grant_takes_back_a_wake_up_that_nobody_has_heard() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    granted(&locks, LONG).await.release().await;
    assert!(server.tell::<bool>("EXISTS app:{k}:wake"));
    let _lock = granted(&locks, LONG).await;
    assert!(!server.tell::<bool>("EXISTS app:{k}:wake"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_wait_leaves_no_place_in_the_servers_queue() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    let cancel = CancellationToken::new();
    let waiting = tokio::spawn({
        let (locks, cancel) = (locks.clone(), cancel.clone());
        async move {
            let options = LockOptions::new(LONG, None).unwrap();
            locks.enter("k", &options, LONG, &cancel).await
        }
    });
    until("a waiter", || async { blocked(&server) == 1 }).await;
    cancel.cancel();
    assert_eq!(waiting.await.unwrap().unwrap_err(), EnterError::Cancelled);
    until("the queue empties", || async { blocked(&server) == 0 }).await;
    assert_eq!(
        lock.renew().await,
        Renewal::Renewed,
        "the holder is unharmed"
    );
}

#[tokio::test]
async fn large_fencing_tokens_stay_exact() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    let highest = (1_u64 << 53) - 1;
    server.tell::<()>(&format!("SET app:{{k}}:fence {}", highest - 1));
    let lock = granted(&locks, LONG).await;
    assert_eq!(lock.fencing_token().unwrap().0, highest);
    assert!(
        server
            .tell::<String>("GET app:{k}")
            .ends_with(&format!(":{highest}"))
    );
}

#[tokio::test]
async fn used_up_fencing_tokens_are_an_error_and_no_lock() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    server.tell::<()>(&format!("SET app:{{k}}:fence {}", (1_u64 << 53) - 1));
    let refused = acquire(&locks, LONG).await.unwrap_err();
    assert!(
        matches!(&refused, LockError::Failed(why) if why.contains("used up")),
        "{refused}"
    );
    assert!(!server.tell::<bool>("EXISTS app:{k}"));
}

#[tokio::test]
async fn an_owner_token_of_any_bytes_is_compared_whole() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    server.tell::<()>("SET app:{k} a:b%d:7 PX 60000");
    for wrong in ["a", "a:b", "a:b%d:", "", ".*", "a:b%d:7"] {
        let released = locks.release("k", &OwnerToken::new(wrong)).await;
        assert_eq!(released, Release::AlreadyLost, "`{wrong}`");
    }
    let released = locks.release("k", &OwnerToken::new("a:b%d")).await;
    assert_eq!(released, Release::Released);
}

#[tokio::test]
async fn a_foreign_key_is_busy_whatever_it_holds_and_is_left_alone() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    server.tell::<()>("SET app:{k} something");
    assert!(matches!(acquire(&locks, LONG).await, Ok(Acquired::Busy(_))));
    assert_eq!(locks.remaining("k").await, Ok(None), "it has no lease");
    assert_eq!(server.tell::<String>("GET app:{k}"), "something");
    server.tell::<()>("DEL app:{k}");
    server.tell::<()>("LPUSH app:{k} a-list");
    let wrong_type = acquire(&locks, LONG).await.unwrap_err();
    assert!(matches!(wrong_type, LockError::Failed(_)), "{wrong_type}");
}

/// A release reaches the waiter at once, not at the next poll: the median of many hand-overs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_lets_the_waiter_in_within_a_few_round_trips() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    let options = LockOptions::new(LONG, None).unwrap();
    let mut took = Vec::new();
    for _ in 0..15 {
        let lock = granted(&locks, LONG).await;
        let waiting = tokio::spawn({
            let locks = locks.clone();
            async move {
                locks
                    .enter("k", &options, LONG, &CancellationToken::new())
                    .await
            }
        });
        until("a waiter", || async { blocked(&server) == 1 }).await;
        let released = Instant::now();
        lock.release().await;
        let next = waiting.await.unwrap().unwrap();
        took.push(released.elapsed());
        next.release().await;
    }
    took.sort();
    assert!(
        took[7] < 100 * MS,
        "half of them took longer than {:?}",
        took[7]
    );
}

/// Many waiters, one short hold each: everybody gets in, in the order in which they came to wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_release_wakes_one_waiter_in_order_of_arrival() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    let options = LockOptions::new(LONG, None).unwrap();
    let lock = granted(&locks, LONG).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut waiting = tokio::task::JoinSet::new();
    for n in 0..6 {
        let (locks, order) = (locks.clone(), order.clone());
        waiting.spawn(async move {
            let cancel = CancellationToken::new();
            let lock = locks.enter("k", &options, LONG, &cancel).await.unwrap();
            order.lock().unwrap().push(n);
            lock.release().await;
        });
        until("one more waiter", || async { blocked(&server) == n + 1 }).await;
    }
    lock.release().await;
    while let Some(done) = waiting.join_next().await {
        done.unwrap();
    }
    let order = order.lock().unwrap().clone();
    let turns = order.windows(2).filter(|two| two[0] > two[1]).count();
    // A poll that falls into the middle may overtake once; a herd would shuffle everything.
    assert!(turns <= 1, "{order:?}");
}

#[tokio::test]
async fn addresses_are_checked_before_anything_is_sent() {
    let kind = backends::named("redis").unwrap();
    for wrong in [
        "",
        "localhost",
        ":6379",
        "127.0.0.1:",
        "127.0.0.1:99999",
        "redis://x",
    ] {
        let connected = (kind.connect)(ConnectSpec::new(wrong)).await;
        assert!(
            matches!(connected.err(), Some(LockError::Address { .. })),
            "`{wrong}`"
        );
    }
}

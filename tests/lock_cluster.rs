//! Locks on a Redis Cluster when a primary is lost, a slot moves, or too few nodes are left.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use lockdrill::env::redis::cluster::id;
use lockdrill::lock::backends::{self, ConnectSpec};
use lockdrill::lock::flaws::Flaw;
use lockdrill::lock::{
    Acquired, LockError, LockHandle, LockManager, LockOptions, ManagerOptions, Release, Renewal,
};
use std::time::{Duration, Instant};
use support::deployment::Deployed;
use support::redis_lab::{LONG, SHORT, acquire, granted, until};
use tokio_util::sync::CancellationToken;

/// What an epoch has room for.
const EPOCH: u64 = 10_000_000_000;

async fn connect(address: &str, flaw: Option<Flaw>) -> LockManager {
    let kind = backends::named("redis-cluster").unwrap();
    let mut spec = ConnectSpec::new(address);
    spec.flaw = flaw;
    let service = (kind.connect)(spec).await.unwrap();
    LockManager::new(service, ManagerOptions::new("test", "app:"))
}

fn token(lock: &LockHandle) -> u64 {
    lock.fencing_token().unwrap().0
}

async fn renewed(lock: &LockHandle) -> Renewal {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        match lock.renew().await {
            Renewal::Unknown(why) => assert!(Instant::now() < deadline, "{why}"),
            answer => return answer,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failover_that_loses_nothing_keeps_the_holder_and_the_waiter_follows() {
    let mut all = Deployed::cluster().await;
    // One node is enough to learn of the others, also if it is not the one that is asked for.
    let (a, b) = (
        connect(&all.data[0].address(), None).await,
        connect(&all.address, None).await,
    );
    let lock = granted(&a, LONG).await;
    let waiting = tokio::spawn(async move {
        let options = LockOptions::new(LONG, None).unwrap();
        let never = CancellationToken::new();
        b.enter("k", &options, LONG, &never).await
    });
    until("a waiter", || async { all.blocked() == 1 }).await;
    let primary = all.primary("k").unwrap();
    all.replicated(primary, "{k}x", 1);
    all.data[primary].kill();
    until("another primary", || async { all.primary("k").is_some() }).await;
    assert_eq!(renewed(&lock).await, Renewal::Renewed);
    until("the waiter follows", || async { all.blocked() == 1 }).await;
    assert_eq!(lock.release().await, Release::Released);
    let waited = waiting.await.unwrap().unwrap();
    assert!(
        token(&waited) / EPOCH > token(&lock) / EPOCH,
        "an epoch later"
    );
}

/// Epoch and count of the last token before, and of the first after a failover that lost it.
async fn tokens_around_a_loss(flaw: Option<Flaw>) -> [(u64, u64); 2] {
    let mut all = Deployed::cluster().await;
    let locks = connect(&all.address, flaw).await;
    granted(&locks, LONG).await.release().await;
    let primary = all.primary("k").unwrap();
    all.replicated(primary, "{k}x", 1);
    all.cut_replication(primary);
    let last = granted(&locks, LONG).await;
    all.data[primary].kill();
    until("another primary", || async { all.primary("k").is_some() }).await;
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        match acquire(&locks, LONG).await {
            Ok(Acquired::Granted(first)) => {
                return [&last, &first].map(|lock| (token(lock) / EPOCH, token(lock) % EPOCH));
            }
            other => assert!(Instant::now() < deadline, "{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failover_that_loses_the_counter_still_gives_a_higher_token() {
    let [(before, last), (after, first)] = tokens_around_a_loss(None).await;
    // The primaries begin with the epochs 1, 2 and 3: none wins a failover below 4.
    assert_eq!((last, first), (2, 1));
    assert!((1..=3).contains(&before) && after >= 4, "{before} {after}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plain_counter_gives_a_token_a_second_time() {
    let flaw = Some(Flaw::PlainCounter);
    assert_eq!(tokens_around_a_loss(flaw).await, [(0, 2), (0, 2)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_moves_with_its_slot() {
    let all = Deployed::cluster().await;
    let locks = connect(&all.address, None).await;
    let lock = granted(&locks, LONG).await;
    let from = all.primary("k").unwrap();
    let to = (from + 1) % 3;
    let slot: u16 = all.data[from].tell("CLUSTER KEYSLOT k");
    all.data[to].tell::<()>(&format!("CLUSTER SETSLOT {slot} IMPORTING {}", id(from)));
    all.data[from].tell::<()>(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", id(to)));
    let port = all.data[to].port();
    let keys = "KEYS app:{k} app:{k}:fence";
    // Two words, one of them empty: not by the words of one sentence.
    let migrate = format!("MIGRATE 127.0.0.1 {port}  0 5000 {keys}");
    assert_eq!(all.data[from].tell::<String>(&migrate), "OK");

    assert_eq!(
        lock.renew().await,
        Renewal::Renewed,
        "sent on to where the key is"
    );
    let options = LockOptions::new(SHORT, None).unwrap();
    // It is asked again for as long as there is time; what is told is the last that was heard.
    let mut told = false;
    for _ in 0..20 {
        match locks.acquire("k", &options).await {
            Err(LockError::Failed(why)) => told = why.contains("TRYAGAIN"),
            other => panic!("it was executed: {other:?}"),
        }
        if told {
            break;
        }
    }
    assert!(told, "why it was not executed");

    for node in [to, from] {
        all.data[node].tell::<()>(&format!("CLUSTER SETSLOT {slot} NODE {}", id(to)));
    }
    assert_eq!(lock.renew().await, Renewal::Renewed, "moved, and found");
    assert_eq!(lock.release().await, Release::Released);
    let next = granted(&locks, LONG).await;
    assert!(token(&next) > token(&lock));
    assert_eq!(all.data[to].tell::<i64>("EXISTS app:{k}"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_minority_grants_nothing_and_says_so() {
    let mut all = Deployed::cluster().await;
    let locks = connect(&all.address, None).await;
    let kept = all.primary("k").unwrap();
    let others: Vec<_> = (0..6).filter(|node| node % 3 != kept).collect();
    for node in others {
        all.data[node].kill();
    }
    until("the primary that is left gives up", || async {
        all.data[kept]
            .tell::<String>("CLUSTER INFO")
            .contains("cluster_state:fail")
    })
    .await;
    let options = LockOptions::new(SHORT, None).unwrap();
    let refused = locks.acquire("k", &options).await.unwrap_err();
    // In the node's words, or, on a busy host, because the time ended while another was looked for:
    // either way it was certainly not executed.
    let words = ["CLUSTERDOWN", "no connection in time", "no answer in time"];
    let says = |why: &str| words.iter().any(|word| why.contains(word));
    assert!(
        matches!(&refused, LockError::Failed(why) if says(why)),
        "{refused}"
    );
}

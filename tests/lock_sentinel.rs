//! Locks under Sentinel when the primary is lost: who holds keeps it if nothing was lost, who
//! waits follows, what was not answered is unknown, and no failover brings a fencing token twice.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use lockdrill::lock::backends::{self, ConnectSpec};
use lockdrill::lock::flaws::Flaw;
use lockdrill::lock::{
    Acquired, EnterError, LockError, LockHandle, LockManager, LockOptions, ManagerOptions, Release,
    Renewal,
};
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};
use support::deployment::Deployed;
use support::redis_lab::{LONG, MS, SHORT, acquire, granted, until};
use support::redis_server::RedisServer;
use support::told_sentinel::ToldSentinel;
use tokio_util::sync::CancellationToken;

/// What an epoch has room for.
const EPOCH: u64 = 10_000_000_000;

async fn connect(spec: ConnectSpec) -> Result<LockManager, LockError> {
    let kind = backends::named("redis-sentinel").unwrap();
    let service = (kind.connect)(spec).await?;
    Ok(LockManager::new(
        service,
        ManagerOptions::new("test", "app:"),
    ))
}

async fn locks_of(all: &Deployed) -> LockManager {
    connect(ConnectSpec::new(&all.address)).await.unwrap()
}

fn token(lock: &LockHandle) -> u64 {
    lock.fencing_token().unwrap().0
}

/// Waits for the lock, as long as a failover may take.
async fn entered(locks: &LockManager, key: &str) -> LockHandle {
    let options = LockOptions::new(LONG, None).unwrap();
    let never = CancellationToken::new();
    let entered = locks.enter(key, &options, LONG, &never).await;
    entered.expect("a primary comes")
}

/// Renews until there is an answer.
async fn renewed(lock: &LockHandle) -> Renewal {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        match lock.renew().await {
            Renewal::Unknown(why) => assert!(Instant::now() < deadline, "{why}"),
            answer => return answer,
        }
    }
}

/// Kills the primary once the replicas have all that it has; the one that follows it.
async fn killed_without_loss(all: &mut Deployed) -> usize {
    let primary = all.primary("k").unwrap();
    all.replicated(primary, "x", 2);
    all.data[primary].kill();
    until("another primary", || async { all.primary("k").is_some() }).await;
    all.primary("k").unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failover_that_loses_nothing_keeps_the_holder_and_the_waiter_follows() {
    let mut all = Deployed::under_sentinel().await;
    let (a, b) = (locks_of(&all).await, locks_of(&all).await);
    let lock = granted(&a, LONG).await;
    let waiting = tokio::spawn(async move { entered(&b, "k").await });
    until("a waiter", || async { all.blocked() == 1 }).await;
    let next = killed_without_loss(&mut all).await;
    assert_eq!(renewed(&lock).await, Renewal::Renewed);
    assert!(lock.is_locked());
    // Not by its poll, but in the queue of the server that will be told of the release.
    until("the waiter follows", || async { all.blocked() == 1 }).await;
    assert_eq!(all.data[next].tell::<i64>("EXISTS app:{k}"), 1);
    assert_eq!(lock.release().await, Release::Released);
    let begun = Instant::now();
    let waited = waiting.await.unwrap();
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "the lease has 60 s"
    );
    assert!(token(&waited) > token(&lock) && token(&waited) > EPOCH);
}

/// The last token before, and the first after a failover that lost the counter.
async fn tokens_around_a_loss(flaw: Option<Flaw>) -> (u64, Result<u64, LockError>) {
    let mut all = Deployed::under_sentinel().await;
    let mut spec = ConnectSpec::new(&all.address);
    spec.flaw = flaw;
    let locks = connect(spec).await.unwrap();
    granted(&locks, LONG).await.release().await;
    let primary = all.primary("k").unwrap();
    all.replicated(primary, "x", 2);
    all.cut_replication(primary);
    let last = granted(&locks, LONG).await;
    all.data[primary].kill();
    until("another primary", || async { all.primary("k").is_some() }).await;
    let next = all.primary("k").unwrap();
    assert_eq!(
        all.data[next].tell::<i64>("EXISTS app:{k}"),
        0,
        "the grant is lost"
    );
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        // The sentinels name the new primary some time after it is one.
        let first = match acquire(&locks, LONG).await {
            Ok(Acquired::Granted(lock)) => Ok(token(&lock)),
            Err(error)
                if flaw == Some(Flaw::EvalshaOnly) && error.to_string().contains("NOSCRIPT") =>
            {
                Err(error)
            }
            other => {
                assert!(Instant::now() < deadline, "{other:?}");
                continue;
            }
        };
        return (token(&last), first);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failover_that_loses_the_counter_still_gives_a_higher_token() {
    // The scripts are unknown to the new primary too, and are sent again.
    let (last, first) = tokens_around_a_loss(None).await;
    let first = first.unwrap();
    // Sentinels may need more than one vote, and each vote is an epoch.
    assert_eq!((last, first % EPOCH), (2, 1), "{first}: a count of its own");
    assert!(first > EPOCH, "{first}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plain_counter_gives_a_token_a_second_time() {
    let flaw = Some(Flaw::PlainCounter);
    assert_eq!(tokens_around_a_loss(flaw).await, (2, Ok(2)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_is_not_sent_again_ends_with_the_failover() {
    let (_, first) = tokens_around_a_loss(Some(Flaw::EvalshaOnly)).await;
    assert!(first.unwrap_err().to_string().contains("NOSCRIPT"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_stopped_primary_was_asked_is_unknown_until_there_is_another() {
    let all = Deployed::under_sentinel().await;
    let locks = locks_of(&all).await;
    let lock = granted(&locks, LONG).await;
    let primary = all.primary("k").unwrap();
    all.replicated(primary, "x", 2);
    all.data[primary].signal(Signal::SIGSTOP);
    let options = LockOptions::new(SHORT, None).unwrap();
    let asked = locks.acquire("other", &options).await;
    assert!(
        matches!(asked, Ok(Acquired::Unknown(_))),
        "sent, not answered"
    );
    assert_eq!(renewed(&lock).await, Renewal::Renewed, "by another primary");
    let next = entered(&locks, "other").await;
    assert!(token(&next) > EPOCH);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_minority_of_sentinels_is_not_missed_and_with_none_nothing_is_found() {
    let mut all = Deployed::under_sentinel().await;
    let before = locks_of(&all).await;
    all.sentinels[0].kill();
    all.sentinels[1].signal(Signal::SIGSTOP);
    let during = locks_of(&all).await;
    granted(&during, LONG).await.release().await;
    all.sentinels[1].kill();
    all.sentinels[2].kill();
    granted(&before, LONG).await.release().await;
    let refused = connect(ConnectSpec::new(&all.address)).await.unwrap_err();
    assert!(matches!(refused, LockError::Failed(_)), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_became_a_replica_refuses_and_the_next_one_is_asked_at_once() {
    let (old, new) = (RedisServer::start(), RedisServer::start());
    let port = |server: &RedisServer| {
        server
            .address()
            .rsplit_once(':')
            .unwrap()
            .1
            .parse()
            .unwrap()
    };
    let sentinel = ToldSentinel::saying(port(&old), 7).await;
    let locks = connect(ConnectSpec::new(&sentinel.address)).await.unwrap();
    let lock = granted(&locks, LONG).await;
    assert_eq!(token(&lock), 7 * EPOCH + 1);
    let resting = token(&granted_key(&locks, "rest").await);
    assert_eq!(resting, 7 * EPOCH + 1, "each key counts for itself");

    old.tell::<()>(&format!("REPLICAOF 127.0.0.1 {}", port(&new)));
    sentinel.say(|saying| (saying.port, saying.epoch) = (port(&new), 8));
    assert_eq!(token(&granted(&locks, LONG).await), 8 * EPOCH + 1);

    // Nobody believes a sentinel that names a replica.
    sentinel.say(|saying| saying.port = port(&old));
    let refused = connect(ConnectSpec::new(&sentinel.address))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("not a primary"), "{refused}");
}

async fn granted_key(locks: &LockManager, key: &str) -> LockHandle {
    match locks
        .acquire(key, &LockOptions::new(LONG, None).unwrap())
        .await
    {
        Ok(Acquired::Granted(lock)) => lock,
        other => panic!("not granted: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_epoch_that_has_been_passed_gives_no_token() {
    let server = RedisServer::start();
    let port = server.port();
    let (late, early) = (
        ToldSentinel::saying(port, 8).await,
        ToldSentinel::saying(port, 7).await,
    );
    let behind = connect(ConnectSpec::new(&early.address)).await.unwrap();
    assert_eq!(token(&granted_key(&behind, "free").await), 7 * EPOCH + 1);
    let ahead = connect(ConnectSpec::new(&late.address)).await.unwrap();
    assert_eq!(
        granted(&ahead, LONG).await.release().await,
        Release::Released
    );
    let options = LockOptions::new(SHORT, None).unwrap();
    let refused = behind.acquire("k", &options).await.unwrap_err();
    assert!(refused.to_string().contains("STALEEPOCH"), "{refused}");
    assert_eq!(server.tell::<i64>("EXISTS app:{k}"), 0);
    // Told of the later epoch in time, it goes on above what was given.
    early.say(|saying| saying.epoch = 8);
    assert_eq!(token(&granted(&behind, LONG).await), 8 * EPOCH + 2);
    // Of two who differ, the later one is believed.
    let both = ConnectSpec::new(format!("{},{}", early.address, late.address));
    early.say(|saying| saying.epoch = 6);
    let locks = connect(both).await.unwrap();
    assert_eq!(token(&granted_key(&locks, "both").await), 8 * EPOCH + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failover_under_way_is_waited_out() {
    let server = RedisServer::start();
    let port = server.port();
    let sentinel = ToldSentinel::saying(port, 1).await;
    sentinel.say(|saying| saying.flags = "master,failover_in_progress");
    let refused = connect(ConnectSpec::new(&sentinel.address))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("settled"), "{refused}");
    sentinel.say(|saying| saying.flags = "master,s_down,o_down");
    connect(ConnectSpec::new(&sentinel.address)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn used_up_tokens_of_an_epoch_are_an_error_and_no_lock() {
    let server = RedisServer::start();
    let port = server.port();
    let highest = (1_u64 << 53) / EPOCH - 1;
    let sentinel = ToldSentinel::saying(port, highest).await;
    let locks = connect(ConnectSpec::new(&sentinel.address)).await.unwrap();
    server.tell::<()>(&format!(
        "SET app:{{k}}:fence {}",
        (highest + 1) * EPOCH - 2
    ));
    let last = granted(&locks, LONG).await;
    assert_eq!(token(&last), (highest + 1) * EPOCH - 1);
    assert!(token(&last) < 1 << 53);
    last.release().await;
    let options = LockOptions::new(200 * MS, None).unwrap();
    assert!(matches!(
        locks.acquire("k", &options).await,
        Err(LockError::Failed(_))
    ));
    sentinel.say(|saying| saying.epoch = highest + 1);
    assert!(connect(ConnectSpec::new(&sentinel.address)).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_a_sentinel_names_is_reached_by_the_way_that_was_told() {
    let (named, real) = (RedisServer::start(), RedisServer::start());
    let port = named.address().rsplit_once(':').unwrap().1.parse().unwrap();
    let sentinel = ToldSentinel::saying(port, 1).await;
    let via = [(named.address(), real.address())].into();
    let locks = connect(ConnectSpec::new(&sentinel.address).via(via))
        .await
        .unwrap();
    let _lock = granted(&locks, LONG).await;
    assert_eq!(real.tell::<i64>("EXISTS app:{k}"), 1);
    assert_eq!(named.tell::<i64>("EXISTS app:{k}"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grant_that_too_few_replicas_have_is_given_back() {
    let all = Deployed::under_sentinel().await;
    let primary = all.primary("k").unwrap();
    let locks = locks_of(&all).await;
    let on = |copies| LockOptions::new(LONG, None).unwrap().with_copies(copies);
    let Ok(Acquired::Granted(lock)) = locks.acquire("k", &on(2)).await else {
        panic!("both replicas follow");
    };
    // Every copy has it, and the mark behind it goes by itself.
    assert!(
        all.data
            .iter()
            .all(|node| node.tell::<i64>("EXISTS app:{k}") == 1)
    );
    assert!(all.data[primary].tell::<i64>("PTTL app:{k}:copied") > 0);
    assert_eq!(lock.release().await, Release::Released);
    let refused = locks.acquire("k", &on(3)).await.unwrap_err().to_string();
    assert!(
        refused.contains("2 of 3 replicas had it in time"),
        "{refused}"
    );
    all.cut_replication(primary);
    let refused = locks.acquire("k", &on(1)).await.unwrap_err().to_string();
    assert!(
        refused.contains("0 of 1 replicas had it in time; it was given back"),
        "{refused}"
    );
    assert_eq!(all.data[primary].tell::<i64>("EXISTS app:{k}"), 0);
    // Who waits is refused too; an attempt that the deadline cuts short may have left its key.
    let never = CancellationToken::new();
    let entered = locks.enter("k", &on(1), 2 * SHORT, &never).await;
    assert!(
        matches!(entered, Err(EnterError::Failed(_) | EnterError::Unknown(_))),
        "{entered:?}"
    );
    until("the key is gone", || async {
        all.data[primary].tell::<i64>("EXISTS app:{k}") == 0
    })
    .await;
    // Whoever does not ask for copies is granted as ever.
    granted(&locks, LONG).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_former_primary_that_still_answers_is_left_within_a_second() {
    let (old, new) = (RedisServer::start(), RedisServer::start());
    let sentinel = ToldSentinel::saying(old.port(), 1).await;
    let locks = connect(ConnectSpec::new(&sentinel.address)).await.unwrap();
    assert_eq!(token(&granted_key(&locks, "before").await), EPOCH + 1);
    sentinel.say(|saying| (saying.port, saying.epoch) = (new.port(), 2));
    let named_anew = Instant::now();
    while token(&granted_key(&locks, &format!("{:?}", named_anew.elapsed())).await) < 2 * EPOCH {
        assert!(named_anew.elapsed() < Duration::from_secs(30));
    }
    // It does not go back to it, whoever says so.
    sentinel.say(|saying| (saying.port, saying.epoch) = (old.port(), 1));
    let named_late = Instant::now();
    while named_late.elapsed() < SHORT {
        let lock = granted_key(&locks, &format!("{:?}", named_late.elapsed())).await;
        assert!(token(&lock) > 2 * EPOCH);
    }
}

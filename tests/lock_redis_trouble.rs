//! The Redis back end in trouble: what each kind is told as (before the send an error, after it
//! unknown), and what it recovers from.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use lockdrill::lock::backends::{self, ConnectSpec};
use lockdrill::lock::{Acquired, EnterError, LockError, LockOptions, LostReason, Release, Renewal};
use nix::sys::signal::Signal;
use std::sync::Arc;
use std::time::Instant;
use support::place::Remembering;
use support::proxy::{Mode, Proxy};
use support::redis_lab::{LONG, MS, SHORT, acquire, answering, granted, locks_at, unknown, until};
use support::redis_server::RedisServer;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_refused_connection_is_an_error_everywhere() {
    let mut server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    server.kill();
    // The connection notices at once that it is closed, or with the first command: that one may
    // be told as unknown, the next one is definite.
    drop(acquire(&locks, SHORT).await);
    let refused = acquire(&locks, SHORT).await.unwrap_err();
    assert!(matches!(refused, LockError::Failed(_)), "{refused}");
    assert!(matches!(
        locks.remaining("k").await,
        Err(LockError::Failed(_))
    ));
    assert!(
        matches!(lock.renew().await, Renewal::Unknown(_)),
        "not lost: the deadline is far"
    );
    assert!(lock.is_locked());
    assert!(matches!(lock.release().await, Release::Unknown(_)));
    let kind = backends::named("redis").unwrap();
    let connected = (kind.connect)(ConnectSpec::new(server.address())).await;
    assert!(matches!(connected.err(), Some(LockError::Failed(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_reply_is_unknown_and_the_resend_gets_the_same_grant() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.address()).await;
    let locks = locks_at(proxy.address()).await;
    proxy.set(Mode::HoldReplies);
    let lock = unknown(&locks, 2 * SHORT).await;
    assert!(!lock.is_held() && !lock.is_locked());
    let value: String = server.tell("GET app:{k}");
    proxy.set(Mode::Pass);
    lock.enter(LONG, &CancellationToken::new()).await.unwrap();
    assert_eq!(lock.fencing_token().unwrap().0, 1);
    assert_eq!(
        server.tell::<String>("GET app:{k}:fence"),
        "1",
        "minted once"
    );
    assert_eq!(server.tell::<String>("GET app:{k}"), value);
    let left: i64 = server.tell("PTTL app:{k}");
    assert!(left < 1_500, "not refreshed by the resend: {left} ms");
    assert_eq!(lock.release().await, Release::Released);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acquire_that_is_dropped_after_it_was_executed_is_given_back() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.address()).await;
    let locks = locks_at(proxy.address()).await;
    proxy.set(Mode::HoldReplies);
    let acquiring = tokio::spawn(async move { acquire(&locks, LONG).await.is_ok() });
    until("the execution", || async {
        server.tell::<bool>("EXISTS app:{k}")
    })
    .await;
    acquiring.abort();
    proxy.set(Mode::Pass);
    until("the release", || async {
        !server.tell::<bool>("EXISTS app:{k}")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_closes_in_place_of_the_reply_is_unknown() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.address()).await;
    let locks = locks_at(proxy.address()).await;
    proxy.set(Mode::CloseAtReply);
    let lock = unknown(&locks, LONG).await;
    assert!(server.tell::<bool>("EXISTS app:{k}"), "it was executed");
    proxy.set(Mode::Pass);
    drop(lock);
    until("the release of the dropped handle", || async {
        !server.tell::<bool>("EXISTS app:{k}")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_request_is_unknown_and_at_worst_leaves_a_lease_that_ends() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.address()).await;
    let locks = locks_at(proxy.address()).await;
    proxy.set(Mode::HoldRequests);
    let lock = unknown(&locks, SHORT).await;
    assert!(!server.tell::<bool>("EXISTS app:{k}"), "not executed, yet");
    drop(lock);
    proxy.set(Mode::Pass);
    let direct = locks_at(server.address()).await;
    let options = LockOptions::new(LONG, None).unwrap();
    let next = direct
        .enter("k", &options, LONG, &CancellationToken::new())
        .await;
    assert!(next.unwrap().is_locked());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewal_or_release_without_a_reply_is_unknown_not_lost() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.address()).await;
    let locks = locks_at(proxy.address()).await;
    let lock = granted(&locks, 4 * SHORT).await;
    proxy.set(Mode::HoldReplies);
    assert!(matches!(lock.renew().await, Renewal::Unknown(_)));
    assert!(lock.is_locked());
    assert_eq!(lock.lost().reason(), None);
    assert!(matches!(lock.release().await, Release::Unknown(_)));
    proxy.set(Mode::Pass);
    assert_eq!(
        lock.release().await,
        Release::AlreadyLost,
        "the first one was executed"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deadline_and_cancel_of_a_wait_bound_a_hung_socket() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.address()).await;
    let locks = locks_at(proxy.address()).await;
    proxy.set(Mode::HoldReplies);
    let options = LockOptions::new(LONG, None).unwrap();
    let began = Instant::now();
    let entered = locks
        .enter("k", &options, 300 * MS, &CancellationToken::new())
        .await;
    assert!(
        matches!(entered, Err(EnterError::Unknown(_))),
        "{entered:?}"
    );
    assert!(began.elapsed() < 5 * SHORT);
    let cancel = CancellationToken::new();
    let waiting = tokio::spawn({
        let (locks, cancel) = (locks.clone(), cancel.clone());
        async move { locks.enter("k", &options, LONG, &cancel).await }
    });
    let before = proxy.requests_so_far();
    until("a request", || async { proxy.requests_so_far() > before }).await;
    let began = Instant::now();
    cancel.cancel();
    assert_eq!(waiting.await.unwrap().unwrap_err(), EnterError::Cancelled);
    assert!(began.elapsed() < 5 * SHORT);
    proxy.set(Mode::Pass);
    until("both attempts are given back", || async {
        !server.tell::<bool>("EXISTS app:{k}")
    })
    .await;
}

/// Each answer of a server that refuses, and what it must be told as.
#[tokio::test]
async fn every_refusal_of_the_server_is_definite_and_nonsense_is_unknown() {
    for refusal in [
        "LOADING Redis is loading the dataset in memory",
        "READONLY You can't write against a read only replica.",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "MISCONF Redis is configured to save RDB snapshots",
        "NOREPLICAS Not enough good replicas to write.",
        "BUSY Redis is busy running a script.",
        "MASTERDOWN Link with MASTER is down",
        "CLUSTERDOWN The cluster is down",
        "MOVED 3999 127.0.0.1:6381",
        "ASK 3999 127.0.0.1:6381",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "CROSSSLOT Keys in request don't hash to the same slot",
        "NOAUTH Authentication required.",
        "NOPERM User default has no permissions",
        "EXECABORT Transaction discarded because of previous errors.",
        "ERR something that nobody has heard of",
    ] {
        let locks = locks_at(answering(format!("-{refusal}\r\n")).await).await;
        let refused = acquire(&locks, SHORT).await;
        let Err(LockError::Failed(why)) = &refused else {
            panic!("`{refusal}` was told as {refused:?}");
        };
        let code = refusal.split(' ').next().unwrap();
        assert!(
            code == "ERR" || why.contains(code),
            "`{why}` does not name {code}"
        );
    }
    for nonsense in [
        "+OK\r\n",
        ":7\r\n",
        "$-1\r\n",
        "*1\r\n:9\r\n",
        "*2\r\n:1\r\n+x\r\n",
        "gibberish\r\n",
    ] {
        let locks = locks_at(answering(nonsense.to_owned()).await).await;
        let acquired = acquire(&locks, SHORT).await;
        assert!(
            matches!(acquired, Ok(Acquired::Unknown(_))),
            "{nonsense:?}: {acquired:?}"
        );
    }
}

#[tokio::test]
async fn forgotten_scripts_are_sent_again_for_every_operation() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    let flush = || server.tell::<()>("SCRIPT FLUSH");
    flush();
    let lock = granted(&locks, LONG).await;
    flush();
    assert_eq!(lock.renew().await, Renewal::Renewed);
    flush();
    assert_eq!(lock.release().await, Release::Released);
    flush();
    assert_eq!(
        granted(&locks, LONG).await.fencing_token().unwrap().0,
        2,
        "executed once each"
    );
}

#[tokio::test]
async fn a_restart_without_data_loses_the_lock_and_nothing_else() {
    let mut server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    server.restart();
    until("the loss is proved", || async {
        match lock.renew().await {
            Renewal::Lost(reason) => {
                assert_eq!(reason, LostReason::Absent);
                true
            }
            Renewal::Unknown(_) => false,
            Renewal::Renewed => panic!("there is nothing to renew"),
        }
    })
    .await;
    assert!(!server.tell::<bool>("EXISTS app:{k}"), "not created again");
    assert!(granted(&locks, LONG).await.is_locked());
}

#[tokio::test]
async fn a_replica_refuses_and_the_lock_comes_back_with_the_primary() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    server.tell::<()>("REPLICAOF 127.0.0.1 1");
    let refused = acquire(&locks, LONG).await.unwrap_err();
    assert!(
        matches!(&refused, LockError::Failed(why) if why.contains("READONLY")),
        "what a replica reads is no answer: {refused}"
    );
    assert!(
        matches!(lock.renew().await, Renewal::Unknown(_)),
        "refused, not lost"
    );
    assert!(matches!(lock.release().await, Release::Unknown(_)));
    server.tell::<()>("REPLICAOF NO ONE");
    assert_eq!(lock.release().await, Release::Released);
    server.tell::<()>("REPLICAOF 127.0.0.1 1");
    let refused = acquire(&locks, LONG).await.unwrap_err();
    assert!(
        matches!(&refused, LockError::Failed(why) if why.contains("READONLY")),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_reply_never_answers_another_command() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.address()).await;
    let locks = locks_at(proxy.address()).await;
    let options = LockOptions::new(100 * MS, None).unwrap();
    for round in 0..20 {
        proxy.set(Mode::HoldReplies);
        drop(locks.acquire("slow", &options).await);
        // The held reply is let go while the next commands are on their way.
        proxy.set(Mode::Pass);
        let key = format!("k{round}");
        let long = LockOptions::new(LONG, None).unwrap();
        assert_eq!(locks.remaining(&key).await, Ok(None));
        let Ok(Acquired::Granted(lock)) = locks.acquire(&key, &long).await else {
            panic!("round {round}: `{key}` is free");
        };
        assert_eq!(
            lock.fencing_token().unwrap().0,
            1,
            "of this key, not of `slow`"
        );
        assert!(matches!(
            locks.acquire(&key, &long).await,
            Ok(Acquired::Busy(_))
        ));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_let_a_command_time_out_is_not_used_again() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.address()).await;
    let locks = locks_at(proxy.address()).await;
    let lock = granted(&locks, 4 * SHORT).await;
    assert_eq!(proxy.connections_so_far(), 1);
    proxy.set(Mode::HoldReplies);
    assert!(matches!(lock.renew().await, Renewal::Unknown(_)));
    proxy.set(Mode::Pass);
    assert_eq!(lock.renew().await, Renewal::Renewed);
    assert_eq!(proxy.connections_so_far(), 2);
}

#[tokio::test]
async fn a_stopped_server_costs_the_budget_and_no_more() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    signal(&server, Signal::SIGSTOP);
    let began = Instant::now();
    let lock = unknown(&locks, SHORT).await;
    let took = began.elapsed();
    signal(&server, Signal::SIGCONT);
    assert!(took >= 450 * MS && took < 10 * SHORT, "{took:?}");
    drop(lock);
}

fn signal(server: &RedisServer, signal: Signal) {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(server.pid()), signal).unwrap();
}

/// Not even when the server quotes the command that it refuses.
#[tokio::test]
async fn no_error_shows_an_owner_token() {
    for refusal in [
        "-ERR unknown command 'EVALSHA', with args beginning with: {request}\r\n",
        "-NOSUCH thing, with args beginning with: {request}\r\n",
    ] {
        let source = Arc::new(Remembering::default());
        let locks = locks_at(answering(refusal.to_owned()).await)
            .await
            .with_source(source.clone());
        let shown = format!("{:?}", acquire(&locks, SHORT).await);
        assert!(shown.contains("Failed"), "{shown}");
        assert!(!shown.contains(source.last().expose()), "{shown}");
    }
}

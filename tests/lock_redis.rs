//! The Redis back end against a real server: what lies on it, what each kind of trouble is told
//! as (definite or unknown), and what it recovers from.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support {
    #[path = "../support/place.rs"]
    pub mod place;
    #[path = "../support/proxy.rs"]
    pub mod proxy;
    #[path = "../support/redis_server.rs"]
    pub mod redis_server;
}

use lockdrill::lock::backends::{self, ConnectSpec};
use lockdrill::lock::{
    Acquired, EnterError, LockError, LockHandle, LockManager, LockOptions, LostReason,
    ManagerOptions, Release, Renewal,
};
use std::time::{Duration, Instant};
use support::place::Remembering;
use support::proxy::{Mode, Proxy};
use support::redis_server::RedisServer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

const MS: Duration = Duration::from_millis(1);
/// Long enough never to end within a test.
const LONG: Duration = Duration::from_secs(60);
/// Its commands give up after half of it.
const SHORT: Duration = Duration::from_millis(1_000);

async fn locks_at(address: String) -> LockManager {
    let kind = backends::named("redis").unwrap();
    let service = (kind.connect)(ConnectSpec::new(address)).await.unwrap();
    LockManager::new(service, ManagerOptions::new("test", "app:"))
}

async fn acquire(locks: &LockManager, lease: Duration) -> Result<Acquired, LockError> {
    locks
        .acquire("k", &LockOptions::new(lease, None).unwrap())
        .await
}

async fn granted(locks: &LockManager, lease: Duration) -> LockHandle {
    match acquire(locks, lease).await {
        Ok(Acquired::Granted(lock)) => lock,
        other => panic!("not granted: {other:?}"),
    }
}

async fn unknown(locks: &LockManager, lease: Duration) -> LockHandle {
    match acquire(locks, lease).await {
        Ok(Acquired::Unknown(lock)) => lock,
        other => panic!("not unknown: {other:?}"),
    }
}

async fn until<F: Future<Output = bool>>(what: &str, mut happens: impl FnMut() -> F) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !happens().await {
        assert!(Instant::now() < deadline, "{what} did not happen");
        tokio::time::sleep(2 * MS).await;
    }
}

// What lies on the server.

#[tokio::test]
async fn the_value_names_owner_and_fencing_token_and_the_counter_shares_the_slot() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    let value: String = server.tell("GET app:{k}");
    let (owner, fencing) = value.rsplit_once(':').unwrap();
    assert_eq!(
        lockdrill::ids::OwnerDigest::of(owner.as_bytes()),
        lock.owner()
    );
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

fn blocked(server: &RedisServer) -> usize {
    let info: String = server.tell("INFO clients");
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("blocked_clients:"));
    line.unwrap().trim().parse().unwrap()
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
async fn an_owner_token_of_any_bytes_is_compared_whole() {
    use lockdrill::ids::OwnerToken;
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

// Before the send: an error. After it: unknown.

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

/// A server that knows every script and gives the same answer to each command.
async fn answering(answer: String) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut bytes = vec![0; 64 * 1024];
                while let Ok(n @ 1..) = client.read(&mut bytes).await {
                    let loads = String::from_utf8_lossy(&bytes[..n]).contains("SCRIPT");
                    let reply = if loads { "+OK\r\n" } else { answer.as_str() };
                    if client.write_all(reply.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

// What it recovers from.

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
    assert!(
        matches!(acquire(&locks, LONG).await, Ok(Acquired::Busy(_))),
        "reads are allowed"
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

#[tokio::test]
async fn a_stopped_server_costs_the_budget_and_no_more() {
    let server = RedisServer::start();
    let locks = locks_at(server.address()).await;
    signal(&server, nix::sys::signal::Signal::SIGSTOP);
    let began = Instant::now();
    let lock = unknown(&locks, SHORT).await;
    let took = began.elapsed();
    signal(&server, nix::sys::signal::Signal::SIGCONT);
    assert!(took >= 450 * MS && took < 10 * SHORT, "{took:?}");
    drop(lock);
}

fn signal(server: &RedisServer, signal: nix::sys::signal::Signal) {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(server.pid()), signal).unwrap();
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

// Waiting.

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
    let order = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
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

/// Raw owner tokens never reach anything that is shown.
#[tokio::test]
async fn no_error_or_answer_shows_an_owner_token() {
    let source = std::sync::Arc::new(Remembering::default());
    let address = answering("-ERR wrong\r\n".to_owned()).await;
    let locks = locks_at(address).await.with_source(source.clone());
    let refused = acquire(&locks, SHORT).await;
    assert!(!format!("{refused:?}").contains(source.last().expose()));
}

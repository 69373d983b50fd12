//! Locks on independent servers in trouble: what a minority costs (nothing but its own time), what
//! a majority is told as, what every failed attempt leaves (nothing), and how fencing tokens get
//! from one quorum to the next.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use lockdrill::clock::Clock;
use lockdrill::lock::backends::{self, ConnectSpec};
use lockdrill::lock::flaws::Flaw;
use lockdrill::lock::{
    Acquired, LockError, LockHandle, LockManager, LockOptions, LostReason, ManagerOptions, Release,
    Renewal,
};
use nix::sys::signal::Signal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::deployment::Deployed;
use support::proxy::{Mode, Proxy};
use support::redis_lab::{LONG, MS, SHORT, acquire, granted, unknown, until};
use tokio_util::sync::CancellationToken;

/// More than one server may cost of a long lease, and far less than all of the command's time.
const NODE_MAX: Duration = Duration::from_millis(2_500);

async fn locks_at(address: &str, flaw: Option<Flaw>) -> Result<LockManager, LockError> {
    let mut spec = ConnectSpec::new(address);
    spec.flaw = flaw;
    let service = (backends::named("redlock").unwrap().connect)(spec).await?;
    Ok(LockManager::new(
        service,
        ManagerOptions::new("test", "app:"),
    ))
}

async fn locks_of(all: &Deployed) -> LockManager {
    locks_at(&all.address, None).await.unwrap()
}

/// A proxy before each server, and locks that go through them.
async fn proxied(all: &Deployed) -> (Vec<Proxy>, LockManager) {
    let mut proxies = Vec::new();
    for server in &all.data {
        proxies.push(Proxy::before(server.address()).await);
    }
    let addresses: Vec<String> = proxies.iter().map(Proxy::address).collect();
    let locks = locks_at(&addresses.join(","), None).await.unwrap();
    (proxies, locks)
}

fn token(lock: &LockHandle) -> u64 {
    lock.fencing_token().unwrap().0
}

fn votes(all: &Deployed) -> Vec<bool> {
    let votes = all.data.iter();
    votes
        .map(|server| server.try_tell("EXISTS app:{k}").unwrap_or(false))
        .collect()
}

async fn until_gone(all: &Deployed) {
    until("nothing of the lock is left", || async {
        votes(all).iter().all(|vote| !vote)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_four_servers_half_are_too_few_and_three_are_enough() {
    let mut all = Deployed::voters(4).await;
    let (a, b) = (locks_of(&all).await, locks_of(&all).await);
    for _ in 0..5 {
        // Side by side, so that the votes may split in halves.
        let (one, other) = tokio::join!(acquire(&a, LONG), acquire(&b, LONG));
        let both = [one.unwrap(), other.unwrap()];
        let held = both
            .iter()
            .filter(|one| matches!(one, Acquired::Granted(_)));
        assert_eq!(held.count(), 1, "{both:?}");
        for one in both {
            if let Acquired::Granted(lock) = one {
                assert_eq!(lock.release().await, Release::Released);
            }
        }
    }
    all.data[3].kill();
    assert_eq!(granted(&a, LONG).await.release().await, Release::Released);
    all.data[2].kill();
    // A connection that has just closed is noticed by the command that is lost on it.
    drop(acquire(&a, SHORT).await);
    let refused = acquire(&a, LONG).await.unwrap_err();
    assert!(refused.to_string().contains("a quorum is 3"), "{refused}");
    until_gone(&all).await;
    let refused = locks_at(&all.address, None).await.unwrap_err();
    assert!(refused.to_string().contains("2 of 4 servers"), "{refused}");
    let twice = format!("{0},{0}", all.data[0].address());
    let refused = locks_at(&twice, None).await.unwrap_err();
    assert!(matches!(refused, LockError::Address { .. }), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_minority_is_not_missed_and_a_majority_is_an_error_that_leaves_nothing() {
    let mut all = Deployed::voters(3).await;
    let locks = locks_of(&all).await;
    let lock = granted(&locks, LONG).await;
    all.data[2].kill();
    assert_eq!(lock.renew().await, Renewal::Renewed);
    assert_eq!(lock.release().await, Release::Released);
    all.data[2].restart();
    assert!(all.data[2].answers());
    until("the server that came back votes", || async {
        let lock = granted(&locks, LONG).await;
        let voted = votes(&all)[2];
        lock.release().await;
        voted
    })
    .await;
    let lock = granted(&locks, LONG).await;
    all.data[0].kill();
    all.data[2].kill();
    assert!(matches!(lock.renew().await, Renewal::Unknown(_)));
    assert!(lock.is_locked() && lock.lost().reason().is_none());
    assert!(matches!(lock.release().await, Release::Unknown(_)));
    drop(acquire(&locks, SHORT).await);
    let refused = acquire(&locks, LONG).await.unwrap_err();
    assert!(matches!(refused, LockError::Failed(_)), "{refused}");
    until_gone(&all).await;
    let asked = locks.remaining("k").await;
    assert!(matches!(asked, Err(LockError::Failed(_))), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_reply_is_not_missed_and_a_majority_of_them_is_unknown() {
    let all = Deployed::voters(3).await;
    let (proxies, locks) = proxied(&all).await;
    for mode in [Mode::HoldReplies, Mode::HoldRequests, Mode::CloseAtReply] {
        proxies[0].set(mode);
        let begun = Instant::now();
        let lock = granted(&locks, LONG).await;
        assert_eq!(lock.renew().await, Renewal::Renewed);
        assert_eq!(lock.release().await, Release::Released);
        assert!(
            begun.elapsed() < NODE_MAX,
            "{mode:?}: {:?}",
            begun.elapsed()
        );
        proxies[0].set(Mode::Pass);
        until_gone(&all).await;
    }
    for mode in [Mode::HoldReplies, Mode::CloseAtReply] {
        proxies[0].set(mode);
        proxies[1].set(mode);
        let lock = unknown(&locks, LONG).await;
        assert!(!lock.is_held());
        assert!(votes(&all).iter().all(|vote| *vote), "all were executed");
        proxies[0].set(Mode::Pass);
        proxies[1].set(Mode::Pass);
        let never = CancellationToken::new();
        lock.enter(LONG, &never).await.unwrap();
        assert_eq!(lock.release().await, Release::Released);
        until_gone(&all).await;
    }
    // Dropped in doubt, or before anybody has heard: taken back everywhere.
    proxies[0].set(Mode::HoldReplies);
    proxies[1].set(Mode::HoldReplies);
    drop(unknown(&locks, SHORT).await);
    let cancelled = tokio::spawn(async move { acquire(&locks, LONG).await.is_ok() });
    until("the execution", || async { votes(&all)[2] }).await;
    cancelled.abort();
    proxies[0].set(Mode::Pass);
    proxies[1].set(Mode::Pass);
    until_gone(&all).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_hangs_costs_its_own_time_and_forgets_what_it_did_late() {
    let mut all = Deployed::voters(3).await;
    let locks = locks_of(&all).await;
    granted(&locks, LONG).await.release().await;
    until_gone(&all).await;
    all.data[0].signal(Signal::SIGSTOP);
    let begun = Instant::now();
    let lock = granted(&locks, LONG).await;
    assert_eq!(lock.release().await, Release::Released);
    assert!(begun.elapsed() < NODE_MAX, "{:?}", begun.elapsed());
    // Now it matters: one has voted, one is gone.
    all.data[1].kill();
    drop(acquire(&locks, SHORT).await);
    let begun = Instant::now();
    let refused = acquire(&locks, LONG).await.unwrap_err();
    assert!(matches!(refused, LockError::Failed(_)), "{refused}");
    assert!(begun.elapsed() < NODE_MAX, "{:?}", begun.elapsed());
    all.data[0].signal(Signal::SIGCONT);
    until_gone(&all).await;
    // A majority that hangs may have done it.
    all.data[1].restart();
    assert!(all.data[1].answers());
    all.data[0].signal(Signal::SIGSTOP);
    all.data[1].signal(Signal::SIGSTOP);
    let lock = unknown(&locks, LONG).await;
    drop(lock);
    all.data[0].signal(Signal::SIGCONT);
    all.data[1].signal(Signal::SIGCONT);
    until_gone(&all).await;
    granted(&locks, LONG).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fencing_token_is_written_back_before_it_is_told() {
    let mut all = Deployed::voters(3).await;
    let locks = locks_of(&all).await;
    all.data[1].tell::<()>("SET app:{k}:fence 41");
    all.data[0].kill();
    drop(locks.remaining("k").await);
    let lock = granted(&locks, LONG).await;
    assert_eq!(token(&lock), 42);
    for server in &all.data[1..] {
        assert_eq!(server.tell::<u64>("GET app:{k}:fence"), 42);
        assert!(server.tell::<String>("GET app:{k}").ends_with(":42"));
        let left: u64 = server.tell("PTTL app:{k}");
        assert!(left > 50_000 && left <= 60_000, "{left}");
    }
    assert_eq!(lock.release().await, Release::Released);
    // The next quorum knows it from the one server that both share.
    all.data[0].restart();
    assert!(all.data[0].answers());
    all.data[1].kill();
    drop(locks.remaining("k").await);
    until("the server that came back votes", || async {
        match acquire(&locks, LONG).await {
            Ok(Acquired::Granted(lock)) => {
                assert!(token(&lock) > 42);
                true
            }
            _ => false,
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_without_a_quorum_leaves_nothing_and_says_how_long_the_holder_has() {
    let all = Deployed::voters(3).await;
    let locks = locks_of(&all).await;
    for server in &all.data[..2] {
        server.tell::<()>("SET app:{k} somebody:1 PX 30000");
    }
    assert!(matches!(acquire(&locks, LONG).await, Ok(Acquired::Busy(_))));
    until("the vote is back", || async { !votes(&all)[2] }).await;
    let left = locks.remaining("k").await.unwrap().unwrap();
    assert!(left > 10_000 * MS && left <= 30_000 * MS);
    // Of two rivals nobody is a holder; still nobody else is.
    all.data[1].tell::<()>("SET app:{k} else:1 PX 30000");
    assert!(matches!(
        acquire(&locks, SHORT).await,
        Ok(Acquired::Busy(_))
    ));
    until("the vote is back", || async { !votes(&all)[2] }).await;
    assert_eq!(locks.remaining("k").await, Ok(None));
    all.data[1].tell::<()>("DEL app:{k}");
    assert!(token(&granted(&locks, LONG).await) > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewal_needs_a_quorum_and_brings_no_vote_back() {
    let mut all = Deployed::voters(3).await;
    let locks = locks_of(&all).await;
    let lock = granted(&locks, LONG).await;
    until("all have voted", || async { votes(&all) == [true; 3] }).await;
    all.data[0].restart();
    assert!(all.data[0].answers());
    for _ in 0..3 {
        assert_eq!(lock.renew().await, Renewal::Renewed);
    }
    assert_eq!(votes(&all), [false, true, true]);
    all.data[1].tell::<()>("DEL app:{k}");
    until("the loss is proved", || async {
        match lock.renew().await {
            Renewal::Lost(reason) => {
                assert_eq!(reason, LostReason::Absent);
                true
            }
            Renewal::Unknown(_) => false,
            Renewal::Renewed => panic!("one of three is no quorum"),
        }
    })
    .await;
    assert_eq!(votes(&all), [false, false, true]);
    assert!(!lock.is_locked());
    drop(lock);
    until_gone(&all).await;
}

/// Every look at it finds it later.
#[derive(Debug)]
struct Rushing(AtomicU64);

impl Clock for Rushing {
    fn now_ns(&self) -> u64 {
        self.0.fetch_add(400_000_000, Ordering::SeqCst)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grant_whose_time_is_used_up_is_refused_and_taken_back() {
    let all = Deployed::voters(3).await;
    let locks = locks_of(&all).await;
    let late = locks.with_clock(Arc::new(Rushing(AtomicU64::new(0))));
    let refused = acquire(&late, 300 * MS).await.unwrap_err();
    assert_eq!(refused, LockError::TooLate);
    until_gone(&all).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quorum_of_those_that_answered_is_none_and_one_by_one_is_too_slow() {
    let mut all = Deployed::voters(3).await;
    let sound = locks_of(&all).await;
    let of_answers = locks_at(&all.address, Some(Flaw::QuorumOfAnswers))
        .await
        .unwrap();
    let one_by_one = locks_at(&all.address, Some(Flaw::OneByOne)).await.unwrap();
    all.data[0].signal(Signal::SIGSTOP);
    granted(&sound, SHORT).await.release().await;
    let hung = acquire(&one_by_one, SHORT).await;
    assert!(!matches!(hung, Ok(Acquired::Granted(_))), "{hung:?}");
    // Nobody is asked when no time is left: the vote would come all the same.
    assert_eq!(all.data[2].tell::<u64>("GET app:{k}:fence"), 1);
    all.data[0].kill();
    all.data[1].kill();
    drop((
        acquire(&sound, SHORT).await,
        acquire(&of_answers, SHORT).await,
    ));
    until_gone(&all).await;
    assert!(acquire(&sound, SHORT).await.is_err());
    granted(&of_answers, SHORT).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiter_is_woken_though_a_server_is_gone() {
    let mut all = Deployed::voters(3).await;
    let (a, b) = (locks_of(&all).await, locks_of(&all).await);
    let lock = granted(&a, LONG).await;
    let waiting = tokio::spawn(async move {
        let options = LockOptions::new(LONG, None).unwrap();
        let never = CancellationToken::new();
        b.enter("k", &options, LONG, &never).await
    });
    until("an ear at each", || async { all.blocked() == 3 }).await;
    // Whoever has heard a quorum goes on: the third vote may come later.
    until("a vote of each", || async {
        votes(&all).iter().all(|vote| *vote)
    })
    .await;
    all.data[1].kill();
    assert_eq!(lock.release().await, Release::Released);
    let begun = Instant::now();
    let next = waiting.await.unwrap().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10), "60 s are left");
    assert!(token(&next) > token(&lock));
}

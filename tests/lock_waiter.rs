//! Waiting for a lock: who is asked, how often, what a wait that ends without the lock says, and
//! what it leaves behind. On a clock that stands still unless the test sleeps.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use lockdrill::lock::{
    Acquired, EnterError, LockError, LockHandle, LockManager, LockOptions, ManagerOptions,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use support::scripted::{Say, Scripted, TokioClock, busy, failed, grant, granted, unknown};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

const MS: Duration = Duration::from_millis(1);
const LEASE: Duration = Duration::from_millis(1_000);

fn lab(service: Scripted) -> (Arc<Scripted>, LockManager) {
    let service = Arc::new(service);
    let locks = LockManager::new(service.clone(), ManagerOptions::new("test", ""));
    (service, locks.with_clock(TokioClock::start()))
}

fn options() -> LockOptions {
    LockOptions::new(LEASE, None).unwrap()
}

async fn enter(locks: &LockManager, deadline: Duration) -> Result<LockHandle, EnterError> {
    let cancel = CancellationToken::new();
    locks.enter("k", &options(), deadline, &cancel).await
}

async fn settle() {
    sleep(Duration::from_micros(1)).await;
}

/// When the acquires arrived, from the first one.
fn times(service: &Scripted) -> Vec<Duration> {
    let calls = service.calls.lock().unwrap();
    let acquires = calls.iter().filter(|(_, name, _)| *name == "acquire");
    acquires.map(|(at, _, _)| *at - calls[0].0).collect()
}

#[tokio::test(start_paused = true)]
async fn a_free_lock_is_entered_at_once() {
    let (service, locks) = lab(Scripted::acquiring([grant(1, LEASE)]));
    let began = Instant::now();
    assert!(enter(&locks, LEASE).await.unwrap().is_locked());
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(service.heard(), ["acquire"]);
}

#[tokio::test(start_paused = true)]
async fn each_try_is_a_fresh_attempt() {
    let (service, locks) = lab(Scripted::acquiring([
        busy(LEASE),
        busy(LEASE),
        busy(LEASE),
        grant(4, LEASE),
    ]));
    let lock = enter(&locks, 20 * LEASE).await.unwrap();
    assert_eq!(lock.fencing_token().map(|token| token.0), Some(4));
    let owners: HashSet<_> = service
        .calls
        .lock()
        .unwrap()
        .iter()
        .map(|call| call.2.clone())
        .collect();
    assert_eq!(owners.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_try_without_an_answer_is_sent_again_as_the_same_attempt() {
    let (service, locks) = lab(Scripted::acquiring([unknown(), grant(1, LEASE)]));
    let lock = enter(&locks, 20 * LEASE).await.unwrap();
    assert!(lock.is_locked());
    let calls = service.calls.lock().unwrap().clone();
    assert_eq!((calls.len(), &calls[0].2), (2, &calls[1].2));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_holders_lease_is_not_slept_through() {
    let (service, locks) = lab(Scripted::acquiring([busy(700 * MS), grant(2, LEASE)]));
    enter(&locks, 20 * LEASE).await.unwrap();
    let looked = times(&service)[1];
    assert!((701 * MS..=775 * MS).contains(&looked), "{looked:?}");
}

#[tokio::test(start_paused = true)]
async fn no_second_sees_more_than_three_commands_of_one_waiter_whatever_is_answered() {
    let foreign_without_lease = || {
        Say::After(
            Duration::ZERO,
            Ok(lockdrill::lock::service::AcquireAnswer::Busy { remaining: None }),
        )
    };
    for answer in [
        busy(Duration::ZERO),
        busy(MS),
        busy(LEASE),
        foreign_without_lease(),
        failed(),
    ] {
        let (service, locks) = lab(Scripted::acquiring([answer]));
        enter(&locks, 30 * LEASE).await.unwrap_err();
        let times = times(&service);
        for four in times.windows(4) {
            assert!(four[3] - four[0] >= Duration::from_secs(1), "{four:?}");
        }
        assert!(
            times.len() >= 20,
            "and it does not fall asleep: {}",
            times.len()
        );
        let gaps: HashSet<_> = times.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(gaps.len() > 2, "no jitter: {gaps:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_ends_says_what_it_knows() {
    let deadline = 5 * LEASE;
    let held = enter(&lab(Scripted::acquiring([busy(LEASE)])).1, deadline).await;
    assert_eq!(held.unwrap_err(), EnterError::TimedOut);

    let broken = enter(&lab(Scripted::acquiring([failed()])).1, deadline).await;
    let refused = LockError::Failed("refused".into());
    assert_eq!(
        broken.unwrap_err(),
        EnterError::Failed(refused),
        "never as a held lock"
    );

    let silent = enter(&lab(Scripted::acquiring([unknown()])).1, deadline).await;
    assert!(matches!(silent, Err(EnterError::Unknown(_))), "{silent:?}");
}

#[tokio::test(start_paused = true)]
async fn deadline_and_cancel_bound_even_a_service_that_never_returns() {
    let (_, locks) = lab(Scripted::acquiring([Say::Never]));
    let began = Instant::now();
    enter(&locks, 300 * MS).await.unwrap_err();
    assert_eq!(began.elapsed().as_millis(), 300);

    let cancel = CancellationToken::new();
    let canceller = cancel.clone();
    tokio::spawn(async move {
        sleep(100 * MS).await;
        canceller.cancel();
    });
    let began = Instant::now();
    let entered = locks.enter("k", &options(), 20 * LEASE, &cancel).await;
    assert_eq!(entered.unwrap_err(), EnterError::Cancelled);
    assert_eq!(began.elapsed().as_millis(), 100);
}

#[tokio::test(start_paused = true)]
async fn what_a_cancelled_late_or_dropped_wait_may_have_taken_is_given_back() {
    let (service, locks) = lab(Scripted::acquiring([Say::After(
        200 * MS,
        Ok(granted(1, LEASE)),
    )]));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let entered = locks.enter("k", &options(), LEASE, &cancel).await;
    assert_eq!(entered.unwrap_err(), EnterError::Cancelled);
    settle().await;
    assert!(
        service.heard().is_empty(),
        "cancelled before anything was sent"
    );

    enter(&locks, 100 * MS).await.unwrap_err();
    settle().await;
    assert_eq!(service.heard(), ["acquire", "release"], "late");

    let waiting = tokio::spawn({
        let locks = locks.clone();
        async move { enter(&locks, LEASE).await }
    });
    sleep(100 * MS).await;
    waiting.abort();
    settle().await;
    assert_eq!(service.heard()[2..], ["acquire", "release"], "dropped");
    let owners: HashSet<_> = service
        .calls
        .lock()
        .unwrap()
        .iter()
        .map(|call| call.2.clone())
        .collect();
    assert_eq!(owners.len(), 2, "each released with its own owner token");
}

#[tokio::test(start_paused = true)]
async fn a_wait_survives_an_outage() {
    let (service, locks) = lab(Scripted::acquiring([
        failed(),
        unknown(),
        failed(),
        busy(LEASE),
        grant(1, LEASE),
    ]));
    assert!(enter(&locks, 60 * LEASE).await.unwrap().is_locked());
    assert_eq!(service.count("acquire"), 5);
}

#[tokio::test(start_paused = true)]
async fn a_busy_acquire_can_be_turned_into_a_wait_and_counts_as_its_first_look() {
    let (service, locks) = lab(Scripted::acquiring([busy(10 * LEASE), grant(1, LEASE)]));
    let Ok(Acquired::Busy(waiter)) = locks.acquire("k", &options()).await else {
        panic!("not busy");
    };
    assert_eq!(waiter.key(), "k");
    waiter
        .enter(20 * LEASE, &CancellationToken::new())
        .await
        .unwrap();
    let looked = times(&service)[1];
    assert!((800 * MS..=1_202 * MS).contains(&looked), "{looked:?}");
}

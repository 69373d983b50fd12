//! What others do to a lock: races of its own users, keys deleted, evicted or set by hand. Lost
//! replies and restarts are in lock_redis_trouble.rs, a dropped acquire in lock_conformance.rs, a
//! stopped holder in lock_stopped.rs.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use lockdrill::lock::service::Promise;
use lockdrill::lock::{
    Acquired, EnterError, LockHandle, LockManager, LockOptions, LostReason, Release, Renewal,
    backends,
};
use std::sync::Arc;
use std::time::Duration;
use support::place::Place;
use tokio_util::sync::CancellationToken;

const MS: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(30);

async fn acquire(
    place: &Place,
    locks: &LockManager,
    lease: Duration,
    renew: Duration,
) -> LockHandle {
    let options = LockOptions::new(lease, Some(renew)).unwrap();
    match locks.acquire(place.key(), &options).await {
        Ok(Acquired::Granted(lock)) => lock,
        other => panic!("not granted: {other:?}"),
    }
}

/// Overwrites the lock's value behind its owner's back.
fn overwrite(place: &Place, with: &str) {
    let server = place.server.as_ref().unwrap();
    server.tell::<()>(&format!("SET test:{{orders}} {with}"));
}

/// Scripts that the server has run so far.
fn commands(place: &Place) -> String {
    let stats: String = place.server.as_ref().unwrap().tell("INFO commandstats");
    let calls = stats
        .lines()
        .find(|line| line.starts_with("cmdstat_evalsha"));
    let calls = calls.and_then(|line| line.split(',').next());
    calls.unwrap_or("none").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renewing_and_releasing_at_once_never_brings_the_lock_back() {
    let place = Place::of("redis").await;
    let locks = place.manager().await;
    for _ in 0..50 {
        let lock = Arc::new(acquire(&place, &locks, LONG, 5 * MS).await);
        let renewals: Vec<_> = (0..4)
            .map(|_| {
                let lock = Arc::clone(&lock);
                tokio::spawn(async move { lock.renew().await })
            })
            .collect();
        assert_eq!(lock.release().await, Release::Released);
        for renewal in renewals {
            let renewal = renewal.await.unwrap();
            let told = matches!(
                renewal,
                Renewal::Renewed | Renewal::Lost(LostReason::Released)
            );
            assert!(told, "{renewal:?}: nobody has lost anything");
        }
        assert_eq!(locks.remaining(place.key()).await, Ok(None));
        assert_eq!(lock.lost().reason(), None);
    }
}

#[tokio::test]
async fn an_evicted_lock_is_lost_and_told_by_the_next_renewal() {
    let place = Place::of("redis").await;
    let locks = place.manager().await;
    let lock = acquire(&place, &locks, LONG, 50 * MS).await;
    place
        .server
        .as_ref()
        .unwrap()
        .tell::<()>("DEL test:{orders}");
    assert_eq!(lock.lost().await, LostReason::Absent);
    assert!(!lock.is_held());
}

/// The limit that the back end declares is real: whoever deletes the counter gets old tokens.
#[tokio::test]
async fn fencing_is_best_effort_because_a_deleted_counter_starts_again() {
    let place = Place::of("redis").await;
    let locks = place.manager().await;
    let first = place.granted(&locks, LONG).await;
    first.release().await;
    place
        .server
        .as_ref()
        .unwrap()
        .tell::<()>("DEL test:{orders}:fence");
    let second = place.granted(&locks, LONG).await;
    assert_eq!(second.fencing_token(), first.fencing_token());
    let kind = backends::named("redis").unwrap();
    assert!(matches!(kind.capabilities.fencing, Promise::BestEffort(_)));
}

/// A foreign key without a lease once made waiters spin.
#[tokio::test]
async fn waiting_for_a_key_without_a_lease_does_not_spin() {
    let place = Place::of("redis").await;
    let locks = place.manager().await;
    overwrite(&place, "for-ever");
    let cancel = CancellationToken::new();
    let entered = locks
        .enter(place.key(), &place.options(LONG), 3_000 * MS, &cancel)
        .await;
    // A look that the deadline cuts short is unknown.
    let entered = entered.unwrap_err();
    assert!(
        matches!(entered, EnterError::TimedOut | EnterError::Unknown(_)),
        "{entered:?}"
    );
    let calls = commands(&place);
    let calls: usize = calls.rsplit('=').next().unwrap().parse().unwrap();
    assert!((2..=9).contains(&calls), "{calls} looks in three seconds");
}

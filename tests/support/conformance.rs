//! What every back end must do, written once. Each function is one sentence of the contract and
//! gets a [`Place`]: a fresh, empty service of the back end under test.

use super::place::Place;
use lockdrill::ids::OwnerToken;
use lockdrill::lock::{Acquired, LostReason, Release, Renewal};
use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const MS: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(20);
/// Waited out, and long enough that a busy server answers within the half of it.
const SHORT: Duration = Duration::from_secs(1);

pub async fn a_free_lock_is_granted(place: Place) {
    let locks = place.manager().await;
    let lock = place.granted(&locks, 5_000 * MS).await;
    assert!(lock.is_held() && lock.is_locked() && !lock.is_expired());
    assert!(lock.fencing_token().expect("a fencing token").0 > 0);
    assert_eq!(lock.granted_lease(), 5_000 * MS);
    assert!(lock.stop_by() < lock.deadline_ns());
    let left = locks
        .remaining(place.key())
        .await
        .unwrap()
        .expect("a lease");
    assert!(left <= 5_000 * MS && left > 1_000 * MS);
}

pub async fn a_second_contender_is_busy(place: Place) {
    let (a, b) = (place.manager().await, place.manager().await);
    let lock = place.granted(&a, LONG).await;
    for locks in [&a, &b] {
        let second = locks.acquire(place.key(), &place.options(LONG)).await;
        assert!(
            matches!(second, Ok(Acquired::Busy(_))),
            "not re-entrant, not shared"
        );
    }
    assert!(lock.is_locked());
}

pub async fn expiry_frees_the_lock(place: Place) {
    let (a, b) = (place.manager().await, place.manager().await);
    let late = place.granted(&a, SHORT).await;
    let next = b
        .enter(
            place.key(),
            &place.options(LONG),
            LONG,
            &CancellationToken::new(),
        )
        .await
        .expect("the lease of a has ended");
    assert!(late.is_expired() && late.is_held() && !late.is_locked());
    assert_eq!(late.lost().await, LostReason::Deadline);
    assert!(next.fencing_token() > late.fencing_token());
}

pub async fn a_release_by_a_non_holder_is_refused_and_harmless(place: Place) {
    let (a, b) = (place.manager().await, place.manager().await);
    let lock = place.granted(&a, LONG).await;
    let stranger = OwnerToken::fresh().unwrap();
    assert_eq!(
        b.release(place.key(), &stranger).await,
        Release::AlreadyLost
    );
    assert_eq!(
        lock.renew().await,
        Renewal::Renewed,
        "still there, still ours"
    );
    assert_eq!(lock.release().await, Release::Released);
    assert_eq!(lock.release().await, Release::AlreadyLost, "idempotent");
}

pub async fn a_late_release_does_not_touch_the_successor(place: Place) {
    let (a, b) = (place.manager().await, place.manager().await);
    let late = place.granted(&a, SHORT).await;
    late.lost().await;
    let next = place.entered(&b, LONG).await;
    assert_eq!(late.release().await, Release::AlreadyLost);
    assert_eq!(next.renew().await, Renewal::Renewed);
}

pub async fn a_renewal_extends_only_the_owner(place: Place) {
    let (a, b) = (place.manager().await, place.manager().await);
    let late = place.granted(&a, SHORT).await;
    late.lost().await;
    let next = place.entered(&b, 5_000 * MS).await;
    let before = next.deadline_ns();
    assert_eq!(late.renew().await, Renewal::Lost(LostReason::Deadline));
    assert_eq!(next.renew().await, Renewal::Renewed);
    assert!(next.deadline_ns() > before);
    assert!(!late.is_locked(), "nothing comes back");
}

pub async fn a_renewal_after_expiry_is_lost_and_creates_nothing(place: Place) {
    let locks = place.manager().await;
    let late = place.granted(&locks, SHORT).await;
    late.lost().await;
    place.until_free(&locks).await;
    assert_eq!(late.renew().await, Renewal::Lost(LostReason::Deadline));
    assert_eq!(locks.remaining(place.key()).await, Ok(None));
}

/// The server says so, although our own clock has seen nothing of it.
pub async fn a_renewal_of_a_vanished_lock_is_lost_and_creates_nothing(place: Place) {
    let (a, b) = (place.manager().await, place.manager().await);
    let identity = place.identity();
    let lock = place.granted(&a.with_source(identity.clone()), LONG).await;
    assert_eq!(
        b.release(place.key(), &identity.last()).await,
        Release::Released
    );
    assert_eq!(lock.renew().await, Renewal::Lost(LostReason::Absent));
    assert!(!lock.is_held() && !lock.is_locked() && !lock.is_expired());
    assert_eq!(b.remaining(place.key()).await, Ok(None));
    assert_eq!(lock.lost().reason(), Some(LostReason::Absent));
}

pub async fn a_renewal_of_somebody_elses_lock_is_lost(place: Place) {
    let (a, b) = (place.manager().await, place.manager().await);
    let identity = place.identity();
    let lock = place.granted(&a.with_source(identity.clone()), LONG).await;
    assert_eq!(
        b.release(place.key(), &identity.last()).await,
        Release::Released
    );
    let next = place.granted(&b, 5_000 * MS).await;
    assert_eq!(lock.renew().await, Renewal::Lost(LostReason::Foreign));
    assert_eq!(lock.release().await, Release::AlreadyLost);
    assert!(b.remaining(place.key()).await.unwrap().expect("b's") <= 5_000 * MS);
    assert_eq!(next.release().await, Release::Released);
}

pub async fn each_grant_has_an_owner_token_and_an_id_of_its_own(place: Place) {
    let locks = place.manager().await;
    let mut owners = HashSet::new();
    let mut grants = HashSet::new();
    for _ in 0..20 {
        let lock = place.granted(&locks, LONG).await;
        assert!(owners.insert(lock.owner()) && grants.insert(lock.grant().clone()));
        lock.release().await;
    }
}

pub async fn fencing_tokens_rise_across_release_expiry_and_reconnect(place: Place) {
    let mut last = None;
    for round in 0..12 {
        let locks = place.manager().await;
        let lease = if round % 3 == 0 { 400 * MS } else { LONG };
        let lock = place.entered(&locks, lease).await;
        assert!(
            lock.fencing_token() > last,
            "{:?} after {last:?}",
            lock.fencing_token()
        );
        last = lock.fencing_token();
        if round % 3 == 0 {
            lock.lost().await;
        }
        lock.release().await;
    }
}

pub async fn many_contenders_get_one_grant(place: Place) {
    let mut attempts = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let (locks, options) = (place.manager().await, place.options(LONG));
        let key = place.key().to_owned();
        attempts.spawn(async move { locks.acquire(&key, &options).await });
    }
    let mut granted = Vec::new();
    while let Some(attempt) = attempts.join_next().await {
        match attempt.unwrap().expect("an answer") {
            Acquired::Granted(lock) => granted.push(lock),
            Acquired::Busy(_) => {}
            Acquired::Unknown(lock) => panic!("no fault, no doubt: {lock:?}"),
        }
    }
    assert_eq!(granted.len(), 1);
}

/// Drops the acquire after its k-th poll, for every k until it completes.
pub async fn a_dropped_acquire_leaves_at_most_a_lease_that_ends(place: Place) {
    let locks = place.manager().await;
    for polls in 0.. {
        let options = place.options(LONG);
        let completed = {
            let acquire = locks.acquire(place.key(), &options);
            poll_times(Box::pin(acquire).as_mut(), polls).await
        };
        let Some(acquired) = completed else {
            // Given back in the background: a lease of 20 s cannot have ended by itself.
            place.until_free(&locks).await;
            continue;
        };
        assert!(
            matches!(acquired, Ok(Acquired::Granted(_))),
            "after {polls} polls: {acquired:?}"
        );
        return;
    }
}

/// Polls a future `times` times, letting everything else run between two polls.
async fn poll_times<F: Future>(mut future: Pin<&mut F>, times: usize) -> Option<F::Output> {
    for _ in 0..times {
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        tokio::time::sleep(MS).await;
    }
    None
}

pub async fn a_release_wakes_a_waiter(place: Place) {
    let (a, b) = (place.manager().await, place.manager().await);
    let lock = place.granted(&a, LONG).await;
    let waiting = tokio::spawn(place.entering(&b, LONG));
    place.until_waiting().await;
    lock.release().await;
    let released = std::time::Instant::now();
    let next = waiting.await.unwrap().expect("woken");
    // The lease has 20 s to go: only a wake-up or the poll (a second) can have brought it. The
    // sharp bound is in lock_waiting.rs; this one only tells it from the lease.
    assert!(released.elapsed() < Duration::from_secs(10));
    assert!(next.is_locked());
}

pub async fn keys_of_two_prefixes_do_not_meet(place: Place) {
    let one = place.manager().await;
    let other = place.manager_with_prefix("other:").await;
    let _held = place.granted(&one, LONG).await;
    let lock = place.granted(&other, LONG).await;
    assert_eq!(lock.release().await, Release::Released);
}

pub async fn an_empty_key_is_refused_before_anything_is_sent(place: Place) {
    use lockdrill::lock::{EnterError, LockError};
    let locks = place.manager().await;
    let options = place.options(LONG);
    assert_eq!(
        locks.acquire("", &options).await.unwrap_err(),
        LockError::EmptyKey
    );
    assert_eq!(locks.remaining("").await, Err(LockError::EmptyKey));
    let entered = locks
        .enter("", &options, LONG, &CancellationToken::new())
        .await;
    assert_eq!(
        entered.unwrap_err(),
        EnterError::Failed(LockError::EmptyKey)
    );
}

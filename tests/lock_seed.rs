//! What callers of this lock have always relied on, told from their side and against a real
//! server: options, fencing, renewal by hand and by itself, waiting, diagnostics.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use lockdrill::ids::{GrantId, OwnerToken};
use lockdrill::lock::error::OptionsError;
use lockdrill::lock::{
    Acquired, EnterError, LockError, LockHandle, LockManager, LockOptions, LostReason, Release,
    Renewal, TokenSource,
};
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::place::Place;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::field::{Field, Visit};

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

async fn is_busy(place: &Place, locks: &LockManager) -> bool {
    let acquired = locks.acquire(place.key(), &place.options(LONG)).await;
    matches!(acquired, Ok(Acquired::Busy(_)))
}

/// Overwrites the lock's value behind its owner's back.
fn overwrite(place: &Place, with: &str) {
    let server = place.server.as_ref().unwrap();
    server.tell::<()>(&format!("SET test:{{orders}} {with}"));
}

#[test]
fn a_lease_is_positive_and_the_renewal_interval_below_it() {
    let too_short = |lease| Err(OptionsError::LeaseTooShort(lease));
    assert_eq!(
        LockOptions::new(Duration::ZERO, None),
        too_short(Duration::ZERO)
    );
    assert_eq!(LockOptions::new(MS / 2, None), too_short(MS / 2));
    let equal = LockOptions::new(LONG, Some(LONG));
    assert!(matches!(
        equal,
        Err(OptionsError::IntervalNotBelowLease { .. })
    ));
}

#[test]
fn renewal_is_by_hand_unless_asked_for() {
    let none = LockOptions::new(LONG, None).unwrap();
    let zero = LockOptions::new(LONG, Some(Duration::ZERO)).unwrap();
    assert_eq!((none.renewal_interval(), zero), (None, none));
}

#[tokio::test]
async fn successive_grants_have_rising_fencing_tokens_and_a_contender_has_none() {
    let place = Place::of("redis").await;
    let (a, b) = (place.manager().await, place.manager().await);
    let first = place.granted(&a, LONG).await;
    assert!(first.fencing_token().unwrap().0 > 0);
    assert!(
        is_busy(&place, &b).await,
        "no handle at all, so nothing to mistake for a lock"
    );
    first.release().await;
    let second = place.granted(&b, LONG).await;
    assert!(second.fencing_token() > first.fencing_token());
}

#[tokio::test]
async fn a_renewal_by_hand_extends_the_lease_and_an_overwritten_lock_is_lost() {
    let place = Place::of("redis").await;
    let locks = place.manager().await;
    let lock = place.granted(&locks, 2_000 * MS).await;
    let first_deadline = lock.deadline_ns();
    sleep(1_000 * MS).await;
    assert_eq!(lock.renew().await, Renewal::Renewed);
    assert!(lock.deadline_ns() >= first_deadline + 900_000_000);
    sleep(1_200 * MS).await;
    assert!(lock.is_locked(), "beyond its first lease");

    overwrite(&place, "somebody:9");
    assert_eq!(lock.renew().await, Renewal::Lost(LostReason::Foreign));
    assert!(!lock.is_held());
    let value: String = place.server.as_ref().unwrap().tell("GET test:{orders}");
    assert_eq!(value, "somebody:9", "left alone");
}

#[tokio::test]
async fn without_renewal_the_lease_ends_and_the_old_handle_cannot_free_the_successor() {
    let place = Place::of("redis").await;
    let (a, b) = (place.manager().await, place.manager().await);
    let old = place.granted(&a, 250 * MS).await;
    old.lost().await;
    let next = place.entered(&b, LONG).await;
    assert!(next.fencing_token() > old.fencing_token());
    drop(old);
    sleep(150 * MS).await;
    assert_eq!(next.renew().await, Renewal::Renewed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_renewal_the_lock_stays_and_after_release_it_is_free() {
    let place = Place::of("redis").await;
    let (a, b) = (place.manager().await, place.manager().await);
    let lock = acquire(&place, &a, 1_500 * MS, 250 * MS).await;
    let until = Instant::now() + 4_000 * MS;
    while Instant::now() < until {
        assert!(lock.is_locked() && is_busy(&place, &b).await);
        sleep(200 * MS).await;
    }
    assert_eq!(lock.release().await, Release::Released);
    sleep(300 * MS).await;
    let next = place.granted(&b, LONG).await;
    assert!(next.fencing_token() > lock.fencing_token());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_contender_enters_after_the_release_and_is_renewed_from_then_on() {
    let place = Place::of("redis").await;
    let (a, b) = (place.manager().await, place.manager().await);
    let lock = place.granted(&a, LONG).await;
    let options = LockOptions::new(1_500 * MS, Some(250 * MS)).unwrap();
    let Ok(Acquired::Busy(waiter)) = b.acquire(place.key(), &options).await else {
        panic!("not busy");
    };
    let waiting = tokio::spawn(async move { waiter.enter(LONG, &CancellationToken::new()).await });
    place.until_waiting().await;
    lock.release().await;
    let next = waiting.await.unwrap().unwrap();
    assert!(next.fencing_token() > lock.fencing_token());
    sleep(3_000 * MS).await;
    assert!(next.is_locked(), "twice its lease");
}

#[tokio::test]
async fn competition_ownership_and_remaining_lease() {
    let place = Place::of("redis").await;
    let (a, b) = (place.manager().await, place.manager().await);
    let lock = place.granted(&a, LONG).await;
    let wrong = OwnerToken::new("not the owner's");
    assert_eq!(b.release(place.key(), &wrong).await, Release::AlreadyLost);
    assert!(b.remaining(place.key()).await.unwrap() > Some(Duration::ZERO));
    assert_eq!(lock.release().await, Release::Released);
    assert_eq!(b.remaining(place.key()).await, Ok(None));
}

#[tokio::test]
async fn a_cancelled_wait_ends_as_cancelled_and_does_not_harm_the_owner() {
    let place = Place::of("redis").await;
    let (a, b) = (place.manager().await, place.manager().await);
    let lock = place.granted(&a, LONG).await;
    let cancel = CancellationToken::new();
    let canceller = cancel.clone();
    tokio::spawn(async move {
        sleep(300 * MS).await;
        canceller.cancel();
    });
    let entered = b
        .enter(place.key(), &place.options(LONG), LONG, &cancel)
        .await;
    assert_eq!(entered.unwrap_err(), EnterError::Cancelled);
    assert_eq!(lock.renew().await, Renewal::Renewed);
}

#[tokio::test]
async fn entering_what_is_held_sends_nothing_and_changes_nothing() {
    let place = Place::of("redis").await;
    let locks = place.manager().await;
    let lock = place.granted(&locks, LONG).await;
    let before = (lock.deadline_ns(), commands(&place));
    lock.enter(LONG, &CancellationToken::new()).await.unwrap();
    assert_eq!((lock.deadline_ns(), commands(&place)), before);
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

#[tokio::test]
async fn acquire_renewal_loss_and_wait_are_told_to_operators() {
    let heard = Heard::default();
    let guard = tracing::subscriber::set_default(Ear(heard.clone()));
    let place = Place::of("memory").await;
    let locks = place.manager().await;
    let lock = place.granted(&locks, LONG).await;
    lock.renew().await;
    assert!(is_busy(&place, &locks).await);
    lock.release().await;
    let late = place.entered(&locks, 30 * MS).await;
    late.lost().await;
    drop(guard);
    let heard = heard.0.lock().unwrap().join("\n");
    for metric in [
        "monotonic_counter.lock.acquire.count",
        "monotonic_counter.lock.renewal.count",
        "histogram.lock.renewal.duration",
        "monotonic_counter.lock.release.count",
        "histogram.lock.hold.duration",
        "histogram.lock.wait.duration",
        "counter.lock.waiters",
        "monotonic_counter.lock.lost.count",
        "reason=\"deadline\"",
        "outcome=\"busy\"",
    ] {
        assert!(heard.contains(metric), "{metric} is missing in\n{heard}");
    }
}

#[tokio::test]
async fn each_line_of_the_log_says_whose_grant_it_is_and_no_line_has_an_owner_token() {
    let heard = Heard::default();
    let guard = tracing::subscriber::set_default(Ear(heard.clone()));
    let place = Place::of("memory").await;
    let locks = place.manager().await.with_source(Arc::new(Named));
    let lock = acquire(&place, &locks, LONG, 50 * MS).await;
    let (owner, fencing) = (lock.owner(), lock.fencing_token().unwrap());
    lock.renew().await;
    assert!(is_busy(&place, &locks).await);
    lock.release().await;
    let late = place.entered(&locks, 30 * MS).await;
    late.lost().await;
    drop(guard);
    let heard = heard.0.lock().unwrap();
    let said = |what: &str| {
        let all: Vec<&String> = heard.iter().filter(|line| line.contains(what)).collect();
        assert!(
            !all.is_empty(),
            "`{what}` is missing in\n{}",
            heard.join("\n")
        );
        all
    };
    for what in [
        "message=lock granted",
        "renewal=\"renewed\"",
        "release=\"released\"",
        "reason=\"deadline\"",
    ] {
        for line in said(what)
            .into_iter()
            .filter(|line| line.contains("lock.key"))
        {
            for field in [
                "lock.key=\"orders\"",
                "lock.owner=",
                "lock.fencing=",
                "lock.lease_ms=",
            ] {
                assert!(line.contains(field), "{field} is missing in {line}");
            }
        }
    }
    let granted = said("message=lock granted")[0];
    assert!(
        granted.contains(&format!("lock.owner={owner} ")),
        "{granted}"
    );
    assert!(
        granted.contains(&format!("lock.fencing={fencing} ")),
        "{granted}"
    );
    assert!(granted.contains("wait_ms="), "{granted}");
    assert!(said("message=lock renewal")[0].contains("took_ms="));
    assert!(said("why=busy")[0].contains("lock.key=\"orders\""));
    assert!(!heard.join("\n").contains(RAW), "an owner token was logged");
}

const RAW: &str = "nobody-may-read-this";

/// Owner tokens that can be looked for.
struct Named;

impl TokenSource for Named {
    fn owner(&self) -> Result<OwnerToken, LockError> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::SeqCst);
        Ok(OwnerToken::new(format!("{RAW}-{number}")))
    }

    fn grant(&self) -> GrantId {
        GrantId("g".to_owned())
    }
}

#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

struct Ear(Heard);

impl tracing::Subscriber for Ear {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("lockdrill")
    }
    fn new_span(&self, _span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _span: &tracing::span::Id, _values: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _span: &tracing::span::Id, _follows: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.0.0.lock().unwrap().push(fields.0);
    }
    fn enter(&self, _span: &tracing::span::Id) {}
    fn exit(&self, _span: &tracing::span::Id) {}
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}

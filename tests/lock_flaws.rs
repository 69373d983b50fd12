//! Every flaw, in every back end that it can be built into, through a run without faults beside
//! the sound code: nothing shows. And every flaw that lives in a back end under the one fault
//! that it is made for: it shows, where the sound code holds.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use lockdrill::lock::flaws::{self, Flaw};
use lockdrill::lock::{Acquired, LockHandle, LockOptions, LostReason, Release, Renewal};
use std::time::Duration;
use support::place::Place;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

const MS: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(30);
/// Waited out, and long enough that a busy server answers within the half of it.
const SHORT: Duration = Duration::from_secs(1);

/// Where flaws live in scripts or above them.
const BACKENDS: [&str; 5] = [
    "memory",
    "redis",
    "redis-sentinel",
    "redis-cluster",
    "redlock",
];

/// Two workers take turns, wait for each other, renew and release; nothing is broken.
async fn fault_free(place: &Place) -> Vec<String> {
    let (a, b) = (place.manager().await, place.manager().await);
    let renewed = LockOptions::new(4_000 * MS, Some(200 * MS)).unwrap();
    let cancel = CancellationToken::new();
    let mut seen = Vec::new();
    // What an epoch puts in front of it is no matter, nor what a quorum skips: tokens are compared
    // with each other.
    let mut tokens = Vec::new();
    let mut count = |lock: &LockHandle| {
        let token = lock.fencing_token().unwrap();
        let lower = tokens.iter().filter(|known| **known < token).count();
        tokens.push(token);
        lower
    };
    for _ in 0..3 {
        let Ok(Acquired::Granted(lock)) = a.acquire(place.key(), &renewed).await else {
            panic!("a is not granted");
        };
        seen.push(format!("a {}", count(&lock)));
        let Ok(Acquired::Busy(waiter)) = b.acquire(place.key(), &renewed).await else {
            panic!("b is not refused");
        };
        seen.push(format!("renewed {:?}", lock.renew().await));
        sleep(500 * MS).await;
        seen.push(format!(
            "locked {} held {}",
            lock.is_locked(),
            lock.is_held()
        ));
        let waiting = tokio::spawn({
            let cancel = cancel.clone();
            async move { waiter.enter(LONG, &cancel).await }
        });
        seen.push(format!("released {:?}", lock.release().await));
        let next = waiting.await.unwrap().unwrap();
        seen.push(format!("b {}", count(&next)));
        seen.push(format!(
            "left {}",
            a.remaining(place.key()).await.unwrap().is_some()
        ));
        seen.push(format!("released {:?}", next.release().await));
        seen.push(format!("free {:?}", a.remaining(place.key()).await));
        seen.push(format!(
            "lost {:?} {:?}",
            lock.lost().reason(),
            next.lost().reason()
        ));
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_flaw_shows_in_a_run_without_faults() {
    for backend in BACKENDS {
        let place = std::sync::Arc::new(Place::of(backend).await);
        let sound = fault_free(&place).await;
        let flawed = flaws::ALL
            .iter()
            .filter(|flaw| flaw.backends().any(|name| name == backend));
        let mut runs = tokio::task::JoinSet::new();
        for flaw in flawed.copied() {
            let place = std::sync::Arc::clone(&place);
            runs.spawn(async move {
                let place = place.beside(Some(flaw)).await;
                (flaw, fault_free(&place).await)
            });
        }
        while let Some(run) = runs.join_next().await {
            let (flaw, seen) = run.unwrap();
            assert_eq!(seen, sound, "{} on {backend}", flaw.name());
        }
    }
}

#[tokio::test]
async fn a_flaw_is_refused_where_it_does_not_exist() {
    use lockdrill::lock::LockError;
    use lockdrill::lock::backends::{self, ConnectSpec};
    let kind = backends::named("memory").unwrap();
    let spec = ConnectSpec::new("x").flawed(Flaw::SetThenPexpire);
    let refused = (kind.connect)(spec).await.err();
    assert!(
        matches!(refused, Some(LockError::NoSuchFlaw { .. })),
        "{refused:?}"
    );
}

/// A late holder gives back what is no longer its own.
async fn late_release(place: &Place) -> Renewal {
    let (a, b) = (place.manager().await, place.manager().await);
    let late = place.granted(&a, SHORT).await;
    late.lost().await;
    let next = place.entered(&b, LONG).await;
    late.release().await;
    next.renew().await
}

#[tokio::test]
async fn blind_release_frees_the_successors_lock() {
    for backend in BACKENDS {
        let sound = Place::of(backend).await;
        assert_eq!(late_release(&sound).await, Renewal::Renewed);
        let flawed = sound.beside(Some(Flaw::BlindRelease)).await;
        assert_eq!(
            late_release(&flawed).await,
            Renewal::Lost(LostReason::Absent)
        );
    }
}

/// An operator gives the lock to somebody else while its holder still believes.
async fn renewal_of_a_foreign_lock(place: &Place) -> Renewal {
    let (a, b) = (place.manager().await, place.manager().await);
    let identity = place.identity();
    let lock = place.granted(&a.with_source(identity.clone()), LONG).await;
    assert_eq!(
        b.release(place.key(), &identity.last()).await,
        Release::Released
    );
    let _next = place.granted(&b, LONG).await;
    lock.renew().await
}

#[tokio::test]
async fn blind_renew_extends_the_successors_lock() {
    for backend in BACKENDS {
        let sound = Place::of(backend).await;
        let told = renewal_of_a_foreign_lock(&sound).await;
        assert_eq!(told, Renewal::Lost(LostReason::Foreign));
        let flawed = sound.beside(Some(Flaw::BlindRenew)).await;
        assert_eq!(renewal_of_a_foreign_lock(&flawed).await, Renewal::Renewed);
    }
}

/// The lock vanishes while its holder still believes.
async fn renewal_of_a_vanished_lock(place: &Place) -> (Renewal, bool) {
    let (a, b) = (place.manager().await, place.manager().await);
    let identity = place.identity();
    let lock = place.granted(&a.with_source(identity.clone()), LONG).await;
    assert_eq!(
        b.release(place.key(), &identity.last()).await,
        Release::Released
    );
    let renewal = lock.renew().await;
    (renewal, b.remaining(place.key()).await.unwrap().is_some())
}

#[tokio::test]
async fn renew_recreates_brings_a_vanished_lock_back() {
    for backend in BACKENDS {
        let sound = Place::of(backend).await;
        let told = renewal_of_a_vanished_lock(&sound).await;
        assert_eq!(told, (Renewal::Lost(LostReason::Absent), false));
        let flawed = sound.beside(Some(Flaw::RenewRecreates)).await;
        assert_eq!(
            renewal_of_a_vanished_lock(&flawed).await,
            (Renewal::Renewed, true)
        );
    }
}

/// What the two flaws of two commands leave between the two: seen in the server's own record.
async fn commands_of_one_acquire(flaw: Option<Flaw>) -> Vec<String> {
    let place = Place::flawed("redis", flaw).await;
    let locks = place.manager().await;
    let server = place.server.as_ref().unwrap();
    server.tell::<()>("CONFIG RESETSTAT");
    let _lock = place.granted(&locks, LONG).await;
    let stats: String = server.tell("INFO commandstats");
    let names = stats
        .lines()
        .filter_map(|line| line.strip_prefix("cmdstat_"));
    let names = names.filter_map(|line| line.split(':').next());
    names
        .filter(|name| ["evalsha", "pexpire", "incr"].contains(name))
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn set_then_pexpire_and_fence_after_set_need_a_second_command() {
    let place = Place::flawed("redis", Some(Flaw::SetThenPexpire)).await;
    let with_lease = place.granted(&place.manager().await, LONG).await;
    assert!(with_lease.is_locked());
    let lease: i64 = place.server.as_ref().unwrap().tell("PTTL test:{orders}");
    assert!(lease > 0, "the second command came");

    let mut sound = commands_of_one_acquire(None).await;
    sound.sort();
    assert_eq!(sound, ["evalsha", "incr"], "inside the script");
    let mut two = commands_of_one_acquire(Some(Flaw::SetThenPexpire)).await;
    two.sort();
    assert_eq!(two, ["evalsha", "incr", "pexpire"]);

    let place = Place::flawed("redis", Some(Flaw::FenceAfterSet)).await;
    let lock = place.granted(&place.manager().await, LONG).await;
    assert_eq!(lock.fencing_token().unwrap().0, 1);
    let value: String = place.server.as_ref().unwrap().tell("GET test:{orders}");
    assert!(
        value.ends_with(':'),
        "set before its token was minted: {value}"
    );
}

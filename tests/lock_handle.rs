//! The life of a handle: its identity, what it sends and what it never sends; on a clock that
//! stands still unless the test sleeps.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use lockdrill::lock::flaws::Flaw;
use lockdrill::lock::service::{ReleaseAnswer, RenewAnswer};
use lockdrill::lock::{
    Acquired, EnterError, LockError, LockManager, LockOptions, LostReason, ManagerOptions, Release,
    Renewal,
};
use std::sync::Arc;
use std::time::Duration;
use support::scripted::{Say, Scripted, busy, failed, grant, granted, now, unknown};
use support::scripted_lab::{DRIFT, LEASE, MS, RENEWED, lab, settle};
use tokio::time::{Instant, advance, sleep};
use tokio_util::sync::CancellationToken;

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_resend_keeps_identity_and_first_send() {
    let lab = lab(Scripted::acquiring([unknown(), grant(1, LEASE)]));
    let lock = lab.unknown().await;
    assert!(!lock.is_held() && !lock.is_locked() && lock.fencing_token().is_none());
    lock.enter(LEASE, &CancellationToken::new()).await.unwrap();
    assert!(lock.is_locked());
    assert_eq!(
        lock.deadline_ns(),
        ns(LEASE - DRIFT),
        "although half a second passed before the resend"
    );
    let calls = lab.service.calls.lock().unwrap().clone();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0].2, calls[1].2, "the same owner token");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_attempt_may_turn_out_busy_or_stay_unknown_or_run_out() {
    let cancel = CancellationToken::new();
    let turns_out_busy = lab(Scripted::acquiring([unknown(), busy(LEASE)]));
    let lock = turns_out_busy.unknown().await;
    assert_eq!(lock.enter(LEASE, &cancel).await, Err(EnterError::Busy));

    let stays = lab(Scripted::acquiring([unknown()]));
    let lock = stays.unknown().await;
    let entered = lock.enter(100 * MS, &cancel).await;
    assert!(
        matches!(entered, Err(EnterError::Unknown(_))),
        "{entered:?}"
    );
    let entered = lock.enter(10 * LEASE, &cancel).await;
    assert_eq!(entered, Err(EnterError::Expired));
}

#[tokio::test(start_paused = true)]
async fn a_release_ends_a_pending_enter_at_once() {
    let lab = lab(Scripted::acquiring([unknown()]));
    let lock = Arc::new(lab.unknown().await);
    let entering = tokio::spawn({
        let lock = Arc::clone(&lock);
        async move { lock.enter(LEASE, &CancellationToken::new()).await }
    });
    sleep(10 * MS).await;
    let began = Instant::now();
    lock.release().await;
    assert_eq!(entering.await.unwrap(), Err(EnterError::Released));
    assert_eq!(began.elapsed(), Duration::ZERO);
    sleep(LEASE).await;
    assert!(!lock.is_held());
}

#[tokio::test(start_paused = true)]
async fn a_grant_that_comes_after_its_own_lease_is_given_back() {
    let late = Say::After(40 * MS, Ok(granted(1, 10 * MS)));
    let lab = lab(Scripted::acquiring([late]));
    let options = LockOptions::new(10 * MS, None).unwrap();
    let acquired = lab.locks.acquire("k", &options).await;
    assert_eq!(acquired.unwrap_err(), LockError::TooLate);
    settle().await;
    assert_eq!(lab.service.heard(), ["acquire", "release"]);
    assert_eq!(lab.notes.count("lost"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_release_past_the_deadline_says_lost_first_and_is_still_sent() {
    let service = Scripted::acquiring([grant(1, LEASE)]);
    let lab = lab(service.releasing([now(ReleaseAnswer::NotOurs)]));
    let lock = lab.granted(None).await;
    // As after a stop: the clock has moved on and no task has run.
    advance(2 * LEASE).await;
    assert_eq!(lock.release().await, Release::AlreadyLost);
    assert!(lab.notes.first("lost") < lab.notes.first("sending Release"));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_release_may_be_tried_again_and_a_settled_one_is_not() {
    let service = Scripted::acquiring([grant(1, LEASE)]);
    let lab = lab(service.releasing([unknown(), now(ReleaseAnswer::Released)]));
    let lock = lab.granted(None).await;
    assert!(matches!(lock.release().await, Release::Unknown(_)));
    assert_eq!(lock.release().await, Release::Released);
    assert_eq!(lock.release().await, Release::AlreadyLost);
    drop(lock);
    settle().await;
    assert_eq!(lab.service.count("release"), 2);
}

#[tokio::test(start_paused = true)]
async fn whatever_may_be_ours_is_released_on_drop_and_nothing_else() {
    for (answer, owed) in [
        (unknown(), true),
        (grant(1, LEASE), true),
        (busy(LEASE), false),
        (failed(), false),
    ] {
        let lab = lab(Scripted::acquiring([answer]));
        drop(lab.acquire(None).await);
        settle().await;
        assert_eq!(lab.service.count("release"), usize::from(owed));
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_lost_by_proof_is_released_all_the_same() {
    let service = Scripted::acquiring([grant(1, LEASE)]);
    let lab = lab(service.renewing([now(RenewAnswer::Absent)]));
    let lock = lab.granted(None).await;
    assert_eq!(lock.renew().await, Renewal::Lost(LostReason::Absent));
    drop(lock);
    settle().await;
    assert_eq!(lab.service.count("release"), 1);
}

#[tokio::test(start_paused = true)]
async fn enter_on_a_held_lock_asks_nobody_and_on_an_ended_one_fails() {
    let cancel = CancellationToken::new();
    let lab = lab(Scripted::acquiring([grant(1, LEASE)]));
    let lock = lab.granted(None).await;
    assert_eq!(lock.enter(LEASE, &cancel).await, Ok(()));
    assert_eq!(lab.service.heard(), ["acquire"]);
    sleep(2 * LEASE).await;
    assert_eq!(lock.enter(LEASE, &cancel).await, Err(EnterError::Expired));
    lock.release().await;
    assert_eq!(lock.enter(LEASE, &cancel).await, Err(EnterError::Released));
    assert_eq!(lab.service.heard(), ["acquire", "release"]);
}

#[tokio::test(start_paused = true)]
async fn every_command_is_told_before_it_leaves_and_after_it_is_answered() {
    let lab = lab(Scripted::acquiring([grant(1, LEASE)]).renewing([now(RENEWED)]));
    let lock = lab.granted(None).await;
    lock.renew().await;
    lock.release().await;
    let told = lab.notes.all().join("\n").replace(&lock.grant().0, "g");
    assert_eq!(
        told,
        "sending Acquire g\n\
         answered Acquire g Granted { fencing: Some(FencingToken(1)), lease_ms: 1000 }\n\
         sending Renew g\n\
         answered Renew g Renewed\n\
         sending Release g\n\
         answered Release g Released"
    );
}

#[tokio::test(start_paused = true)]
async fn a_timeout_that_means_busy_leaves_the_lock_taken() {
    let lab = lab(Scripted::acquiring([unknown()]).flawed(Flaw::TimeoutMeansBusy));
    assert!(matches!(lab.acquire(None).await, Ok(Acquired::Busy(_))));
    settle().await;
    assert_eq!(lab.service.count("release"), 0);
}

#[test]
fn a_handle_may_be_dropped_outside_a_runtime_and_after_its_end() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = Arc::new(Scripted::acquiring([grant(1, 20 * LEASE)]));
    let locks = LockManager::new(service.clone(), ManagerOptions::new("test", ""));
    let options = LockOptions::new(20 * LEASE, None).unwrap();
    let acquire = || match runtime.block_on(locks.acquire("k", &options)) {
        Ok(Acquired::Granted(lock)) => lock,
        other => panic!("not granted: {other:?}"),
    };
    let (outside, after) = (acquire(), acquire());
    std::thread::spawn(move || drop(outside)).join().unwrap();
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while service.count("release") == 0 {
        assert!(
            std::time::Instant::now() < deadline,
            "the release was not sent"
        );
        std::thread::sleep(MS);
    }
    drop(runtime);
    drop(after);
}

#[tokio::test(start_paused = true)]
async fn a_raw_owner_token_is_never_shown() {
    let lab = lab(Scripted::acquiring([grant(1, LEASE)]));
    let lock = lab.granted(None).await;
    let shown = format!("{lock:?} {:?} {:?}", lab.locks, lab.notes.all());
    assert!(shown.contains(&lock.owner().0));
    assert_eq!(lock.owner().0.len(), 12, "a digest, not 128 bits");
    let longest = shown
        .split(|c: char| !c.is_ascii_hexdigit())
        .map(str::len)
        .max();
    assert!(longest < Some(32), "{shown}");
}

//! When a handle believes, when it renews, and when it says Lost; on a clock that stands still
//! unless the test sleeps.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use lockdrill::lock::flaws::Flaw;
use lockdrill::lock::service::RenewAnswer;
use lockdrill::lock::{LostReason, Release, Renewal};
use std::future::IntoFuture;
use std::time::Duration;
use support::scripted::{Say, Scripted, failed, grant, granted, now, unknown};
use support::scripted_lab::{DRIFT, LEASE, MS, RENEWED, lab, settle};
use tokio::time::{Instant, advance, sleep, timeout};

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_deadline_counts_from_before_the_send_not_from_the_reply() {
    let slow = || Say::After(400 * MS, Ok(granted(1, LEASE)));
    let sound = lab(Scripted::acquiring([slow()]));
    let lock = sound.granted(None).await;
    assert_eq!(lock.deadline_ns(), ns(LEASE - DRIFT));
    assert_eq!(lock.stop_by(), ns(LEASE - DRIFT - 100 * MS));

    let flawed = lab(Scripted::acquiring([slow()]).flawed(Flaw::DeadlineFromReply));
    let lock = flawed.granted(None).await;
    assert_eq!(lock.deadline_ns(), ns(LEASE - DRIFT + 400 * MS));
}

#[tokio::test(start_paused = true)]
async fn lost_is_told_once_at_the_deadline_although_the_renewal_hangs() {
    let lab = lab(Scripted::acquiring([grant(1, LEASE)]).renewing([Say::Never]));
    let lock = lab.granted(Some(300 * MS)).await;
    let began = Instant::now();
    let reason = timeout(2 * LEASE, lock.lost().into_future()).await.unwrap();
    assert_eq!(reason, LostReason::Deadline);
    let took = began.elapsed();
    assert!(
        (LEASE - DRIFT..=LEASE - DRIFT + 2 * MS).contains(&took),
        "{took:?}"
    );
    assert!(lock.is_held() && lock.is_expired() && !lock.is_locked());
    assert_eq!(lock.renew().await, Renewal::Lost(LostReason::Deadline));
    assert_eq!(
        lock.release().await,
        Release::Released,
        "tried all the same"
    );
    assert_eq!(lab.notes.count("lost"), 1);
}

#[tokio::test(start_paused = true)]
async fn renewals_come_within_the_interval_with_jitter_and_keep_the_lock() {
    let lab = lab(Scripted::acquiring([grant(1, LEASE)]).renewing([now(RENEWED)]));
    let lock = lab.granted(Some(300 * MS)).await;
    sleep(10 * LEASE).await;
    assert!(lock.is_locked());
    let calls = lab.service.calls.lock().unwrap().clone();
    let gaps: Vec<_> = calls.windows(2).map(|two| two[1].0 - two[0].0).collect();
    let bounds = 270 * MS..=304 * MS;
    assert!(gaps.iter().all(|gap| bounds.contains(gap)), "{gaps:?}");
    assert!(
        gaps.iter().any(|gap| *gap != gaps[0]),
        "no jitter: {gaps:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_renewal_without_an_answer_is_not_lost_and_is_tried_again_within_the_lease() {
    for trouble in [unknown as fn() -> Say<RenewAnswer>, failed] {
        let answers = [trouble(), trouble(), now(RENEWED)];
        let lab = lab(Scripted::acquiring([grant(1, LEASE)]).renewing(answers));
        let lock = lab.granted(Some(200 * MS)).await;
        sleep(5 * LEASE).await;
        assert!(lock.is_locked());
        assert_eq!(lab.notes.count("lost"), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn renewals_that_never_succeed_end_in_lost_at_the_deadline() {
    let lab = lab(Scripted::acquiring([grant(1, LEASE)]).renewing([failed()]));
    let lock = lab.granted(Some(300 * MS)).await;
    let began = Instant::now();
    assert_eq!(lock.lost().await, LostReason::Deadline);
    assert!(began.elapsed() <= LEASE - DRIFT + 2 * MS);
    let tried = lab.service.count("renew");
    assert!(tried > 3, "tried {tried} times only");
    sleep(5 * LEASE).await;
    assert_eq!(lab.service.count("renew"), tried, "never after the loss");
}

#[tokio::test(start_paused = true)]
async fn proof_of_loss_is_told_at_once_with_its_reason() {
    for (answer, reason) in [
        (RenewAnswer::Absent, LostReason::Absent),
        (RenewAnswer::Foreign, LostReason::Foreign),
    ] {
        let lab = lab(Scripted::acquiring([grant(1, LEASE)]).renewing([now(answer)]));
        let lock = lab.granted(Some(300 * MS)).await;
        lock.lost().token().cancelled().await;
        assert_eq!(lock.lost().reason(), Some(reason));
        assert!(!lock.is_held() && !lock.is_locked());
        sleep(3 * LEASE).await;
        assert_eq!(lab.service.count("renew"), 1);
        assert_eq!(lab.notes.count("lost"), 1);
        assert_eq!(lock.renew().await, Renewal::Lost(reason));
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_yes_to_a_renewal_brings_nothing_back() {
    let late = Say::After(300 * MS, Ok(RENEWED));
    let lab = lab(Scripted::acquiring([grant(1, LEASE)]).renewing([late]));
    let lock = lab.granted(None).await;
    sleep(LEASE - DRIFT - 100 * MS).await;
    assert_eq!(lock.renew().await, Renewal::Lost(LostReason::Deadline));
    assert!(!lock.is_locked());
    assert_eq!(lab.notes.count("lost"), 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_renews_after_release_or_drop() {
    for dropped in [false, true] {
        let lab = lab(Scripted::acquiring([grant(1, LEASE)]).renewing([now(RENEWED)]));
        let lock = lab.granted(Some(100 * MS)).await;
        sleep(250 * MS).await;
        if dropped {
            drop(lock);
        } else {
            assert_eq!(lock.release().await, Release::Released);
            assert_eq!(lock.renew().await, Renewal::Lost(LostReason::Released));
            assert!(!lock.is_held());
        }
        sleep(5 * LEASE).await;
        let heard = lab.service.heard();
        assert_eq!(heard.last(), Some(&"release"), "{heard:?}");
        assert_eq!(lab.service.count("release"), 1);
        assert_eq!(lab.notes.count("lost"), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_release_during_a_hanging_renewal_ends_the_renewal() {
    let lab = lab(Scripted::acquiring([grant(1, LEASE)]).renewing([Say::Never]));
    let lock = lab.granted(Some(100 * MS)).await;
    sleep(150 * MS).await;
    assert_eq!(lock.release().await, Release::Released);
    sleep(2 * LEASE).await;
    assert_eq!(lab.service.heard(), ["acquire", "renew", "release"]);
    assert_eq!(
        lab.notes.count("lost"),
        0,
        "what was given back is not lost"
    );
}

#[tokio::test(start_paused = true)]
async fn after_a_long_stop_nothing_is_sent_and_the_first_question_says_lost() {
    let lab = lab(Scripted::acquiring([grant(1, LEASE)]).renewing([now(RENEWED)]));
    let lock = lab.granted(Some(300 * MS)).await;
    advance(2 * LEASE).await;
    assert!(!lock.is_locked());
    assert_eq!(lab.notes.count("lost"), 1);
    settle().await;
    assert_eq!(lab.service.count("renew"), 0);
}

#[tokio::test(start_paused = true)]
async fn who_ignores_a_failed_renewal_believes_for_ever() {
    let service = Scripted::acquiring([grant(1, LEASE)]);
    let service = service.renewing([now(RenewAnswer::Foreign)]);
    let lab = lab(service.flawed(Flaw::IgnoresRenewalFailure));
    let lock = lab.granted(Some(300 * MS)).await;
    sleep(5 * LEASE).await;
    assert!(lock.is_locked());
}

#[tokio::test(start_paused = true)]
async fn who_gives_a_renewal_no_time_out_is_told_of_the_loss_when_it_is_answered() {
    for flawed in [false, true] {
        let service = Scripted::acquiring([grant(1, LEASE)]);
        let service = service.renewing([Say::After(5 * LEASE, Ok(RenewAnswer::Absent))]);
        let lab = lab(match flawed {
            true => service.flawed(Flaw::UnboundedRenewal),
            false => service,
        });
        let lock = lab.granted(Some(300 * MS)).await;
        sleep(4 * LEASE).await;
        assert_eq!(lock.is_locked(), flawed);
        sleep(2 * LEASE).await;
        assert!(!lock.is_locked());
        assert_eq!(lab.notes.count("lost"), 1);
    }
}

//! The contract of a protected store as a manual, run over every kind: what each fence does, where
//! a writer may be stopped, and what the log tells.
#![allow(clippy::unwrap_used)]

use crate::support::stores::{NO_STOP, StorePlace};
use lockdrill::clock::monotonic_ns;
use lockdrill::ids::{FencingToken, GrantId};
use lockdrill::store::{self, Attempt, AttemptKind, Fence, StoreAnswer};
use std::sync::atomic::{AtomicBool, Ordering};

macro_rules! over_every_store {
    ($($contract:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $contract() {
                super::$contract(super::StorePlace::of("sqlite")).await;
            })+
        }

        mod redis {
            $(#[tokio::test]
            async fn $contract() {
                super::$contract(super::StorePlace::of("redis")).await;
            })+
        }

        mod postgres {
            $(#[tokio::test]
            async fn $contract() {
                super::$contract(super::StorePlace::of("postgres")).await;
            })+
        }

        mod http {
            $(#[tokio::test]
            async fn $contract() {
                super::$contract(super::StorePlace::of("http")).await;
            })+
        }

        #[test]
        fn every_store_is_covered() {
            let covered = ["sqlite", "redis", "postgres", "http"];
            for kind in store::ALL {
                assert!(covered.contains(&kind.name), "no contract tests for {}", kind.name);
            }
        }
    };
}

over_every_store!(
    atomic_refuses_a_writer_who_was_overtaken_at_its_stop_point,
    racy_compares_before_its_stop_point_and_takes_the_late_write,
    off_takes_every_write,
    racy_still_refuses_what_was_stale_when_it_looked,
    a_seal_refuses_the_older_holder_before_the_first_write,
    a_seal_changes_the_mark_and_no_value,
    the_log_tells_lab_time_of_the_writing_process,
    no_fencing_token_is_refused_where_one_is_compared,
    once_takes_each_fencing_token_one_time,
    an_equal_fencing_token_of_another_grant_is_refused,
    large_fencing_tokens_are_told_apart,
    resources_do_not_meet_but_share_the_log,
    opening_never_creates_and_creating_never_opens,
);

fn attempt(write: &str, fencing: u64) -> Attempt {
    let worker = write.split('.').next().unwrap();
    Attempt {
        job: None,
        if_pending: false,
        resource: "account".to_owned(),
        write: write.to_owned(),
        based_on: None,
        grant: Some(GrantId(format!("{worker}.1"))),
        fencing: Some(FencingToken(fencing)),
    }
}

/// `b` writes with a newer fencing token while `a` stands at its stop point.
async fn late_write(place: StorePlace, fence: Fence) -> (StoreAnswer, Vec<(String, bool)>) {
    let spec = place.spec(fence);
    let mut a = place.create(&spec).await;
    let overtake = || {
        let overtake = || {
            let runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = { runtime }.enable_all().build().unwrap();
            runtime.block_on(async {
                let mut b = place.open(&spec).await;
                b.write(&attempt("b.write.1", 2), NO_STOP).await
            })
        };
        let answer = std::thread::scope(|scope| scope.spawn(overtake).join().unwrap());
        assert_eq!(answer, StoreAnswer::Accepted);
    };
    let answer = a.write(&attempt("a.write.1", 1), &overtake).await;
    let log = a.log().await.unwrap();
    let order = log
        .into_iter()
        .map(|line| (line.attempt.write, line.accepted));
    (answer, order.collect())
}

fn order(a_accepted: bool) -> Vec<(String, bool)> {
    vec![
        ("b.write.1".to_owned(), true),
        ("a.write.1".to_owned(), a_accepted),
    ]
}

async fn atomic_refuses_a_writer_who_was_overtaken_at_its_stop_point(place: StorePlace) {
    let (answer, log) = late_write(place, Fence::Atomic).await;
    let highest = Some(FencingToken(2));
    assert_eq!(answer, StoreAnswer::Rejected { highest });
    assert_eq!(log, order(false));
}

async fn racy_compares_before_its_stop_point_and_takes_the_late_write(place: StorePlace) {
    let (answer, log) = late_write(place, Fence::Racy).await;
    assert_eq!(answer, StoreAnswer::Accepted);
    assert_eq!(log, order(true));
}

async fn off_takes_every_write(place: StorePlace) {
    let (answer, log) = late_write(place, Fence::Off).await;
    assert_eq!(answer, StoreAnswer::Accepted);
    assert_eq!(log, order(true));
}

async fn racy_still_refuses_what_was_stale_when_it_looked(place: StorePlace) {
    let mut store = place.create(&place.spec(Fence::Racy)).await;
    store.write(&attempt("b.write.1", 2), NO_STOP).await;
    let stopped = AtomicBool::new(false);
    let armed = || stopped.store(true, Ordering::SeqCst);
    let answer = store.write(&attempt("a.write.1", 1), &armed).await;
    let highest = Some(FencingToken(2));
    assert_eq!(answer, StoreAnswer::Rejected { highest });
    assert!(stopped.into_inner(), "the stop point is there all the same");
    assert_eq!(store.log().await.unwrap().len(), 2, "the refusal is logged");
}

async fn a_seal_refuses_the_older_holder_before_the_first_write(place: StorePlace) {
    let mut store = place.create(&place.spec(Fence::Atomic)).await;
    store.write(&attempt("a.write.1", 1), NO_STOP).await;
    assert_eq!(
        store.seal(&attempt("b.seal.1", 2)).await,
        StoreAnswer::Accepted
    );

    let late = store.write(&attempt("a.write.2", 1), NO_STOP).await;
    let highest = Some(FencingToken(2));
    assert_eq!(late, StoreAnswer::Rejected { highest });
    let own = store.write(&attempt("b.write.1", 2), NO_STOP).await;
    assert_eq!(
        own,
        StoreAnswer::Accepted,
        "its own first write is not late"
    );

    let log = store.log().await.unwrap();
    let seals: Vec<bool> = log
        .iter()
        .map(|line| line.kind == AttemptKind::Seal)
        .collect();
    assert_eq!(seals, [false, true, false, false]);
}

async fn a_seal_changes_the_mark_and_no_value(place: StorePlace) {
    let mut store = place.create(&place.spec(Fence::Atomic)).await;
    store.write(&attempt("a.write.1", 1), NO_STOP).await;
    store.seal(&attempt("b.seal.1", 2)).await;
    let standing = store.read("account").await.unwrap();
    assert_eq!(standing.write.as_deref(), Some("a.write.1"));
    assert_eq!(standing.highest, Some(FencingToken(2)));
}

async fn the_log_tells_lab_time_of_the_writing_process(place: StorePlace) {
    let mut spec = place.spec(Fence::Atomic);
    spec.lab_zero_ns = monotonic_ns();
    let mut store = place.create(&spec).await;
    store.write(&attempt("a.write.1", 1), NO_STOP).await;
    let upper = monotonic_ns() - spec.lab_zero_ns;
    store.write(&attempt("a.write.2", 1), NO_STOP).await;
    let log = store.log().await.unwrap();
    assert!(log[0].applied_ns <= upper && upper <= log[1].applied_ns);
}

async fn no_fencing_token_is_refused_where_one_is_compared(place: StorePlace) {
    let mut store = place.create(&place.spec(Fence::Atomic)).await;
    let bare = Attempt {
        fencing: None,
        ..attempt("a.write.1", 0)
    };
    let answer = store.write(&bare, NO_STOP).await;
    assert_eq!(answer, StoreAnswer::Rejected { highest: None });
    assert_eq!(store.log().await.unwrap()[0].attempt, bare, "and is logged");
}

async fn once_takes_each_fencing_token_one_time(place: StorePlace) {
    let mut spec = place.spec(Fence::Atomic);
    spec.once = true;
    let mut store = place.create(&spec).await;
    let first = store.write(&attempt("a.write.1", 1), NO_STOP).await;
    assert_eq!(first, StoreAnswer::Accepted);
    let again = store.write(&attempt("a.write.2", 1), NO_STOP).await;
    let highest = Some(FencingToken(1));
    assert_eq!(again, StoreAnswer::Rejected { highest });
}

async fn an_equal_fencing_token_of_another_grant_is_refused(place: StorePlace) {
    let mut store = place.create(&place.spec(Fence::Atomic)).await;
    store.write(&attempt("a.write.1", 1), NO_STOP).await;
    let other = store.write(&attempt("b.write.1", 1), NO_STOP).await;
    let highest = Some(FencingToken(1));
    assert_eq!(other, StoreAnswer::Rejected { highest });
}

/// A store that compares as floating point takes the two for equal.
async fn large_fencing_tokens_are_told_apart(place: StorePlace) {
    let (old, new) = (i64::MAX as u64 - 1, i64::MAX as u64);
    let mut store = place.create(&place.spec(Fence::Atomic)).await;
    store.write(&attempt("a.write.1", new), NO_STOP).await;
    let late = store.write(&attempt("b.write.1", old), NO_STOP).await;
    let highest = Some(FencingToken(new));
    assert_eq!(late, StoreAnswer::Rejected { highest });
    let log = store.log().await.unwrap();
    assert_eq!(log[1].attempt.fencing, Some(FencingToken(old)));
}

async fn resources_do_not_meet_but_share_the_log(place: StorePlace) {
    let mut store = place.create(&place.spec(Fence::Atomic)).await;
    let elsewhere = Attempt {
        job: None,
        if_pending: false,
        resource: "other account".to_owned(),
        ..attempt("b.write.1", 1)
    };
    store.write(&attempt("a.write.1", 2), NO_STOP).await;
    assert_eq!(
        store.write(&elsewhere, NO_STOP).await,
        StoreAnswer::Accepted
    );
    let untouched = store.read("account").await.unwrap();
    assert_eq!(untouched.write.as_deref(), Some("a.write.1"));
    let log = store.log().await.unwrap();
    assert_eq!(log.iter().map(|line| line.n).collect::<Vec<_>>(), [1, 2]);
}

async fn opening_never_creates_and_creating_never_opens(place: StorePlace) {
    let spec = place.spec(Fence::Atomic);
    place.no_open(&spec).await;
    place.create(&spec).await;
    place.no_create(&spec).await;
    let mut store = place.open(&spec).await;
    assert_eq!(store.log().await.unwrap(), []);
}

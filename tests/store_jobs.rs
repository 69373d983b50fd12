//! A job that is delivered twice, over every kind of store.
#![allow(clippy::unwrap_used)]

use crate::support::stores::{NO_STOP, StorePlace};

use lockdrill::ids::{FencingToken, GrantId};
use lockdrill::store::{self, Attempt, Condition, Fence, ProtectedStore, StoreAnswer};

fn attempt(write: &str, fencing: u64, job: Option<&str>) -> Attempt {
    let worker = write.split('.').next().unwrap();
    Attempt {
        resource: "account".to_owned(),
        write: write.to_owned(),
        based_on: None,
        grant: Some(GrantId(format!("{worker}.1"))),
        fencing: Some(FencingToken(fencing)),
        job: job.map(str::to_owned),
        if_pending: false,
    }
}

async fn store(place: &StorePlace, fence: Fence, idempotent: bool) -> Box<dyn ProtectedStore> {
    let mut spec = place.spec(fence);
    spec.idempotent = idempotent;
    place.create(&spec).await
}

/// What the log says of each attempt: accepted, and done before.
async fn logged(store: &mut Box<dyn ProtectedStore>) -> Vec<(String, bool, bool)> {
    let log = store.log().await.unwrap().into_iter();
    log.map(|line| (line.attempt.write, line.accepted, line.done_before))
        .collect()
}

fn each() -> impl Iterator<Item = StorePlace> {
    store::ALL.iter().map(|kind| StorePlace::of(kind.name))
}

#[tokio::test]
async fn an_idempotent_store_does_a_job_once_and_answers_as_before() {
    for place in each() {
        let mut store = store(&place, Fence::Atomic, true).await;
        let first = store
            .write(&attempt("a.write.1", 1, Some("j")), NO_STOP)
            .await;
        assert_eq!(first, StoreAnswer::Accepted);
        let other = store
            .write(&attempt("b.write.1", 2, Some("k")), NO_STOP)
            .await;
        assert_eq!(other, StoreAnswer::Accepted);
        // By the same token, and by an older one: it is done, and nothing changes.
        for again in [
            attempt("b.write.2", 2, Some("j")),
            attempt("a.write.2", 1, Some("j")),
        ] {
            assert_eq!(store.write(&again, NO_STOP).await, StoreAnswer::DoneBefore);
        }
        let standing = store.read("account").await.unwrap();
        assert_eq!(standing.write.as_deref(), Some("b.write.1"));
        let jobs: Vec<_> = standing.jobs.into_iter().collect();
        assert_eq!(jobs, [("j".to_owned(), 1), ("k".to_owned(), 1)]);
        let said = |write: &str, done| (write.to_owned(), true, done);
        let expected = [
            said("a.write.1", false),
            said("b.write.1", false),
            said("b.write.2", true),
            said("a.write.2", true),
        ];
        assert_eq!(logged(&mut store).await, expected);
    }
}

#[tokio::test]
async fn a_store_that_is_not_idempotent_counts_each_delivery() {
    for place in each() {
        let mut store = store(&place, Fence::Off, false).await;
        for write in ["a.write.1", "a.write.2"] {
            let answer = store.write(&attempt(write, 1, Some("j")), NO_STOP).await;
            assert_eq!(answer, StoreAnswer::Accepted);
        }
        let standing = store.read("account").await.unwrap();
        assert_eq!(standing.jobs["j"], 2);
    }
}

#[tokio::test]
async fn a_refused_job_is_not_done_and_may_come_again() {
    for place in each() {
        let mut store = store(&place, Fence::Atomic, true).await;
        store.write(&attempt("b.write.1", 2, None), NO_STOP).await;
        let late = store
            .write(&attempt("a.write.1", 1, Some("j")), NO_STOP)
            .await;
        assert!(matches!(late, StoreAnswer::Rejected { .. }), "{late:?}");
        assert!(store.read("account").await.unwrap().jobs.is_empty());
        let again = store
            .write(&attempt("b.write.2", 2, Some("j")), NO_STOP)
            .await;
        assert_eq!(again, StoreAnswer::Accepted);
    }
}

/// A write of the job that is made only if it is pending.
fn if_pending(write: &str, fencing: u64) -> Attempt {
    Attempt {
        if_pending: true,
        ..attempt(write, fencing, Some("j"))
    }
}

/// `b` does the job while `a` stands at its stop point; then one comes who has no lock. Who changed
/// something, in the store's order, and how often the job is done.
async fn overtaken(place: &StorePlace, condition: Condition) -> (Vec<String>, u64) {
    let mut spec = place.spec(Fence::Off);
    spec.condition = condition;
    let mut store = place.create(&spec).await;
    let overtake = || {
        let overtake = || {
            let runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = { runtime }.enable_all().build().unwrap();
            runtime.block_on(async {
                let mut other = place.open(&spec).await;
                other.write(&if_pending("b.write.1", 2), NO_STOP).await
            })
        };
        let answer = std::thread::scope(|scope| scope.spawn(overtake).join().unwrap());
        assert_eq!(answer, StoreAnswer::Accepted);
    };
    store.write(&if_pending("a.write.1", 1), &overtake).await;
    let lockless = Attempt {
        grant: None,
        fencing: None,
        ..if_pending("c.write.1", 0)
    };
    store.write(&lockless, NO_STOP).await;
    let log = store.log().await.unwrap();
    assert!(log.iter().all(|line| line.attempt.if_pending));
    let changed = log.into_iter().filter(|line| !line.done_before);
    let changed = changed.map(|line| line.attempt.write).collect();
    (changed, store.read("account").await.unwrap().jobs["j"])
}

#[tokio::test]
async fn a_job_is_done_once_by_whoever_finds_it_pending_as_it_writes() {
    for place in each() {
        let told = overtaken(&place, Condition::Atomic).await;
        assert_eq!(told, (vec!["b.write.1".to_owned()], 1));
    }
    for place in each() {
        // What it saw was true when it looked.
        let (changed, times) = overtaken(&place, Condition::Racy).await;
        assert_eq!(
            (changed, times),
            (vec!["b.write.1".into(), "a.write.1".into()], 2)
        );
    }
    for place in each() {
        let (changed, times) = overtaken(&place, Condition::Off).await;
        assert_eq!((changed.len(), times), (3, 3));
    }
}

//! Reads under a fencing token, the outbox and the queue beside the store, over every kind of store.
#![allow(clippy::unwrap_used)]

use crate::support::stores::{NO_STOP, StorePlace};

use lockdrill::ids::{FencingToken, GrantId};
use lockdrill::store::queue::{Queue, QueueSpec};
use lockdrill::store::{
    self, Attempt, AttemptKind, Fence, ProtectedStore, ReadAnswer, Reads, StoreAnswer,
};

fn attempt(id: &str, fencing: u64, job: Option<&str>) -> Attempt {
    let worker = id.split('.').next().unwrap();
    Attempt {
        resource: "account".to_owned(),
        write: id.to_owned(),
        based_on: None,
        grant: Some(GrantId(format!("{worker}.1"))),
        fencing: Some(FencingToken(fencing)),
        job: job.map(str::to_owned),
        if_pending: false,
    }
}

fn each() -> impl Iterator<Item = StorePlace> {
    store::ALL.iter().map(|kind| StorePlace::of(kind.name))
}

async fn store(place: &StorePlace, reads: Reads, outbox: bool) -> Box<dyn ProtectedStore> {
    let mut spec = place.spec(Fence::Atomic);
    spec.reads = reads;
    spec.outbox = outbox;
    place.create(&spec).await
}

#[tokio::test]
async fn an_open_read_is_answered_whoever_asks_and_changes_nothing() {
    for place in each() {
        let mut store = store(&place, Reads::Open, false).await;
        let nothing = store.show(&attempt("b.read.1", 2, None), NO_STOP).await;
        assert_eq!(nothing, ReadAnswer::Shown(None));
        // The newer reader has raised no mark.
        let written = store.write(&attempt("a.write.1", 1, None), NO_STOP).await;
        assert_eq!(written, StoreAnswer::Accepted);
        let mut nobody = attempt("c.read.1", 0, None);
        (nobody.grant, nobody.fencing) = (None, None);
        let shown = ReadAnswer::Shown(Some("a.write.1".to_owned()));
        assert_eq!(store.show(&nobody, NO_STOP).await, shown);
        let log = store.log().await.unwrap();
        let told: Vec<_> = log
            .iter()
            .map(|line| (line.n, line.kind, line.attempt.based_on.as_deref()))
            .collect();
        let expected = [
            (1, AttemptKind::Read, None),
            (2, AttemptKind::Write, None),
            (3, AttemptKind::Read, Some("a.write.1")),
        ];
        assert_eq!(told, expected);
    }
}

#[tokio::test]
async fn a_fenced_read_is_compared_like_a_write_and_raises_the_mark() {
    for place in each() {
        let mut store = store(&place, Reads::Fenced, false).await;
        let write = store.write(&attempt("a.write.1", 1, None), NO_STOP).await;
        assert_eq!(write, StoreAnswer::Accepted);
        let shown = ReadAnswer::Shown(Some("a.write.1".to_owned()));
        assert_eq!(
            store.show(&attempt("a.read.1", 1, None), NO_STOP).await,
            shown
        );
        assert_eq!(
            store.show(&attempt("b.read.1", 2, None), NO_STOP).await,
            shown
        );
        // b has only read, and a is out.
        let highest = Some(FencingToken(2));
        let late = store.show(&attempt("a.read.2", 1, None), NO_STOP).await;
        assert_eq!(late, ReadAnswer::Rejected { highest });
        let late = store.write(&attempt("a.write.2", 1, None), NO_STOP).await;
        assert_eq!(late, StoreAnswer::Rejected { highest });
        let equal = store.show(&attempt("c.read.1", 2, None), NO_STOP).await;
        assert_eq!(equal, ReadAnswer::Rejected { highest });
        let mut nobody = attempt("c.read.2", 0, None);
        nobody.fencing = None;
        let without = store.show(&nobody, NO_STOP).await;
        assert_eq!(without, ReadAnswer::Rejected { highest });
        assert_eq!(
            store.write(&attempt("b.write.1", 2, None), NO_STOP).await,
            StoreAnswer::Accepted
        );
        let log = store.log().await.unwrap();
        let refused = log.iter().filter(|line| !line.accepted);
        assert!(refused.clone().all(|line| line.attempt.based_on.is_none()));
        assert_eq!(refused.count(), 4, "refused reads are logged too");
    }
}

#[tokio::test]
async fn an_accepted_job_is_in_the_outbox_until_it_is_taken_out() {
    for place in each() {
        let mut store = store(&place, Reads::Open, true).await;
        for (id, fencing, job) in [
            ("b.write.1", 2, Some("one")),
            ("a.write.1", 1, Some("late")),
            ("b.write.2", 2, None),
            ("b.write.3", 2, Some("two")),
        ] {
            store.write(&attempt(id, fencing, job), NO_STOP).await;
        }
        // Not the job of a refused write, nor anything of one without a job.
        assert_eq!(store.outbox("account").await.unwrap(), ["one", "two"]);
        assert_eq!(store.outbox("other").await.unwrap(), [""; 0]);
        let one = ["one".to_owned(), "unknown".to_owned()];
        store.published("account", &one).await.unwrap();
        assert_eq!(store.outbox("account").await.unwrap(), ["two"]);
    }
}

#[tokio::test]
async fn without_an_outbox_a_job_is_nowhere_but_in_the_store() {
    for place in each() {
        let mut store = store(&place, Reads::Open, false).await;
        store
            .write(&attempt("a.write.1", 1, Some("one")), NO_STOP)
            .await;
        assert_eq!(store.outbox("account").await.unwrap(), [""; 0]);
    }
}

#[test]
fn a_queue_takes_a_message_it_knows_once_or_each_time_as_it_was_told() {
    for idempotent in [true, false] {
        let folder = tempfile::TempDir::new().unwrap();
        let spec = QueueSpec {
            location: folder.path().join("queue").display().to_string(),
            idempotent,
            lab_zero_ns: 0,
        };
        assert!(Queue::open(&spec).is_err(), "nobody has created it");
        Queue::create(&spec).unwrap();
        assert!(Queue::create(&spec).is_err(), "it belongs to one arm");
        let mut queue = Queue::open(&spec).unwrap();
        let first = queue.publish("a.publish.1", "one", NO_STOP);
        assert_eq!(first, StoreAnswer::Accepted);
        let again = queue.publish("b.relay.1", "one", NO_STOP);
        let known = [StoreAnswer::Accepted, StoreAnswer::DoneBefore];
        assert_eq!(again, known[usize::from(idempotent)]);
        let log = Queue::open(&spec).unwrap().log().unwrap();
        let told: Vec<_> = log
            .iter()
            .map(|line| (line.n, line.publish.as_str(), line.known_before))
            .collect();
        let expected = [(1, "a.publish.1", false), (2, "b.relay.1", idempotent)];
        assert_eq!(told, expected);
    }
}

//! The SQLite store as a manual: what each fence does, where a writer may be stopped, and what
//! is answered when something is in the way.
#![allow(clippy::unwrap_used)]

use lockdrill::clock::monotonic_ns;
use lockdrill::ids::{FencingToken, GrantId};
use lockdrill::store::{self, Attempt, Fence, ProtectedStore, StoreAnswer, StoreSpec};
use rusqlite::Connection;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

const NO_STOP: &(dyn Fn() + Send + Sync) = &|| ();

fn spec(dir: &Path, fence: Fence) -> StoreSpec {
    StoreSpec {
        kind: "sqlite".to_owned(),
        fence,
        once: false,
        location: dir.join("store.db").display().to_string(),
        lab_zero_ns: 0,
    }
}

fn create(spec: &StoreSpec) -> Box<dyn ProtectedStore> {
    (store::find("sqlite").unwrap().create)(spec).unwrap()
}

fn open(spec: &StoreSpec) -> Box<dyn ProtectedStore> {
    (store::find("sqlite").unwrap().open)(spec).unwrap()
}

fn attempt(write: &str, fencing: u64) -> Attempt {
    let worker = write.split('.').next().unwrap();
    Attempt {
        resource: "account".to_owned(),
        write: write.to_owned(),
        based_on: None,
        grant: Some(GrantId(format!("{worker}.1"))),
        fencing: Some(FencingToken(fencing)),
    }
}

/// `b` writes with a newer fencing token while `a` stands at its stop point.
async fn late_write(fence: Fence) -> (StoreAnswer, Vec<(String, bool)>) {
    let dir = TempDir::new().unwrap();
    let spec = spec(dir.path(), fence);
    let mut a = create(&spec);
    let overtake = || {
        let spec = spec.clone();
        let overtaker = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap();
            let mut b = open(&spec);
            runtime.block_on(b.write(&attempt("b.write.1", 2), NO_STOP))
        });
        assert_eq!(overtaker.join().unwrap(), StoreAnswer::Accepted);
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

#[tokio::test]
async fn atomic_refuses_a_writer_who_was_overtaken_at_its_stop_point() {
    let (answer, log) = late_write(Fence::Atomic).await;
    let highest = Some(FencingToken(2));
    assert_eq!(answer, StoreAnswer::Rejected { highest });
    assert_eq!(log, order(false));
}

#[tokio::test]
async fn racy_compares_before_its_stop_point_and_takes_the_late_write() {
    let (answer, log) = late_write(Fence::Racy).await;
    assert_eq!(answer, StoreAnswer::Accepted);
    assert_eq!(log, order(true));
}

#[tokio::test]
async fn off_takes_every_write() {
    let (answer, log) = late_write(Fence::Off).await;
    assert_eq!(answer, StoreAnswer::Accepted);
    assert_eq!(log, order(true));
}

#[tokio::test]
async fn racy_still_refuses_what_was_stale_when_it_looked() {
    let dir = TempDir::new().unwrap();
    let mut store = create(&spec(dir.path(), Fence::Racy));
    store.write(&attempt("b.write.1", 2), NO_STOP).await;
    let stopped = AtomicBool::new(false);
    let armed = || stopped.store(true, Ordering::SeqCst);
    let answer = store.write(&attempt("a.write.1", 1), &armed).await;
    let highest = Some(FencingToken(2));
    assert_eq!(answer, StoreAnswer::Rejected { highest });
    assert!(stopped.into_inner(), "the stop point is there all the same");
    assert_eq!(store.log().await.unwrap().len(), 2, "the refusal is logged");
}

#[tokio::test]
async fn a_seal_refuses_the_older_holder_before_the_first_write() {
    let dir = TempDir::new().unwrap();
    let mut store = create(&spec(dir.path(), Fence::Atomic));
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
    let seals: Vec<bool> = log.iter().map(|line| line.seal).collect();
    assert_eq!(seals, [false, true, false, false]);
}

#[tokio::test]
async fn a_seal_changes_the_mark_and_no_value() {
    let dir = TempDir::new().unwrap();
    let mut store = create(&spec(dir.path(), Fence::Atomic));
    store.write(&attempt("a.write.1", 1), NO_STOP).await;
    store.seal(&attempt("b.seal.1", 2)).await;
    let standing = store.read("account").await.unwrap();
    assert_eq!(standing.write.as_deref(), Some("a.write.1"));
    assert_eq!(standing.highest, Some(FencingToken(2)));
}

#[tokio::test]
async fn the_log_tells_lab_time_of_the_writing_process() {
    let dir = TempDir::new().unwrap();
    let mut spec = spec(dir.path(), Fence::Atomic);
    spec.lab_zero_ns = monotonic_ns();
    let mut store = create(&spec);
    store.write(&attempt("a.write.1", 1), NO_STOP).await;
    let upper = monotonic_ns() - spec.lab_zero_ns;
    store.write(&attempt("a.write.2", 1), NO_STOP).await;
    let log = store.log().await.unwrap();
    assert!(log[0].applied_ns <= upper && upper <= log[1].applied_ns);
}

#[tokio::test]
async fn a_reader_that_stays_does_not_block_writers() {
    let dir = TempDir::new().unwrap();
    let spec = spec(dir.path(), Fence::Atomic);
    let mut store = create(&spec);
    store.write(&attempt("a.write.1", 1), NO_STOP).await;

    let reader = Connection::open(&spec.location).unwrap();
    reader
        .execute_batch("BEGIN; SELECT * FROM resource;")
        .unwrap();
    let answer = store.write(&attempt("a.write.2", 1), NO_STOP).await;
    assert_eq!(answer, StoreAnswer::Accepted);
}

#[tokio::test]
async fn a_busy_store_is_a_definite_failure() {
    let dir = TempDir::new().unwrap();
    let spec = spec(dir.path(), Fence::Atomic);
    let mut store = create(&spec);
    let blocker = Connection::open(&spec.location).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();

    let answer = store.write(&attempt("a.write.1", 1), NO_STOP).await;
    assert!(matches!(answer, StoreAnswer::Failed(_)), "{answer:?}");
    blocker.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.log().await.unwrap(), [], "and nothing was logged");
    let answer = store.write(&attempt("a.write.1", 1), NO_STOP).await;
    assert_eq!(
        answer,
        StoreAnswer::Accepted,
        "the connection is still good"
    );
}

#[tokio::test]
async fn an_error_at_commit_is_unknown() {
    let dir = TempDir::new().unwrap();
    let spec = spec(dir.path(), Fence::Atomic);
    let mut store = create(&spec);
    // A deferred foreign key is checked at COMMIT and nowhere else.
    let saboteur = Connection::open(&spec.location).unwrap();
    saboteur
        .execute_batch(
            "CREATE TABLE parent (id INTEGER PRIMARY KEY);
             CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
             CREATE TRIGGER orphan AFTER INSERT ON attempt BEGIN INSERT INTO child VALUES (1); END;",
        )
        .unwrap();
    let answer = store.write(&attempt("a.write.1", 1), NO_STOP).await;
    assert!(matches!(answer, StoreAnswer::Unknown(_)), "{answer:?}");
}

#[tokio::test]
async fn the_log_is_append_only() {
    let dir = TempDir::new().unwrap();
    let spec = spec(dir.path(), Fence::Atomic);
    create(&spec).write(&attempt("a.write.1", 1), NO_STOP).await;
    let connection = Connection::open(&spec.location).unwrap();
    assert!(connection.execute("DELETE FROM attempt", []).is_err());
    assert!(
        connection
            .execute("UPDATE attempt SET accepted = 0", [])
            .is_err()
    );
}

#[test]
fn a_missing_foreign_or_used_file_is_refused() {
    let dir = TempDir::new().unwrap();
    let spec = spec(dir.path(), Fence::Atomic);
    let kind = store::find("sqlite").unwrap();
    assert!((kind.open)(&spec).is_err(), "opening never creates");
    drop(create(&spec));
    assert!((kind.create)(&spec).is_err(), "a store belongs to one arm");

    let foreign = StoreSpec {
        location: dir.path().join("other.db").display().to_string(),
        ..spec
    };
    Connection::open(&foreign.location)
        .and_then(|other| other.execute_batch("CREATE TABLE x (y)"))
        .unwrap();
    let error = (kind.open)(&foreign).err().unwrap();
    assert!(error.to_string().contains("version 0"), "{error}");
}

#[test]
fn the_registry_names_each_store_once() {
    let mut names: Vec<&str> = store::ALL.iter().map(|kind| kind.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), store::ALL.len());
    assert!(store::ALL.iter().all(|kind| !kind.summary.is_empty()));
}

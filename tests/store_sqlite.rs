//! What is the SQLite store's own: what is answered when something is in the way, and which files
//! it refuses.
#![allow(clippy::unwrap_used)]

use crate::support::stores::{NO_STOP, StorePlace, attempt};
use lockdrill::store::{self, Fence, StoreAnswer};
use rusqlite::Connection;

#[tokio::test]
async fn a_reader_that_stays_does_not_block_writers() {
    let place = StorePlace::of("sqlite");
    let spec = place.spec(Fence::Atomic);
    let mut store = place.create(&spec).await;
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
    let place = StorePlace::of("sqlite");
    let spec = place.spec(Fence::Atomic);
    let mut store = place.create(&spec).await;
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
    let place = StorePlace::of("sqlite");
    let spec = place.spec(Fence::Atomic);
    let mut store = place.create(&spec).await;
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
    let place = StorePlace::of("sqlite");
    let spec = place.spec(Fence::Atomic);
    place
        .create(&spec)
        .await
        .write(&attempt("a.write.1", 1), NO_STOP)
        .await;
    let connection = Connection::open(&spec.location).unwrap();
    assert!(connection.execute("DELETE FROM attempt", []).is_err());
    assert!(
        connection
            .execute("UPDATE attempt SET accepted = 0", [])
            .is_err()
    );
}

#[tokio::test]
async fn a_file_of_somebody_else_is_refused() {
    let place = StorePlace::of("sqlite");
    let spec = place.spec(Fence::Atomic);
    Connection::open(&spec.location)
        .and_then(|other| other.execute_batch("CREATE TABLE x (y)"))
        .unwrap();
    let error = place.no_open(&spec).await;
    assert!(error.contains("version 0"), "{error}");
}

#[test]
fn the_registry_names_each_store_once() {
    let mut names: Vec<&str> = store::ALL.iter().map(|kind| kind.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), store::ALL.len());
    assert!(store::ALL.iter().all(|kind| !kind.summary.is_empty()));
}

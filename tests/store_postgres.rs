//! What is the Postgres store's own: which databases it refuses, what is answered when the server is
//! gone, that its log stands, and how its times become lab time.
#![allow(clippy::unwrap_used)]

use crate::support::one_server::OneServer;
use crate::support::postgres_server::PostgresServer;
use crate::support::stores::{self, NO_STOP, StorePlace, attempt};
use lockdrill::store::{self, Fence, StoreAnswer};

#[tokio::test]
async fn a_database_without_a_store_or_with_one_of_another_version_is_refused() {
    let place = StorePlace::of("postgres");
    let spec = place.spec(Fence::Atomic);
    let error = place.no_open(&spec).await;
    assert!(error.contains("no store has been created"), "{error}");
    place.create(&spec).await;
    place
        .database()
        .text("UPDATE store_birth SET version = 9")
        .await;
    let error = place.no_open(&spec).await;
    assert!(error.contains("version 9"), "{error}");
}

#[tokio::test]
async fn a_location_is_an_address_with_its_scheme() {
    let locations = ["127.0.0.1:5433", "redis://127.0.0.1:1", "postgres://"];
    stores::each_location_is_refused("postgres", &locations).await;
}

#[tokio::test]
async fn what_cannot_be_sent_is_a_definite_failure() {
    let server = PostgresServer::start();
    let place = StorePlace::of("postgres");
    let mut spec = place.spec(Fence::Atomic);
    spec.location = format!("postgres://{}", server.address());
    let store = place.create(&spec).await;
    server.kill();
    stores::what_cannot_be_sent_is_a_definite_failure(store).await;
}

#[tokio::test]
async fn what_the_server_refuses_is_a_definite_failure_and_changes_nothing() {
    let place = StorePlace::of("postgres");
    let mut store = place.create(&place.spec(Fence::Atomic)).await;
    for (write, fencing) in [("a.write.1", u64::MAX), ("a\0write", 1)] {
        let answer = store.write(&attempt(write, fencing), NO_STOP).await;
        assert!(matches!(answer, StoreAnswer::Failed(_)), "{answer:?}");
    }
    let standing = store.read("account").await.unwrap();
    assert_eq!((standing.write, standing.highest), (None, None));
    assert!(store.log().await.unwrap().is_empty());
    // The numbers of the log have no gap where something was rolled back.
    store.write(&attempt("a.write.2", 1), NO_STOP).await;
    assert_eq!(store.log().await.unwrap()[0].n, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_answer_is_cut_off_is_unknown_and_was_done() {
    stores::a_write_whose_answer_is_cut_off_is_unknown_and_was_done("postgres").await;
}

#[tokio::test]
async fn the_log_can_be_added_to_and_nothing_else() {
    let place = StorePlace::of("postgres");
    let mut store = place.create(&place.spec(Fence::Atomic)).await;
    store.write(&attempt("a.write.1", 1), NO_STOP).await;
    let client = place.database().connect().await;
    for change in [
        "UPDATE store_attempt SET accepted = false",
        "DELETE FROM store_attempt",
        "TRUNCATE store_attempt",
    ] {
        let refused = client.batch_execute(change).await.unwrap_err();
        let said = refused.as_db_error().unwrap().message();
        assert_eq!(said, "append only", "{change}");
    }
    assert!(store.log().await.unwrap()[0].accepted);
}

#[tokio::test]
async fn times_are_an_error_once_the_wall_clock_was_set() {
    stores::times_are_an_error_once_the_wall_clock_was_set("postgres", async |place| {
        let set = "UPDATE store_birth SET wall_ahead_ns = wall_ahead_ns - 1000000000";
        place.database().text(set).await;
    })
    .await;
}

/// Writers of several connections at once: one line after another, without gaps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_at_once_form_one_order() {
    let place = StorePlace::of("postgres");
    let spec = place.spec(Fence::Atomic);
    let mut direct = place.create(&spec).await;
    let writers = (0..4_u64).map(|writer| {
        let spec = spec.clone();
        tokio::spawn(async move {
            let mut store = (store::find("postgres").unwrap().open)(&spec)
                .await
                .unwrap();
            for i in 0..20_u64 {
                let write = format!("w{writer}.write.{i}");
                let answer = store.write(&attempt(&write, i + 1), NO_STOP).await;
                let said = matches!(answer, StoreAnswer::Accepted | StoreAnswer::Rejected { .. });
                assert!(said, "{answer:?}");
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let log = direct.log().await.unwrap();
    assert_eq!(log.len(), 80);
    let mut highest = None;
    for (line, n) in log.iter().zip(1..) {
        assert_eq!((line.n, line.highest), (n, highest));
        assert_eq!(line.accepted, line.attempt.fencing >= highest, "n {n}");
        highest = highest.max(line.attempt.fencing);
    }
}

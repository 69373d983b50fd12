//! What is the Redis store's own: which servers it refuses, what is answered when the server is
//! gone, and how its times become lab time.
#![allow(clippy::unwrap_used)]

use crate::support::stores::{self, NO_STOP, StorePlace, attempt};
use lockdrill::clock::wall_ahead_ns;
use lockdrill::store::{Fence, StoreAnswer};

#[tokio::test]
async fn a_server_in_use_is_refused() {
    let mut place = StorePlace::of("redis");
    let spec = place.spec(Fence::Atomic);
    let _: String = place.server().tell("SET app:{account} owner:1");
    let error = place.no_create(&spec).await;
    assert!(error.contains("in use"), "{error}");
    let error = place.no_open(&spec).await;
    assert!(error.contains("no store has been created"), "{error}");
}

#[tokio::test]
async fn keys_of_another_version_are_refused() {
    let mut place = StorePlace::of("redis");
    let spec = place.spec(Fence::Atomic);
    let _: String = place.server().tell("SET store:birth 9");
    let error = place.no_open(&spec).await;
    assert!(error.contains("version `9`"), "{error}");
}

#[tokio::test]
async fn a_location_is_an_address_with_a_port() {
    let locations = ["127.0.0.1:6380", "redis://127.0.0.1", "redis://:6380"];
    stores::each_location_is_refused("redis", &locations).await;
}

#[tokio::test]
async fn what_cannot_be_sent_is_a_definite_failure() {
    let mut place = StorePlace::of("redis");
    let store = place.create(&place.spec(Fence::Atomic)).await;
    place.server().kill();
    stores::what_cannot_be_sent_is_a_definite_failure(store).await;
}

#[tokio::test]
async fn what_the_server_refuses_is_a_definite_failure_and_changes_nothing() {
    let mut place = StorePlace::of("redis");
    let mut store = place.create(&place.spec(Fence::Atomic)).await;
    let _: i64 = place.server().tell("HSET store:log not a-list");
    let answer = store.write(&attempt("a.write.1", 1), NO_STOP).await;
    assert!(matches!(answer, StoreAnswer::Failed(_)), "{answer:?}");
    let standing = store.read("account").await.unwrap();
    assert_eq!((standing.write, standing.highest), (None, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_answer_is_cut_off_is_unknown_and_was_done() {
    stores::a_write_whose_answer_is_cut_off_is_unknown_and_was_done("redis").await;
}

#[tokio::test]
async fn times_are_an_error_once_the_wall_clock_was_set() {
    stores::times_are_an_error_once_the_wall_clock_was_set("redis", async |place| {
        let before = wall_ahead_ns() - 1_000_000_000;
        let mut birth = redis::cmd("SET");
        birth.arg("store:birth").arg(format!("4 {before}"));
        birth.exec(&mut place.server().connection()).unwrap();
    })
    .await;
}

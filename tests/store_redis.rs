//! What is the Redis store's own: which servers it refuses, what is answered when the server is
//! gone, and how its times become lab time.
#![allow(clippy::unwrap_used)]

use crate::support::proxy::{Mode, Proxy};
use crate::support::stores::StorePlace;
use lockdrill::clock::wall_ahead_ns;
use lockdrill::ids::{FencingToken, GrantId};
use lockdrill::store::{Attempt, Fence, StoreAnswer};

const NO_STOP: &(dyn Fn() + Send + Sync) = &|| ();

fn attempt(write: &str, fencing: u64) -> Attempt {
    Attempt {
        resource: "account".to_owned(),
        write: write.to_owned(),
        based_on: None,
        grant: Some(GrantId("a.1".to_owned())),
        fencing: Some(FencingToken(fencing)),
        job: None,
    }
}

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
    let place = StorePlace::of("redis");
    for location in ["127.0.0.1:6380", "redis://127.0.0.1", "redis://:6380"] {
        let mut spec = place.spec(Fence::Atomic);
        spec.location = location.to_owned();
        let error = place.no_open(&spec).await;
        assert!(error.starts_with(&format!("store `{location}`")), "{error}");
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_a_definite_failure() {
    let mut place = StorePlace::of("redis");
    let mut store = place.create(&place.spec(Fence::Atomic)).await;
    place.server().kill();
    // The broken connection is found out by a question that may go unanswered.
    assert!(store.read("account").await.is_err());
    let answer = store.write(&attempt("a.write.1", 1), NO_STOP).await;
    assert!(matches!(answer, StoreAnswer::Failed(_)), "{answer:?}");
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
    let mut place = StorePlace::of("redis");
    let mut spec = place.spec(Fence::Atomic);
    let mut direct = place.create(&spec).await;
    let proxy = Proxy::before(place.server().address()).await;
    spec.location = format!("redis://{}", proxy.address());
    let mut store = place.open(&spec).await;
    proxy.set(Mode::CloseAtReply);
    let answer = store.write(&attempt("a.write.1", 1), NO_STOP).await;
    assert!(matches!(answer, StoreAnswer::Unknown(_)), "{answer:?}");
    assert!(direct.log().await.unwrap()[0].accepted);

    proxy.set(Mode::Pass);
    let answer = store.write(&attempt("a.write.2", 1), NO_STOP).await;
    assert_eq!(answer, StoreAnswer::Accepted, "on a new connection");
}

#[tokio::test]
async fn times_are_an_error_once_the_wall_clock_was_set() {
    let mut place = StorePlace::of("redis");
    let spec = place.spec(Fence::Atomic);
    let mut store = place.create(&spec).await;
    store.write(&attempt("a.write.1", 1), NO_STOP).await;
    assert_eq!(store.log().await.unwrap().len(), 1);

    // As if it had been set by a second since.
    let before = wall_ahead_ns() - 1_000_000_000;
    let mut birth = redis::cmd("SET");
    birth.arg("store:birth").arg(format!("3 {before}"));
    birth.exec(&mut place.server().connection()).unwrap();
    let mut store = place.open(&spec).await;
    let error = store.log().await.unwrap_err().to_string();
    assert!(error.contains("wall clock was set"), "{error}");
}

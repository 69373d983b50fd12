//! What is the gateway's own: that it alone compares, what it remembers, and what is answered when it
//! is gone.
#![allow(clippy::unwrap_used)]

use crate::support::stores::{self, NO_STOP, StorePlace, attempt};
use lockdrill::ids::{FencingToken, GrantId};
use lockdrill::store::{Fence, StoreAnswer};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

#[tokio::test]
async fn a_location_is_an_address_with_a_port() {
    let locations = ["127.0.0.1:6380", "http://127.0.0.1", "http://:6380"];
    stores::each_location_is_refused("http", &locations).await;
}

#[tokio::test]
async fn what_cannot_be_sent_is_a_definite_failure() {
    let place = StorePlace::of("http");
    let store = place.create(&place.spec(Fence::Atomic)).await;
    place.gateway().kill();
    stores::what_cannot_be_sent_is_a_definite_failure(store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_answer_is_cut_off_is_unknown_and_was_done() {
    stores::a_write_whose_answer_is_cut_off_is_unknown_and_was_done("http").await;
}

#[tokio::test]
async fn a_gateway_that_is_started_again_knows_what_it_has_let_through() {
    let place = StorePlace::of("http");
    let mut store = place.create(&place.spec(Fence::Atomic)).await;
    store.write(&attempt("a.write.1", 7), NO_STOP).await;
    place.gateway().restart();
    let mut store = place.open(&place.spec(Fence::Atomic)).await;
    let mut older = attempt("b.write.1", 6);
    older.grant = Some(GrantId("b.1".to_owned()));
    let highest = Some(FencingToken(7));
    let answer = store.write(&older, NO_STOP).await;
    assert_eq!(answer, StoreAnswer::Rejected { highest });
    older.fencing = highest;
    let answer = store.write(&older, NO_STOP).await;
    assert_eq!(
        answer,
        StoreAnswer::Rejected { highest },
        "of another grant"
    );
    let again = store.write(&attempt("a.write.2", 7), NO_STOP).await;
    assert_eq!(again, StoreAnswer::Accepted);
    assert_eq!(
        store.log().await.unwrap().len(),
        4,
        "and each attempt is in the log"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_present_one_fencing_token_at_once_one_is_let_through() {
    let place = StorePlace::of("http");
    let mut spec = place.spec(Fence::Atomic);
    spec.once = true;
    let mut store = place.create(&spec).await;
    let mut writers = tokio::task::JoinSet::new();
    for n in 0..8 {
        let mut own = place.open(&spec).await;
        writers.spawn(async move {
            own.write(&attempt(&format!("w{n}.write.1"), 1), NO_STOP)
                .await
        });
    }
    let answers = writers.join_all().await;
    let taken = answers
        .iter()
        .filter(|answer| **answer == StoreAnswer::Accepted);
    assert_eq!(taken.count(), 1, "{answers:?}");
    assert_eq!(store.log().await.unwrap().len(), 8);
}

#[test]
fn what_is_no_question_is_a_bad_request_and_harms_nobody() {
    let place = StorePlace::of("http");
    let address = place.gateway().address();
    for (path, body) in [("/store", "{"), ("/store", "\"nothing\""), ("/", "\"log\"")] {
        let mut stream = TcpStream::connect(address).unwrap();
        let length = body.len();
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
        let request = format!("{head}Content-Length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            answer.starts_with("HTTP/1.1 400"),
            "{path} {body}: {answer}"
        );
    }
}

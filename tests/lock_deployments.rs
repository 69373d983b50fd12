//! The whole deployments that locks are tried on: they come up, cut off, and fail over.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use support::deployment::Deployed;
use support::redis_lab::until;

/// What was written while the replicas were cut off is gone with the primary.
async fn loses_what_was_cut_off(mut all: Deployed) {
    let begun = std::time::Instant::now();
    let primary = all.primary("k").unwrap();
    let before: i64 = all.data[primary].tell("INCR k");
    // The effect is sent on before the next command is read.
    all.data[primary].tell::<()>("PING");
    all.cut_replication(primary);
    assert_eq!((before, all.data[primary].tell::<i64>("INCR k")), (1, 2));
    all.data[primary].kill();
    until("another primary", || async { all.primary("k").is_some() }).await;
    let next = all.primary("k").unwrap();
    assert_ne!(next, primary);
    assert_eq!(all.data[next].tell::<i64>("INCR k"), 2);
    println!("failed over after {:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sentinel_promotes_a_replica_that_was_cut_off() {
    let begun = std::time::Instant::now();
    let all = Deployed::under_sentinel().await;
    println!("ready after {:?}", begun.elapsed());
    loses_what_was_cut_off(all).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_promotes_a_replica_that_was_cut_off() {
    let begun = std::time::Instant::now();
    let all = Deployed::cluster().await;
    println!("ready after {:?}", begun.elapsed());
    loses_what_was_cut_off(all).await;
}

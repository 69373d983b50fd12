//! The Postgres back end in trouble: what each kind is told as (before the send an error, after it
//! unknown), what it recovers from, and who is woken.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use lockdrill::lock::backends::ConnectSpec;
use lockdrill::lock::{LockError, LockManager, Release};
use std::sync::Arc;
use support::one_server::{self, a_holder_without_replies_is_told_unknown};
use support::place::Remembering;
use support::postgres_server::{Database, PostgresServer};
use support::proxy::{Mode, Proxy};
use support::redis_lab::{LONG, SHORT, acquire, granted, unknown, until};
use tokio_util::sync::CancellationToken;

const OWNER: &str = "SELECT owner FROM lockdrill_lock WHERE prefix = 'app:' AND key = 'k'";

async fn at(address: String) -> LockManager {
    one_server::locks_of("postgres", ConnectSpec::new(address)).await
}

async fn proxied(database: &Database) -> (Proxy, LockManager) {
    let proxy = Proxy::before(database.place()).await;
    let locks = at(format!("{}/{}", proxy.address(), database.name())).await;
    (proxy, locks)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_reply_is_unknown_and_the_resend_gets_the_same_grant() {
    let database = PostgresServer::shared().database().await;
    let (proxy, locks) = proxied(&database).await;
    proxy.set(Mode::HoldReplies);
    let lock = unknown(&locks, 4 * SHORT).await;
    assert!(!lock.is_held() && !lock.is_locked());
    let row = "SELECT owner || ' ' || fencing || ' ' || ends_at FROM lockdrill_lock";
    let before = database.text(row).await;
    proxy.set(Mode::Pass);
    lock.enter(LONG, &CancellationToken::new()).await.unwrap();
    assert_eq!(lock.fencing_token().unwrap().0, 1, "minted once");
    assert_eq!(database.text(row).await, before, "not refreshed");
    a_holder_without_replies_is_told_unknown(&proxy, &lock).await;
    // The connection was thrown away, and a new one needs replies: it was never sent.
    assert_eq!(lock.release().await, Release::Released);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acquire_that_is_dropped_after_it_was_executed_is_given_back() {
    let database = PostgresServer::shared().database().await;
    let (proxy, locks) = proxied(&database).await;
    proxy.set(Mode::HoldReplies);
    let acquiring = tokio::spawn(async move { drop(acquire(&locks, LONG).await) });
    until("the execution", || async {
        !database.text(OWNER).await.is_empty()
    })
    .await;
    acquiring.abort();
    proxy.set(Mode::Pass);
    until("the release", || async {
        database.text(OWNER).await.is_empty()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_is_an_error_and_forgets_nothing() {
    let server = PostgresServer::start();
    let [_, next] = one_server::a_killed_server_is_an_error_and_forgets_nothing(&server).await;
    assert_eq!(next.0, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_server_costs_the_budget_and_no_more() {
    let server = PostgresServer::start();
    one_server::a_stopped_server_costs_the_budget_and_no_more(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_refuses_is_definite_and_shows_no_owner_token() {
    let database = PostgresServer::shared().database().await;
    let source = Arc::new(Remembering::default());
    let locks = at(database.address()).await.with_source(source.clone());
    drop(granted(&locks, LONG).await.release().await);
    let name = database.name();
    // A row that is refused is quoted, in the part of the error that is not told.
    let refuse = "ALTER TABLE lockdrill_lock ADD CHECK (owner IS NULL)";
    database.text(refuse).await;
    let shown = format!("{:?}", acquire(&locks, LONG).await);
    assert!(
        shown.contains("Failed") && shown.contains("23514"),
        "{shown}"
    );
    assert!(!shown.contains(source.last().expose()), "{shown}");
    // As on a standby: what is read there is no answer, and the connection is not kept.
    let read_only = format!("ALTER DATABASE {name} SET default_transaction_read_only");
    database.outside(&format!("{read_only} = on")).await;
    let standby = at(database.address()).await;
    let refused = acquire(&standby, LONG).await.unwrap_err();
    assert!(
        matches!(&refused, LockError::Failed(why) if why.contains("25006")),
        "{refused}"
    );
    database.outside(&format!("{read_only} = off")).await;
    database
        .text("ALTER TABLE lockdrill_lock DROP CONSTRAINT lockdrill_lock_owner_check")
        .await;
    assert_eq!(granted(&standby, LONG).await.fencing_token().unwrap().0, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_somebody_keeps_is_refused_in_time_and_a_session_that_was_ended_is_unknown() {
    let database = PostgresServer::shared().database().await;
    let locks = at(database.address()).await;
    drop(granted(&locks, LONG).await.release().await);
    let keeper = database.connect().await;
    let keep = "BEGIN; SELECT * FROM lockdrill_lock FOR UPDATE";
    keeper.batch_execute(keep).await.unwrap();
    let refused = acquire(&locks, LONG).await.unwrap_err();
    assert!(
        matches!(&refused, LockError::Failed(why) if why.contains("55P03")),
        "{refused}"
    );
    let waiting = tokio::spawn(async move { unknown(&locks, LONG).await });
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
               WHERE datname = current_database() AND application_name = 'lockdrill'
                 AND wait_event_type = 'Lock'";
    until("one that waits", || async {
        database.text(end).await == "1"
    })
    .await;
    let lock = waiting.await.unwrap();
    keeper.batch_execute("ROLLBACK").await.unwrap();
    lock.enter(LONG, &CancellationToken::new()).await.unwrap();
    assert_eq!(lock.fencing_token().unwrap().0, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_longest_waiter_is_woken_and_one_that_leaves_is_forgotten() {
    let database = PostgresServer::shared().database().await;
    let queue = async || database.queue().await;
    let at = ("postgres", database.address());
    one_server::the_longest_waiter_is_woken_and_one_that_leaves_is_forgotten(
        at,
        queue,
        false,
        async || until("an empty queue", || async { queue().await == 0 }).await,
    )
    .await;
}

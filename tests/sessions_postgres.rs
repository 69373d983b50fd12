//! Sessions that are ended at a real Postgres: whose they are, what goes with them, and what is seen of
//! one that does not go.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use lockdrill::env::postgres::observe::Control;
use lockdrill::lock::backends::ConnectSpec;
use lockdrill::lock::{Acquired, LockHandle, LockManager, Renewal};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::time::Duration;
use support::one_server::{self, OneServer};
use support::postgres_server::PostgresServer;
use support::redis_lab::{LONG, SHORT, acquire, granted};

async fn locks(server: &PostgresServer, backend: &str, client: &str) -> LockManager {
    let mut spec = ConnectSpec::new(server.address());
    spec.client = Some(client.to_owned());
    one_server::locks_of(backend, spec).await
}

async fn control(server: &PostgresServer) -> Control {
    let at = (server.folder(), server.port());
    Control::connect(at, "app:", LONG).await.unwrap()
}

/// The first that is known: who hears only now that the session broke does not know of that one.
async fn renewed(lock: &LockHandle) -> Renewal {
    loop {
        match lock.renew().await {
            Renewal::Unknown(_) => {}
            known @ (Renewal::Renewed | Renewal::Lost(_)) => return known,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_with_a_lease_in_a_row_outlives_its_session_and_one_that_a_session_is_does_not() {
    let server = PostgresServer::start();
    let control = control(&server).await;
    for (backend, outlives) in [
        ("postgres", true),
        ("postgres-advisory", false),
        ("postgres-row", false),
    ] {
        let a = locks(&server, backend, "a").await;
        let b = locks(&server, backend, "b").await;
        let lock = granted(&a, LONG).await;
        let found = control.end_sessions("a", LONG).await.unwrap();
        assert!(found.ended > 0 && found.left == 0, "{backend}: {found:?}");
        // Those of the other are there, and one who has none has none.
        let others = control.end_sessions("nobody", LONG).await.unwrap();
        assert_eq!((others.ended, others.left), (0, 0));
        let taken = matches!(acquire(&b, LONG).await, Ok(Acquired::Granted(_)));
        assert_eq!(taken, !outlives, "{backend}");
        let told = renewed(&lock).await;
        assert_eq!(told == Renewal::Renewed, outlives, "{backend}: {told:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_does_not_go_is_seen() {
    let server = PostgresServer::start();
    let control = control(&server).await;
    let a = locks(&server, "postgres", "a").await;
    let lock = granted(&a, LONG).await;
    let client = server.connect("postgres").await;
    let sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'lockdrill a'";
    let pid: i32 = client.query_one(sql, &[]).await.unwrap().get(0);
    kill(Pid::from_raw(pid), Signal::SIGSTOP).unwrap();
    let found = control.end_sessions("a", SHORT).await.unwrap();
    assert!(found.ended == 1 && found.left > 0, "{found:?}");
    kill(Pid::from_raw(pid), Signal::SIGCONT).unwrap();
    let found = control
        .end_sessions("a", Duration::from_secs(60))
        .await
        .unwrap();
    assert_eq!(found.left, 0);
    drop(lock);
}

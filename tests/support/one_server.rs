//! A lock that lives on one server, and what trouble with that server comes to, whatever it speaks.

use super::redis_lab::{LONG, MS, SHORT, acquire, granted, unknown, until};
use lockdrill::ids::FencingToken;
use lockdrill::lock::backends::{self, ConnectSpec};
use lockdrill::lock::{Acquired, LockError, LockManager, ManagerOptions, Release, Renewal};
use nix::sys::signal::Signal;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

/// A server of the test's own.
pub trait OneServer {
    /// The back end whose locks live on it.
    const BACKEND: &'static str;
    /// Where it listens.
    fn address(&self) -> String;
    /// SIGKILL, and waits until it is gone.
    fn kill(&self);
    /// SIGSTOP or SIGCONT.
    fn signal(&self, which: Signal);
    /// Starts it again with what it had.
    fn restart(&self);
}

/// The server that all tests share who run now.
pub fn shared<S>(slot: &Mutex<Weak<S>>, start: impl FnOnce() -> S) -> Arc<S> {
    let mut shared = slot.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let server = Arc::new(start());
        *shared = Arc::downgrade(&server);
        server
    })
}

/// Locks of a back end.
pub async fn locks_of(backend: &str, spec: ConnectSpec) -> LockManager {
    let kind = backends::named(backend).unwrap();
    let service = (kind.connect)(spec).await.unwrap();
    LockManager::new(service, ManagerOptions::new("test", "app:"))
}

async fn locks_on<S: OneServer>(server: &S) -> LockManager {
    locks_of(S::BACKEND, ConnectSpec::new(server.address())).await
}

/// The fencing tokens of the grants before and after it.
pub async fn a_killed_server_is_an_error_and_forgets_nothing<S: OneServer>(
    server: &S,
) -> [FencingToken; 2] {
    let locks = locks_on(server).await;
    let lock = granted(&locks, LONG).await;
    server.kill();
    // The connection notices at once that it is closed, or with the first request.
    drop(acquire(&locks, SHORT).await);
    let refused = acquire(&locks, SHORT).await.unwrap_err();
    assert!(matches!(refused, LockError::Failed(_)), "{refused}");
    assert!(
        matches!(lock.renew().await, Renewal::Unknown(_)),
        "the deadline is far"
    );
    assert!(lock.is_locked());
    let kind = backends::named(S::BACKEND).unwrap();
    let connected = (kind.connect)(ConnectSpec::new(server.address())).await;
    assert!(matches!(connected.err(), Some(LockError::Failed(_))));
    server.restart();
    until("an answer", || async {
        lock.renew().await == Renewal::Renewed
    })
    .await;
    assert!(matches!(acquire(&locks, LONG).await, Ok(Acquired::Busy(_))));
    assert_eq!(lock.release().await, Release::Released);
    let next = granted(&locks, LONG).await;
    [&lock, &next].map(|lock| lock.fencing_token().unwrap())
}

/// What may have been taken is given back when this returns, or soon after.
pub async fn a_stopped_server_costs_the_budget_and_no_more<S: OneServer>(server: &S) {
    let locks = locks_on(server).await;
    server.signal(Signal::SIGSTOP);
    let began = Instant::now();
    let lock = unknown(&locks, SHORT).await;
    let took = began.elapsed();
    server.signal(Signal::SIGCONT);
    assert!(took >= 450 * MS && took < 10 * SHORT, "{took:?}");
    drop(lock);
}

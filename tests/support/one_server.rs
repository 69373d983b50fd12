//! A lock that lives on one server, and what trouble with that server comes to, whatever it speaks.

use super::proxy::{Mode, Proxy};
use super::redis_lab::{LONG, MS, SHORT, acquire, granted, unknown, until};
use lockdrill::ids::FencingToken;
use lockdrill::lock::backends::{self, ConnectSpec};
use lockdrill::lock::service::LockName;
use lockdrill::lock::{
    Acquired, LockError, LockHandle, LockManager, ManagerOptions, Release, Renewal,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Where every server of a test listens.
pub const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A server of the test's own.
pub trait OneServer: Sized {
    /// The back end whose locks live on it.
    const BACKEND: &'static str;
    /// How long it may take to answer on a busy machine.
    const PATIENCE: Duration;

    /// Its first process.
    fn child(&self) -> &Mutex<Child>;
    /// The port that it listens on.
    fn port(&self) -> u16;
    /// One more such process, with what it had.
    fn spawn(&self) -> Child;
    /// Serves; its first process is this one.
    fn serves(&self, pid: u32) -> bool;

    /// Where it listens.
    fn address(&self) -> String {
        format!("{HOST}:{}", self.port())
    }

    /// SIGKILL, and waits until it is gone.
    fn kill(&self) {
        let mut child = first_process(self);
        let _ = child.kill();
        let _ = child.wait();
    }

    /// SIGSTOP or SIGCONT.
    fn signal(&self, which: Signal) {
        kill(pid_of(&first_process(self)), which).expect("our own child");
    }

    /// Starts it again with what it had.
    fn restart(&self) {
        let deadline = Instant::now() + Self::PATIENCE;
        while Instant::now() < deadline {
            let again = self.spawn();
            *first_process(self) = again;
            if answers(self) {
                return;
            }
        }
        let backend = Self::BACKEND;
        panic!("{backend} did not come back on port {}", self.port());
    }
}

/// The first process of a server, which nobody else looks at meanwhile.
pub fn first_process<S: OneServer>(server: &S) -> MutexGuard<'_, Child> {
    server
        .child()
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// Its process id.
pub fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a pid fits"))
}

/// The first of these servers that answers.
pub fn started<S: OneServer>(make: impl Fn() -> S) -> S {
    for _ in 0..20 {
        let server = make();
        if answers(&server) {
            return server;
        }
        // Somebody else took a port in between.
    }
    panic!("no server for locks of {} could be started", S::BACKEND);
}

/// Serves, and is the process that we started.
fn answers<S: OneServer>(server: &S) -> bool {
    let deadline = Instant::now() + S::PATIENCE;
    while Instant::now() < deadline {
        let mut child = first_process(server);
        if let Ok(Some(_)) = child.try_wait() {
            return false;
        }
        let pid = child.id();
        drop(child);
        if server.serves(pid) {
            return true;
        }
        std::thread::sleep(5 * MS);
    }
    false
}

/// Different ones, which nobody listens on just now.
pub fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind((HOST, 0)).expect("a free port"));
    listeners.map(|listener| listener.local_addr().expect("its address").port())
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

/// Locks on a server.
pub async fn locks_on<S: OneServer>(server: &S) -> LockManager {
    locks_of(S::BACKEND, ConnectSpec::new(server.address())).await
}

/// Locks whose first request that decides finds the proxy in that mode; what comes before it, as a
/// session or a lease, is there.
pub async fn deciding<S: OneServer>(server: &S, mode: Mode) -> (Arc<Proxy>, LockManager) {
    let proxy = Arc::new(Proxy::before(server.address()).await);
    let (before, first) = (Arc::clone(&proxy), AtomicBool::new(true));
    let spec = ConnectSpec::new(proxy.address()).arming(Arc::new(move || {
        if first.swap(false, Ordering::SeqCst) {
            before.set(mode);
        }
    }));
    (proxy, locks_of(S::BACKEND, spec).await)
}

/// A holder whose requests have no answers any more is told so, and has lost nothing yet.
pub async fn a_holder_without_replies_is_told_unknown(proxy: &Proxy, lock: &LockHandle) {
    proxy.set(Mode::HoldReplies);
    assert!(
        matches!(lock.renew().await, Renewal::Unknown(_)),
        "not lost"
    );
    assert!(lock.is_locked());
    assert!(matches!(lock.release().await, Release::Unknown(_)));
    proxy.set(Mode::Pass);
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

/// Three wait for a lock. `queue`: how many of them stand in the server's queue; `head_looks`: who
/// comes to its head is woken at once, to look for itself; `until_empty`: nobody stands there.
pub async fn the_longest_waiter_is_woken_and_one_that_leaves_is_forgotten(
    (backend, address): (&str, String),
    queue: impl AsyncFn() -> usize,
    head_looks: bool,
    until_empty: impl AsyncFnOnce(),
) {
    let kind = backends::named(backend).unwrap();
    let service = (kind.connect)(ConnectSpec::new(address.clone())).await;
    let service = service.unwrap();
    let (prefix, key) = ("app:".to_owned(), "k".to_owned());
    let name = LockName { prefix, key };
    let locks = locks_of(backend, ConnectSpec::new(address)).await;
    let lock = granted(&locks, LONG).await;
    let mut waiters = Vec::new();
    for number in 0..3 {
        let mut ear = service.watch(&name);
        let (told, woken) = tokio::sync::mpsc::unbounded_channel();
        let listening = tokio::spawn(async move {
            loop {
                ear.woken().await;
                told.send(()).unwrap();
            }
        });
        waiters.push((listening, woken));
        until("one more in the queue", || async {
            queue().await == number + 1
        })
        .await;
    }
    let patience = tokio::time::Duration::from_secs(20);
    let (first, mut woken) = waiters.remove(0);
    if !head_looks {
        assert!(woken.try_recv().is_err(), "nothing to look for yet");
    }
    let mut hear = async || tokio::time::timeout(patience, woken.recv()).await.unwrap();
    if head_looks {
        hear().await.expect("the head of the queue looks once");
    }
    lock.release().await;
    hear().await.expect("woken by the release");
    let (left, _) = waiters.remove(0);
    left.abort();
    until("one less in the queue", || async { queue().await == 2 }).await;
    let (last, mut woken) = waiters.remove(0);
    assert!(woken.try_recv().is_err(), "not its turn");
    first.abort();
    let heard = tokio::time::timeout(patience, woken.recv()).await.unwrap();
    heard.expect("it is the head now, and looks");
    last.abort();
    until_empty().await;
}

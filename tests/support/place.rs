//! Where a conformance test takes its locks: one empty service of one back end.

use super::redis_server::RedisServer;
use lockdrill::ids::{GrantId, OwnerToken};
use lockdrill::lock::backends::{self, ConnectSpec};
use lockdrill::lock::flaws::Flaw;
use lockdrill::lock::{
    Acquired, EnterError, LockError, LockHandle, LockManager, LockOptions, LockService,
    ManagerOptions, TokenSource,
};
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

static PLACES: AtomicU64 = AtomicU64::new(0);

/// An empty service. Two managers of one place meet.
pub struct Place {
    kind: &'static backends::LockKind,
    address: String,
    flaw: Option<Flaw>,
    /// Keeps what lives as long as the place: a server, or a first connection.
    pub server: Option<RedisServer>,
    _anchor: Arc<dyn LockService>,
}

#[allow(dead_code, reason = "each test file uses what it needs")]
impl Place {
    /// Of the sound code.
    pub async fn of(backend: &str) -> Place {
        Place::flawed(backend, None).await
    }

    /// With a flaw built in.
    pub async fn flawed(backend: &str, flaw: Option<Flaw>) -> Place {
        let kind = backends::named(backend).expect("a back end of that name");
        let server = (backend == "redis").then(RedisServer::start);
        let address = match &server {
            Some(server) => server.address(),
            None => format!("place-{}", PLACES.fetch_add(1, Ordering::SeqCst)),
        };
        let spec = ConnectSpec {
            address: address.clone(),
            flaw,
            armed: None,
        };
        let anchor = (kind.connect)(spec).await.expect("the service connects");
        Place {
            kind,
            address,
            flaw,
            server,
            _anchor: anchor,
        }
    }

    /// A manager with a connection of its own.
    pub async fn manager(&self) -> LockManager {
        self.manager_with_prefix("test:").await
    }

    pub async fn manager_with_prefix(&self, prefix: &str) -> LockManager {
        LockManager::new(self.service().await, ManagerOptions::new("test", prefix))
    }

    pub async fn service(&self) -> Arc<dyn LockService> {
        let spec = ConnectSpec {
            address: self.address.clone(),
            flaw: self.flaw,
            armed: None,
        };
        (self.kind.connect)(spec)
            .await
            .expect("the service connects")
    }

    pub fn key(&self) -> &'static str {
        "orders"
    }

    pub fn options(&self, lease: Duration) -> LockOptions {
        LockOptions::new(lease, None).expect("good options")
    }

    /// A grant at the first attempt.
    pub async fn granted(&self, locks: &LockManager, lease: Duration) -> LockHandle {
        match locks.acquire(self.key(), &self.options(lease)).await {
            Ok(Acquired::Granted(lock)) => lock,
            other => panic!("not granted: {other:?}"),
        }
    }

    /// A grant, after waiting if need be.
    pub async fn entered(&self, locks: &LockManager, lease: Duration) -> LockHandle {
        self.entering(locks, lease)
            .await
            .expect("the lock becomes free")
    }

    /// The same, to be spawned.
    pub fn entering(
        &self,
        locks: &LockManager,
        lease: Duration,
    ) -> impl Future<Output = Result<LockHandle, EnterError>> + Send + 'static {
        let (locks, key, options) = (locks.clone(), self.key(), self.options(lease));
        async move {
            let patience = Duration::from_secs(20);
            locks
                .enter(key, &options, patience, &CancellationToken::new())
                .await
        }
    }

    /// Waits until nobody holds the lock, by the server's word.
    pub async fn until_free(&self, locks: &LockManager) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while locks.remaining(self.key()).await != Ok(None) {
            assert!(Instant::now() < deadline, "the lock was not given back");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits until a waiter stands in the server's queue; on `memory` a moment will do, because
    /// a wake-up that comes first is kept.
    pub async fn until_waiting(&self) {
        let Some(server) = &self.server else {
            return tokio::time::sleep(Duration::from_millis(50)).await;
        };
        let deadline = Instant::now() + Duration::from_secs(10);
        while !server
            .tell::<String>("INFO clients")
            .contains("blocked_clients:1")
        {
            assert!(Instant::now() < deadline, "nobody waits");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// A source that remembers the tokens it gave, as an operator's tool might.
    pub fn identity(&self) -> Arc<Remembering> {
        Arc::new(Remembering::default())
    }
}

/// A token source that remembers.
#[derive(Default)]
pub struct Remembering(Mutex<Vec<OwnerToken>>);

#[allow(dead_code, reason = "each test file uses what it needs")]
impl Remembering {
    /// The last owner token it gave.
    pub fn last(&self) -> OwnerToken {
        self.0.lock().unwrap().last().expect("a token").clone()
    }
}

impl TokenSource for Remembering {
    fn owner(&self) -> Result<OwnerToken, LockError> {
        let owner = OwnerToken::fresh().expect("randomness");
        self.0.lock().unwrap().push(owner.clone());
        Ok(owner)
    }

    fn grant(&self) -> GrantId {
        GrantId(format!("grant-{}", self.0.lock().unwrap().len()))
    }
}

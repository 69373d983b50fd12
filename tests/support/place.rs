//! Where a conformance test takes its locks: one empty service of one back end.

use super::deployment::Deployed;
use super::etcd_server::EtcdServer;
use super::one_server::OneServer as _;
use super::postgres_server::{Database, PostgresServer};
use super::redis_server::RedisServer;
use super::zookeeper_server::ZookeeperServer;
use lockdrill::ids::{GrantId, OwnerToken};
use lockdrill::lock::backends::{self, ConnectSpec, Servers};
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
    prefix: String,
    /// Keeps what lives as long as the place: a server, several, or a first connection.
    pub server: Option<RedisServer>,
    /// The same, where the back end lives on several.
    pub deployed: Option<Arc<Deployed>>,
    /// The same, where it is a database of a server that several places share.
    pub database: Option<Database>,
    /// The same, where it is a server that several places share.
    pub etcd: Option<Arc<EtcdServer>>,
    /// The same.
    pub zookeeper: Option<Arc<ZookeeperServer>>,
    _anchor: Arc<dyn LockService>,
}

#[allow(dead_code, reason = "each test file uses what it needs")]
impl Place {
    /// Of the sound code.
    pub async fn of(backend: &str) -> Place {
        Place::flawed(backend, None).await
    }

    /// On a Valkey; `None` where there is none and need not be.
    pub async fn on_valkey() -> Option<Place> {
        let server = RedisServer::valkey()?;
        let kind = backends::named("redis").expect("a back end of that name");
        let address = server.address();
        Some(Place::at(kind, address, None, (Some(server), None)).await)
    }

    /// With a flaw built in.
    pub async fn flawed(backend: &str, flaw: Option<Flaw>) -> Place {
        let kind = backends::named(backend).expect("a back end of that name");
        let (mut server, mut deployed, mut database) = (None, None, None);
        let (mut etcd, mut zookeeper) = (None, None);
        match kind.servers {
            Servers::None => {}
            Servers::Redis => server = Some(RedisServer::start()),
            Servers::Sentinel => deployed = Some(Arc::new(Deployed::under_sentinel().await)),
            Servers::Cluster => deployed = Some(Arc::new(Deployed::cluster().await)),
            Servers::Voters => deployed = Some(Arc::new(Deployed::voters(3).await)),
            Servers::Postgres | Servers::PostgresSessions => {
                database = Some(PostgresServer::shared().database().await);
            }
            Servers::Etcd => etcd = Some(EtcdServer::shared()),
            Servers::Zookeeper => zookeeper = Some(ZookeeperServer::shared()),
        }
        let address = match (&server, &deployed, &database, &etcd, &zookeeper) {
            (Some(server), ..) => server.address(),
            (None, Some(deployed), ..) => deployed.address.clone(),
            (None, None, Some(database), ..) => database.address(),
            (None, None, None, Some(etcd), _) => etcd.address(),
            (None, None, None, None, Some(zookeeper)) => zookeeper.address(),
            (None, None, None, None, None) => {
                format!("place-{}", PLACES.fetch_add(1, Ordering::SeqCst))
            }
        };
        let mut place = Place::at(kind, address, flaw, (server, deployed)).await;
        place.database = database;
        place.etcd = etcd;
        place.zookeeper = zookeeper;
        place
    }

    /// Another place, with a flaw, on the same servers where they are several.
    pub async fn beside(&self, flaw: Option<Flaw>) -> Place {
        let Some(deployed) = &self.deployed else {
            return Place::flawed(self.kind.name, flaw).await;
        };
        let servers = (None, Some(Arc::clone(deployed)));
        Place::at(self.kind, self.address.clone(), flaw, servers).await
    }

    async fn at(
        kind: &'static backends::LockKind,
        address: String,
        flaw: Option<Flaw>,
        (server, deployed): (Option<RedisServer>, Option<Arc<Deployed>>),
    ) -> Place {
        // Only the servers of several places tell them apart by it.
        let prefix = match (&deployed, kind.servers) {
            (Some(_), _) | (None, Servers::Etcd | Servers::Zookeeper) => {
                format!("test-{}:", PLACES.fetch_add(1, Ordering::SeqCst))
            }
            (None, _) => "test:".to_owned(),
        };
        let mut spec = ConnectSpec::new(address.clone());
        spec.flaw = flaw;
        let anchor = (kind.connect)(spec).await.expect("the service connects");
        Place {
            kind,
            address,
            flaw,
            prefix,
            server,
            deployed,
            database: None,
            etcd: None,
            zookeeper: None,
            _anchor: anchor,
        }
    }

    /// A manager with a connection of its own.
    pub async fn manager(&self) -> LockManager {
        self.manager_with_prefix(&self.prefix).await
    }

    pub async fn manager_with_prefix(&self, prefix: &str) -> LockManager {
        LockManager::new(self.service().await, ManagerOptions::new("test", prefix))
    }

    pub async fn service(&self) -> Arc<dyn LockService> {
        let mut spec = ConnectSpec::new(self.address.clone());
        spec.flaw = self.flaw;
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
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let several = (&self.deployed, &self.database);
            let blocked = match (&self.server, several, &self.etcd, &self.zookeeper) {
                (Some(server), ..) => super::redis_lab::blocked(server),
                (None, (Some(deployed), _), ..) => deployed.blocked() / deployed.ears,
                (None, (None, Some(database)), ..) => database.queue().await,
                (None, (None, None), Some(etcd), _) => etcd.queue(&self.prefix),
                (None, (None, None), None, Some(zookeeper)) => zookeeper.queue(&self.prefix),
                (None, (None, None), None, None) => {
                    return tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            if blocked == 1 {
                return;
            }
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

//! An empty place for a store of each kind, gone with the value; and what is the same of every store
//! that is on a server.

use super::gateway::Gateway;
use super::postgres_server::{Database, PostgresServer};
use super::proxy::{Mode, Proxy};
use super::redis_server::RedisServer;
use lockdrill::ids::{FencingToken, GrantId};
use lockdrill::store::{
    self, Attempt, Condition, Fence, ProtectedStore, StoreAnswer, StoreKind, StoreSpec,
};
use std::sync::{Mutex, MutexGuard};
use tempfile::TempDir;

/// Nothing happens where a store can be stopped.
pub const NO_STOP: &(dyn Fn() + Send + Sync) = &|| ();

/// A write under the first grant of a.
pub fn attempt(write: &str, fencing: u64) -> Attempt {
    Attempt {
        resource: "account".to_owned(),
        write: write.to_owned(),
        based_on: None,
        grant: Some(GrantId("a.1".to_owned())),
        fencing: Some(FencingToken(fencing)),
        job: None,
        if_pending: false,
    }
}

/// Where a store of one kind can be created.
pub struct StorePlace {
    kind: &'static StoreKind,
    location: String,
    _folder: Option<TempDir>,
    server: Option<RedisServer>,
    database: Option<Database>,
    gateway: Option<Mutex<Gateway>>,
}

impl StorePlace {
    /// A place for a store of this kind; a new kind gets its arm here.
    pub fn of(kind: &str) -> StorePlace {
        let (mut database, mut gateway) = (None, None);
        let (location, folder, server) = match kind {
            "sqlite" => {
                let folder = TempDir::new().unwrap();
                let file = folder.path().join("store.db").display().to_string();
                (file, Some(folder), None)
            }
            "redis" => {
                let server = RedisServer::start();
                (format!("redis://{}", server.address()), None, Some(server))
            }
            "postgres" => {
                let server = PostgresServer::shared();
                let made = database.insert(at_once(async { server.database().await }));
                (format!("postgres://{}", made.address()), None, None)
            }
            "http" => {
                let made = Gateway::start();
                let location = format!("http://{}", made.address());
                gateway = Some(Mutex::new(made));
                (location, None, None)
            }
            other => panic!("no place for a store of kind `{other}`"),
        };
        StorePlace {
            kind: store::find(kind).unwrap(),
            location,
            _folder: folder,
            server,
            database,
            gateway,
        }
    }

    pub fn spec(&self, fence: Fence) -> StoreSpec {
        StoreSpec {
            kind: self.kind.name.to_owned(),
            fence,
            once: false,
            idempotent: false,
            condition: Condition::Atomic,
            reads: lockdrill::store::Reads::Open,
            outbox: false,
            location: self.location.clone(),
            lab_zero_ns: 0,
        }
    }

    pub async fn create(&self, spec: &StoreSpec) -> Box<dyn ProtectedStore> {
        (self.kind.create)(spec).await.unwrap()
    }

    pub async fn open(&self, spec: &StoreSpec) -> Box<dyn ProtectedStore> {
        (self.kind.open)(spec).await.unwrap()
    }

    /// Why a store cannot be created here.
    pub async fn no_create(&self, spec: &StoreSpec) -> String {
        let created = (self.kind.create)(spec).await;
        created.err().expect("it is refused").to_string()
    }

    /// Why a store cannot be opened here.
    pub async fn no_open(&self, spec: &StoreSpec) -> String {
        let opened = (self.kind.open)(spec).await;
        opened.err().expect("it is refused").to_string()
    }

    /// A proxy before its server, and the location through it.
    async fn proxied(&self) -> (Proxy, String) {
        let (scheme, rest) = self
            .location
            .split_once("://")
            .expect("a server's location");
        let address = rest.split('/').next().unwrap_or(rest);
        let proxy = Proxy::before(address.to_owned()).await;
        let rest = rest.replacen(address, &proxy.address(), 1);
        (proxy, format!("{scheme}://{rest}"))
    }

    /// The server that it is on.
    pub fn server(&mut self) -> &mut RedisServer {
        self.server.as_mut().expect("a store on a server")
    }

    /// The gateway that it is behind.
    pub fn gateway(&self) -> MutexGuard<'_, Gateway> {
        self.gateway
            .as_ref()
            .expect("a store behind a gateway")
            .lock()
            .unwrap()
    }

    /// The database that it is in.
    pub fn database(&self) -> &Database {
        self.database.as_ref().expect("a store in a database")
    }

    /// Removes the store that was created here.
    pub fn empty(&self) {
        match (&self.server, &self.database) {
            (Some(server), _) => server.tell("FLUSHALL"),
            (None, Some(database)) => {
                let empty = "DROP SCHEMA public CASCADE; CREATE SCHEMA public";
                at_once(async { database.text(empty).await });
            }
            (None, None) if self.gateway.is_some() => self.gateway().empty(),
            (None, None) => {
                for part in ["", "-wal", "-shm"] {
                    // Not there yet is as good as removed.
                    let _ = std::fs::remove_file(format!("{}{part}", self.location));
                }
            }
        }
    }
}

/// A store of this kind is at none of these locations, and whoever opens one is told which.
pub async fn each_location_is_refused(kind: &str, locations: &[&str]) {
    let place = StorePlace::of(kind);
    for location in locations {
        let mut spec = place.spec(Fence::Atomic);
        spec.location = (*location).to_owned();
        let error = place.no_open(&spec).await;
        assert!(error.starts_with(&format!("store `{location}`")), "{error}");
    }
}

/// Its server was killed.
pub async fn what_cannot_be_sent_is_a_definite_failure(mut store: Box<dyn ProtectedStore>) {
    // The broken connection is found out by a question that may go unanswered.
    assert!(store.read("account").await.is_err());
    let answer = store.write(&attempt("a.write.1", 1), NO_STOP).await;
    assert!(matches!(answer, StoreAnswer::Failed(_)), "{answer:?}");
}

pub async fn a_write_whose_answer_is_cut_off_is_unknown_and_was_done(kind: &str) {
    let place = StorePlace::of(kind);
    let mut spec = place.spec(Fence::Atomic);
    let mut direct = place.create(&spec).await;
    let (proxy, location) = place.proxied().await;
    spec.location = location;
    let mut store = place.open(&spec).await;
    proxy.set(Mode::CloseAtReply);
    let answer = store.write(&attempt("a.write.1", 1), NO_STOP).await;
    assert!(matches!(answer, StoreAnswer::Unknown(_)), "{answer:?}");
    assert!(direct.log().await.unwrap()[0].accepted);

    proxy.set(Mode::Pass);
    let answer = store.write(&attempt("a.write.2", 1), NO_STOP).await;
    assert_eq!(answer, StoreAnswer::Accepted, "on a new connection");
}

/// `set`: changes what the store remembers as if the wall clock had been set by a second since.
pub async fn times_are_an_error_once_the_wall_clock_was_set(
    kind: &str,
    set: impl AsyncFnOnce(&mut StorePlace),
) {
    let mut place = StorePlace::of(kind);
    let spec = place.spec(Fence::Atomic);
    let mut store = place.create(&spec).await;
    store.write(&attempt("a.write.1", 1), NO_STOP).await;
    assert_eq!(store.log().await.unwrap().len(), 1);

    set(&mut place).await;
    let mut store = place.open(&spec).await;
    let error = store.log().await.unwrap_err().to_string();
    assert!(error.contains("wall clock was set"), "{error}");
}

/// Waits for it here; a runtime may be under way already.
fn at_once<T: Send>(what: impl Future<Output = T> + Send) -> T {
    let runtime = || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(what)
    };
    std::thread::scope(|scope| scope.spawn(runtime).join().unwrap())
}

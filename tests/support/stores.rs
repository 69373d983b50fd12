//! An empty place for a store of each kind; gone with the value.

use super::postgres_server::{Database, PostgresServer};
use super::redis_server::RedisServer;
use lockdrill::store::{self, Fence, ProtectedStore, StoreKind, StoreSpec};
use tempfile::TempDir;

/// Where a store of one kind can be created.
pub struct StorePlace {
    kind: &'static StoreKind,
    location: String,
    _folder: Option<TempDir>,
    server: Option<RedisServer>,
    database: Option<Database>,
}

impl StorePlace {
    /// A place for a store of this kind; a new kind gets its arm here.
    pub fn of(kind: &str) -> StorePlace {
        let mut database = None;
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
            other => panic!("no place for a store of kind `{other}`"),
        };
        StorePlace {
            kind: store::find(kind).unwrap(),
            location,
            _folder: folder,
            server,
            database,
        }
    }

    pub fn spec(&self, fence: Fence) -> StoreSpec {
        StoreSpec {
            kind: self.kind.name.to_owned(),
            fence,
            once: false,
            idempotent: false,
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

    /// The server that it is on.
    pub fn server(&mut self) -> &mut RedisServer {
        self.server.as_mut().expect("a store on a server")
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
            (None, None) => {
                for part in ["", "-wal", "-shm"] {
                    // Not there yet is as good as removed.
                    let _ = std::fs::remove_file(format!("{}{part}", self.location));
                }
            }
        }
    }
}

/// Waits for it here; a runtime may be under way already.
fn at_once<T: Send>(what: impl Future<Output = T> + Send) -> T {
    let runtime = || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(what)
    };
    std::thread::scope(|scope| scope.spawn(runtime).join().unwrap())
}

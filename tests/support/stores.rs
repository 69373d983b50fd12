//! An empty place for a store of each kind; gone with the value.

use super::redis_server::RedisServer;
use lockdrill::store::{self, Fence, ProtectedStore, StoreKind, StoreSpec};
use tempfile::TempDir;

/// Where a store of one kind can be created.
pub struct StorePlace {
    kind: &'static StoreKind,
    location: String,
    _folder: Option<TempDir>,
    server: Option<RedisServer>,
}

impl StorePlace {
    /// A place for a store of this kind; a new kind gets its arm here.
    pub fn of(kind: &str) -> StorePlace {
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
            other => panic!("no place for a store of kind `{other}`"),
        };
        StorePlace {
            kind: store::find(kind).unwrap(),
            location,
            _folder: folder,
            server,
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

    /// Removes the store that was created here.
    pub fn empty(&self) {
        match &self.server {
            Some(server) => server.tell("FLUSHALL"),
            None => {
                for part in ["", "-wal", "-shm"] {
                    // Not there yet is as good as removed.
                    let _ = std::fs::remove_file(format!("{}{part}", self.location));
                }
            }
        }
    }
}

//! What the lab starts for a store.

use std::net::SocketAddr;

/// A server that the lab starts for a store before it is created, beside the lock's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreServer {
    /// An empty `redis-server`.
    Redis,
    /// A `postgres` that nobody has used.
    Postgres,
    /// A gateway: `lockdrill` itself.
    Gateway,
}

impl StoreServer {
    /// The location of a store on such a server.
    pub fn location(self, address: SocketAddr) -> String {
        match self {
            StoreServer::Redis => format!("redis://{address}"),
            StoreServer::Postgres => format!("postgres://{address}"),
            StoreServer::Gateway => format!("http://{address}"),
        }
    }
}

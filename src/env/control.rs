//! The observer's own connection to a server, whatever the server is.

use crate::env::error::EnvError;
use crate::env::redis::observe::KeyLeft;
use crate::env::{etcd, observer, postgres, redis, zookeeper};
use crate::timeline::event::Change;
use std::time::Duration;

/// One connection; what each method does is said where it is done.
#[derive(Debug, Clone)]
pub enum Control {
    /// To a Redis server.
    Redis(redis::observe::Control),
    /// To a Postgres server.
    Postgres(postgres::observe::Control),
    /// To an etcd.
    Etcd(etcd::observe::Control),
    /// To a ZooKeeper.
    Zookeeper(zookeeper::observe::Control),
}

impl From<redis::observe::Control> for Control {
    fn from(control: redis::observe::Control) -> Control {
        Control::Redis(control)
    }
}

impl Control {
    /// A new connection to the same server.
    ///
    /// # Errors
    /// When the server does not answer within the limit.
    pub async fn anew(&self, limit: Duration) -> Result<Self, EnvError> {
        match self {
            Control::Redis(redis) => redis.anew(limit).await.map(Control::Redis),
            Control::Postgres(postgres) => postgres.anew(limit).await.map(Control::Postgres),
            Control::Etcd(etcd) => etcd.anew(limit).await.map(Control::Etcd),
            Control::Zookeeper(zookeeper) => zookeeper.anew(limit).await.map(Control::Zookeeper),
        }
    }

    /// The server's clock between two readings of ours: (before ns, after ns, server µs).
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn clock(&self) -> Result<(u64, u64, u64), EnvError> {
        match self {
            Control::Redis(redis) => redis.clock().await,
            Control::Postgres(postgres) => postgres.clock().await,
            Control::Etcd(_) | Control::Zookeeper(_) => Ok(observer::host_clock()),
        }
    }

    /// Gives the server a command of its own; its answer or its error, in words, and whether it
    /// was an answer.
    ///
    /// # Errors
    /// When the server says nothing at all.
    pub async fn tell(&self, words: &[String]) -> Result<(String, bool), EnvError> {
        match self {
            Control::Redis(redis) => redis.tell(words).await,
            Control::Postgres(_) => Ok(("Postgres has no such command".to_owned(), false)),
            Control::Etcd(_) => Ok(("etcd has no such command".to_owned(), false)),
            Control::Zookeeper(_) => Ok(("ZooKeeper has no such command".to_owned(), false)),
        }
    }

    /// What a setting is now; none if the server has no such setting.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn setting(&self, name: &str) -> Result<Option<String>, EnvError> {
        match self {
            Control::Redis(redis) => redis.setting(name).await,
            Control::Postgres(_) | Control::Etcd(_) | Control::Zookeeper(_) => Ok(None),
        }
    }

    /// How often the server has answered that it does not know a script; none if it has none.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn unknown_scripts(&self) -> Result<Option<u64>, EnvError> {
        match self {
            Control::Redis(redis) => redis.unknown_scripts().await.map(Some),
            Control::Postgres(_) | Control::Etcd(_) | Control::Zookeeper(_) => Ok(None),
        }
    }

    /// What the server holds of one lock: the key as a grant's effect would tell it, and the
    /// counter.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn held(&self, key: &str) -> Result<(Change, Option<u64>), EnvError> {
        match self {
            Control::Redis(redis) => redis.held(key).await,
            Control::Postgres(postgres) => postgres.held(key).await,
            Control::Etcd(etcd) => etcd.held(key).await,
            Control::Zookeeper(zookeeper) => zookeeper.held(key).await,
        }
    }

    /// The server's name of a lock.
    pub fn lock_key(&self, key: &str) -> String {
        match self {
            Control::Redis(redis) => redis.lock_key(key),
            Control::Postgres(postgres) => postgres.lock_key(key),
            Control::Etcd(etcd) => etcd.lock_key(key),
            Control::Zookeeper(zookeeper) => zookeeper.lock_key(key),
        }
    }

    /// Writes a mark into the stream.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn mark(&self, name: &str) -> Result<(), EnvError> {
        match self {
            Control::Redis(redis) => redis.mark(name).await,
            Control::Postgres(postgres) => postgres.mark(name).await,
            Control::Etcd(etcd) => etcd.mark(name).await,
            Control::Zookeeper(zookeeper) => zookeeper.mark(name).await,
        }
    }

    /// What is left of one lock; none if nothing is.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn left(&self, key: &str) -> Result<Option<KeyLeft>, EnvError> {
        match self {
            Control::Redis(redis) => redis.left(key).await,
            Control::Postgres(postgres) => postgres.left(key).await,
            Control::Etcd(etcd) => etcd.left(key).await,
            Control::Zookeeper(zookeeper) => zookeeper.left(key).await,
        }
    }
}

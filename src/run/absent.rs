//! Servers that not every machine has, and what brings them.

use crate::env::error::EnvError;
use crate::env::{etcd, postgres, zookeeper};
use crate::lock::backends::{self, Servers};
use crate::plan::Plan;
use crate::store::{self, StoreServer};

/// Which servers are meant: that of the lock, that of the store.
#[derive(Debug, Clone, Copy)]
pub struct Of {
    /// Of the lock.
    pub lock: bool,
    /// Of the store.
    pub store: bool,
}

/// The first of these servers of a plan that this machine does not have; none if it has all.
pub fn first(plan: &Plan, of: Of) -> Option<EnvError> {
    let stored = store::find(&plan.store.kind).and_then(|kind| kind.server);
    let on = |servers| of.lock && backends::live_on(&plan.lock.backend, servers);
    let stores = of.store && stored == Some(StoreServer::Postgres);
    let postgres = (on(Servers::Postgres) || stores).then(postgres::find::find);
    let etcd = on(Servers::Etcd).then(etcd::find::find);
    let zookeeper = on(Servers::Zookeeper).then(zookeeper::find::find);
    let missing = [
        postgres.and_then(Result::err),
        etcd.and_then(Result::err),
        zookeeper.and_then(Result::err),
    ];
    missing.into_iter().flatten().next()
}

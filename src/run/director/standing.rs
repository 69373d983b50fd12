//! Where everybody stands: which workers are ready or gone, which servers can answer.

use super::players::{Followed, Standing};
use super::scene::{ETCD, POSTGRES, SERVER, STORE, Scene, ZOOKEEPER};
use crate::env::control::Control;
use crate::env::edge::ServerProtocol;
use crate::lock::backends::{self, Servers};
use crate::plan::Service;
use std::net::SocketAddr;

impl Scene {
    /// Every worker's pipe has ended and the kernel has said that it is gone.
    pub fn workers_done(&self) -> bool {
        self.workers
            .values()
            .all(|worker| worker.closed && worker.exited)
    }

    /// Where a service listens, if it lives on a server.
    pub fn address(&self, service: Service) -> Option<SocketAddr> {
        let mut servers = self.servers.values();
        let found = servers.find(|server| server.service == service);
        found.map(|server| server.address)
    }

    /// The name of a service's server, if it lives on one; of several, the one that takes writes.
    pub fn server_name(&self, service: Service) -> Option<&str> {
        if service == Service::Lock && self.deployed.is_some() {
            return self.truth.takes_writes();
        }
        let mut servers = self.servers.iter();
        let found = servers.find(|(_, server)| server.service == service);
        found.map(|(name, _)| name.as_str())
    }

    /// What a service's server is called, in the record too.
    pub fn service_name(&self, service: Service) -> &'static str {
        match service {
            Service::Store => STORE,
            Service::Lock if self.locks_on_postgres() => POSTGRES,
            Service::Lock if self.locks_on_etcd() => ETCD,
            Service::Lock if self.locks_on_zookeeper() => ZOOKEEPER,
            Service::Lock => SERVER,
        }
    }

    /// What the lock's servers are called: one, or those of which a quorum has to agree.
    pub fn lock_servers(&self) -> Vec<String> {
        match self.plan.lock.voters {
            0 => vec![self.service_name(Service::Lock).to_owned()],
            _ => self.plan.lock.voters(),
        }
    }

    /// The lock lives on a Postgres server.
    pub fn locks_on_postgres(&self) -> bool {
        let backend = &self.plan.lock.backend;
        backends::live_on(backend, Servers::Postgres)
            || backends::live_on(backend, Servers::PostgresSessions)
    }

    /// The lock lives on an etcd.
    pub fn locks_on_etcd(&self) -> bool {
        backends::live_on(&self.plan.lock.backend, Servers::Etcd)
    }

    /// The lock lives on a ZooKeeper.
    pub fn locks_on_zookeeper(&self) -> bool {
        backends::live_on(&self.plan.lock.backend, Servers::Zookeeper)
    }

    /// What a server speaks.
    pub fn protocol(&self, server: &str) -> ServerProtocol {
        let server = self.servers.get(server);
        server.map_or(ServerProtocol::Plain, |server| server.protocol)
    }

    /// Whether a worker reaches a server over an edge of its own. Servers that tell each other's
    /// addresses are reached there.
    pub fn has_edges(&self, server: &str) -> bool {
        let server = self.servers.get(server);
        server.is_some_and(|server| server.service == Service::Store || self.deployed.is_none())
    }

    /// Servers that are followed and can answer, with the observer's connection.
    pub fn answering(&self) -> Vec<(String, Control)> {
        let servers = self.servers.iter();
        servers
            .filter(|(_, server)| {
                server.standing == Standing::Up
                    && matches!(
                        server.followed,
                        Followed::Stream
                            | Followed::Decoded(_)
                            | Followed::Watched(_)
                            | Followed::Logged(_)
                            | Followed::Appended(_)
                    )
            })
            .filter_map(|(name, server)| Some((name.clone(), server.control.clone()?)))
            .collect()
    }

    /// Every worker has stood at its start, or is gone.
    pub fn everybody_ready(&self) -> bool {
        let mut workers = self.workers.iter();
        self.plan.workers.len() == self.workers.len()
            && workers.all(|(name, worker)| worker.exited || self.ready.contains(name))
    }
}

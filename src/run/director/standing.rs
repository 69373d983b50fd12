//! Where everybody stands: which workers are ready or gone, which servers can answer.

use super::players::Standing;
use super::scene::{SERVER, Scene};
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

    /// The name of a service's server, if it lives on one.
    pub fn server_name(&self, service: Service) -> Option<&str> {
        let mut servers = self.servers.iter();
        let found = servers.find(|(_, server)| server.service == service);
        found.map(|(name, _)| name.as_str())
    }

    /// The lock server can answer.
    pub fn server_answers(&self) -> bool {
        let server = self.servers.get(SERVER);
        server.is_some_and(|server| server.standing == Standing::Up)
    }

    /// Every worker has stood at its start, or is gone.
    pub fn everybody_ready(&self) -> bool {
        let mut workers = self.workers.iter();
        self.plan.workers.len() == self.workers.len()
            && workers.all(|(name, worker)| worker.exited || self.ready.contains(name))
    }
}

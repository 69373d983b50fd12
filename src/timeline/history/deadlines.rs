//! Whether the lock's server tells until when a key lives.

use super::History;
use crate::lock::backends::{self, Servers};

impl History {
    /// Each effect that sets or moves a deadline says which. An etcd and a ZooKeeper tell none: a
    /// key has a lease all the same, lives for at least as long as its holder asked for, and goes
    /// some time after, since the server counts in whole seconds or ticks.
    pub fn tells_deadlines(&self) -> bool {
        let kind = backends::named(&self.plan.lock.backend);
        let servers = kind.map(|kind| kind.servers);
        !matches!(servers, Some(Servers::Etcd | Servers::Zookeeper))
    }
}

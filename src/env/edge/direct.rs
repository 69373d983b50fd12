//! `direct`: the worker talks to the server itself. Nothing can be injured.

use super::{
    EdgeError, EdgeEvent, EdgeId, Healed, Injured, Injury, Measured, Provider, ProviderKind,
    Surroundings, Upstream,
};
use crate::clock;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The registry entry.
pub const KIND: ProviderKind = ProviderKind {
    name: "direct",
    summary: "no proxy: the worker connects to the server itself; nothing can be injured",
    can,
    needs_namespace: false,
    server: None,
    make,
};

fn can(_: &Injury) -> Result<(), &'static str> {
    Err("nothing stands between the worker and the server")
}

fn make(_: &Surroundings) -> Result<Box<dyn Provider>, EdgeError> {
    Ok(Box::<Direct>::default())
}

/// Edges that are no more than a name.
#[derive(Debug, Default)]
pub struct Direct {
    open: BTreeSet<EdgeId>,
    /// Kept so that a listener waits, as with every other provider, until the edges are closed.
    listeners: Vec<UnboundedSender<EdgeEvent>>,
}

impl Direct {
    fn known(&self, edge: &EdgeId) -> Result<(), EdgeError> {
        if self.open.contains(edge) {
            return Ok(());
        }
        Err(EdgeError::Unknown(edge.clone()))
    }
}

#[async_trait::async_trait]
impl Provider for Direct {
    fn name(&self) -> &'static str {
        KIND.name
    }

    async fn open(&mut self, edge: &EdgeId, upstream: Upstream) -> Result<SocketAddr, EdgeError> {
        if !self.open.insert(edge.clone()) {
            return Err(EdgeError::Twice(edge.clone()));
        }
        Ok(upstream.address)
    }

    async fn injure(&mut self, edge: &EdgeId, injury: &Injury) -> Result<Injured, EdgeError> {
        self.known(edge)?;
        Err(EdgeError::Cannot {
            provider: KIND.name,
            injury: injury.word(),
            why: "nothing stands between the worker and the server".to_owned(),
        })
    }

    async fn heal(&mut self, edge: &EdgeId) -> Result<Healed, EdgeError> {
        self.known(edge)?;
        let now = clock::monotonic_ns();
        Ok(Healed {
            began_ns: now,
            removed_ns: now,
            measured: Measured::new(),
        })
    }

    async fn measure(&mut self, edge: &EdgeId) -> Result<Measured, EdgeError> {
        self.known(edge)?;
        Ok(Measured::new())
    }

    fn watch(&mut self) -> UnboundedReceiver<EdgeEvent> {
        let (sender, receiver) = unbounded_channel();
        self.listeners.push(sender);
        receiver
    }

    async fn close(&mut self) {
        self.open.clear();
        self.listeners.clear();
    }
}

//! `builtin`: a TCP proxy inside the lab. Nothing to install, every injury.
//!
//! What a connection sees. Silence: the proxy takes the bytes (the kernel of the sender sees them
//! acknowledged) and throws them away; a new connection is accepted, and if requests are silenced
//! the server does not learn of it. At the heal a connection that lost bytes is reset, for TCP
//! never leaves a hole in a stream; one that lost none goes on. An end of stream or a reset that
//! falls into a silence or a stall arrives at the heal. A stall and a delay take up to 4 MiB a
//! direction and connection; above that the sender is slowed down.

mod carry;
mod gate;
mod lane;
mod link;
mod resp;
mod rule;
mod talk;

use super::{
    EdgeError, EdgeEvent, EdgeId, Healed, Injured, Injury, Measured, Provider, ProviderKind,
    ServerProtocol, Surroundings, Upstream,
};
use crate::clock;
use gate::{Gate, Watchers};
use rule::Rule;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use tokio::sync::mpsc::UnboundedReceiver;

/// The registry entry.
pub const KIND: ProviderKind = ProviderKind {
    name: "builtin",
    summary: "a TCP proxy inside the lab: every injury, also of one chosen command or its reply",
    can: rule::can,
    needs_namespace: false,
    server: None,
    make,
};

fn make(_: &Surroundings) -> Result<Box<dyn Provider>, EdgeError> {
    Ok(Box::<Builtin>::default())
}

/// The edges of one arm.
#[derive(Debug, Default)]
pub struct Builtin {
    edges: BTreeMap<EdgeId, Opened>,
    watchers: Watchers,
}

#[derive(Debug)]
struct Opened {
    gate: Gate,
    protocol: ServerProtocol,
    /// The counters at the onset of the injury that it has.
    injured: Option<Measured>,
}

impl Builtin {
    fn edge(&mut self, edge: &EdgeId) -> Result<&mut Opened, EdgeError> {
        let unknown = || EdgeError::Unknown(edge.clone());
        self.edges.get_mut(edge).ok_or_else(unknown)
    }
}

/// Why this edge cannot have this injury.
fn check(injury: &Injury, protocol: ServerProtocol) -> Result<(), EdgeError> {
    let frames = injury.chosen().is_some();
    let allowed = match protocol {
        ServerProtocol::Plain
        | ServerProtocol::Postgres
        | ServerProtocol::Etcd
        | ServerProtocol::Zookeeper
        | ServerProtocol::Gateway
            if frames =>
        {
            Err("the server's protocol has no frames known here")
        }
        ServerProtocol::Plain
        | ServerProtocol::Postgres
        | ServerProtocol::Etcd
        | ServerProtocol::Zookeeper
        | ServerProtocol::Gateway
        | ServerProtocol::Redis => rule::can(injury),
    };
    allowed.map_err(|why| EdgeError::Cannot {
        provider: KIND.name,
        injury: injury.word(),
        why: why.to_owned(),
    })
}

#[async_trait::async_trait]
impl Provider for Builtin {
    fn name(&self) -> &'static str {
        KIND.name
    }

    async fn open(&mut self, edge: &EdgeId, upstream: Upstream) -> Result<SocketAddr, EdgeError> {
        if self.edges.contains_key(edge) {
            return Err(EdgeError::Twice(edge.clone()));
        }
        let gate = Gate::open(edge.clone(), upstream, self.watchers.clone()).await?;
        let address = gate.address;
        let opened = Opened {
            gate,
            protocol: upstream.protocol,
            injured: None,
        };
        self.edges.insert(edge.clone(), opened);
        Ok(address)
    }

    async fn injure(&mut self, edge: &EdgeId, injury: &Injury) -> Result<Injured, EdgeError> {
        let began_ns = clock::monotonic_ns();
        let opened = self.edge(edge)?;
        check(injury, opened.protocol)?;
        if opened.injured.is_some() {
            return Err(EdgeError::Injured(edge.clone()));
        }
        let onset = opened.gate.tally.since(&Measured::new());
        opened.injured = Some(onset);
        let live = opened.gate.set(Some(Rule::from(injury))).await?;
        let effective_ns = clock::monotonic_ns();
        let live = u64::try_from(live).unwrap_or(u64::MAX);
        let reset = if *injury == Injury::Reset { live } else { 0 };
        Ok(Injured {
            began_ns,
            effective_ns,
            measured: vec![
                ("connections".to_owned(), live),
                ("connections_reset".to_owned(), reset),
            ],
        })
    }

    async fn heal(&mut self, edge: &EdgeId) -> Result<Healed, EdgeError> {
        let began_ns = clock::monotonic_ns();
        let opened = self.edge(edge)?;
        let mut measured = Measured::new();
        if let Some(onset) = &opened.injured {
            opened.gate.set(None).await?;
            measured = opened.gate.tally.since(onset);
            opened.injured = None;
        }
        Ok(Healed {
            began_ns,
            removed_ns: clock::monotonic_ns(),
            measured,
        })
    }

    async fn measure(&mut self, edge: &EdgeId) -> Result<Measured, EdgeError> {
        Ok(self.edge(edge)?.gate.tally.since(&Measured::new()))
    }

    fn watch(&mut self) -> UnboundedReceiver<EdgeEvent> {
        self.watchers.join()
    }

    async fn close(&mut self) {
        for (_, opened) in std::mem::take(&mut self.edges) {
            opened.gate.close().await;
        }
        self.watchers.clear();
    }
}

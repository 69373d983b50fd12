//! `toxiproxy`: the real Toxiproxy server, one of the arm's own, driven through the crate
//! `toxiproxy_rust`.
//!
//! What a connection sees. Silence: Toxiproxy takes the bytes and throws them away; a new connection
//! is accepted, and the server behind learns of it. At the heal it closes every connection that
//! lived under the silence, also an idle one. A stall holds and a delay keeps what flows, and the
//! heal sends it on. What is closed is closed in good order: Toxiproxy resets no live connection, so
//! a reset is not to be had here. A side that closes its half of a connection closes all of it.
//!
//! The client ignores the HTTP status: after each change the proxy is read back and compared with
//! what was wanted. Only what then stands there was done.

mod api;
mod program;
mod toxics;

use super::{
    EdgeError, EdgeEvent, EdgeId, EdgeServer, Healed, Injured, Injury, Measured, Provider,
    ProviderKind, Surroundings, Upstream,
};
use crate::clock;
use api::Api;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use toxics::Toxic;

/// The registry entry.
pub const KIND: ProviderKind = ProviderKind {
    name: "toxiproxy",
    summary: "a real Toxiproxy server, started by each run: silence, stall and delay",
    can: toxics::can,
    needs_namespace: false,
    server: Some(&SERVER),
    make,
};

const SERVER: EdgeServer = EdgeServer {
    name: "toxiproxy",
    find: program::find,
    args: program::args,
    own_port: program::PORT,
};

fn make(surroundings: &Surroundings) -> Result<Box<dyn Provider>, EdgeError> {
    let address = surroundings
        .server
        .ok_or_else(|| EdgeError::Refused("no Toxiproxy server has been started".to_owned()))?;
    Ok(Box::new(Toxiproxy {
        api: Api::start(address)?,
        edges: BTreeMap::new(),
        proxies: 0,
        listeners: Vec::new(),
    }))
}

/// The edges of one arm.
#[derive(Debug)]
pub struct Toxiproxy {
    api: Api,
    edges: BTreeMap<EdgeId, Opened>,
    /// How many have been made.
    proxies: u64,
    /// Kept so that a listener waits, as with every other provider, until the edges are closed.
    listeners: Vec<UnboundedSender<EdgeEvent>>,
}

#[derive(Debug)]
struct Opened {
    /// The name of its proxy.
    proxy: String,
    /// What was added, and not yet seen to be gone.
    injured: Option<Vec<Toxic>>,
}

impl Toxiproxy {
    fn edge(&mut self, edge: &EdgeId) -> Result<(&Api, &mut Opened), EdgeError> {
        let unknown = || EdgeError::Unknown(edge.clone());
        let opened = self.edges.get_mut(edge).ok_or_else(unknown)?;
        Ok((&self.api, opened))
    }
}

/// The name goes into paths.
fn proxy_name(number: u64, edge: &EdgeId) -> String {
    let plain = |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    format!("{number}-{}-{}", plain(&edge.worker), plain(&edge.server))
}

fn measured(toxics: usize) -> Measured {
    let toxics = u64::try_from(toxics).unwrap_or(u64::MAX);
    vec![("toxics".to_owned(), toxics)]
}

#[async_trait::async_trait]
impl Provider for Toxiproxy {
    fn name(&self) -> &'static str {
        KIND.name
    }

    async fn open(&mut self, edge: &EdgeId, upstream: Upstream) -> Result<SocketAddr, EdgeError> {
        if self.edges.contains_key(edge) {
            return Err(EdgeError::Twice(edge.clone()));
        }
        self.proxies += 1;
        let proxy = proxy_name(self.proxies, edge);
        let address = self.api.create(&proxy, upstream.address).await?;
        let injured = None;
        self.edges.insert(edge.clone(), Opened { proxy, injured });
        Ok(address)
    }

    async fn injure(&mut self, edge: &EdgeId, injury: &Injury) -> Result<Injured, EdgeError> {
        let began_ns = clock::monotonic_ns();
        let (api, opened) = self.edge(edge)?;
        let wanted = toxics::of(injury).map_err(|why| EdgeError::Cannot {
            provider: KIND.name,
            injury: injury.word(),
            why: why.to_owned(),
        })?;
        if opened.injured.is_some() {
            return Err(EdgeError::Injured(edge.clone()));
        }
        opened.injured = Some(wanted.clone());
        let count = wanted.len();
        if let Err(error) = api.add(&opened.proxy, wanted.clone()).await {
            // The first error is the one to tell; what stays is taken away by the next heal.
            if api.clear(&opened.proxy, wanted).await.is_ok() {
                opened.injured = None;
            }
            return Err(error);
        }
        Ok(Injured {
            began_ns,
            effective_ns: clock::monotonic_ns(),
            measured: measured(count),
        })
    }

    async fn heal(&mut self, edge: &EdgeId) -> Result<Healed, EdgeError> {
        let began_ns = clock::monotonic_ns();
        let (api, opened) = self.edge(edge)?;
        let mut counted = Measured::new();
        if let Some(wanted) = &opened.injured {
            counted = measured(api.clear(&opened.proxy, wanted.clone()).await?);
            opened.injured = None;
        }
        Ok(Healed {
            began_ns,
            removed_ns: clock::monotonic_ns(),
            measured: counted,
        })
    }

    async fn measure(&mut self, edge: &EdgeId) -> Result<Measured, EdgeError> {
        self.edge(edge)?;
        Ok(Measured::new())
    }

    fn watch(&mut self) -> UnboundedReceiver<EdgeEvent> {
        let (sender, receiver) = unbounded_channel();
        self.listeners.push(sender);
        receiver
    }

    async fn close(&mut self) {
        for (_, opened) in std::mem::take(&mut self.edges) {
            // What cannot be deleted goes with the server.
            let _ = self.api.delete(&opened.proxy).await;
        }
        self.listeners.clear();
    }
}

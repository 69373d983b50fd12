//! `netfilter`: real packet loss by the kernel's packet filter, in the arm's own network
//! namespace, where all of 127.0.0.0/8 answers.
//!
//! Every edge is an address of its own with the server's port, so the server must listen on
//! 0.0.0.0. Nothing stands in between: a silenced connection is a TCP connection whose packets are
//! lost. It sends again, and after the heal goes on later than one might think: TCP waits up to as
//! long again as the silence was. A new connection hangs in its handshake, whichever way is cut.
//!
//! Each rule is read back after it was inserted and after it was deleted, and its packets are
//! counted by the kernel. Only rules that were inserted here are deleted, by their exact words.

mod opened;
mod programs;
mod rules;

use super::{
    EdgeError, EdgeEvent, EdgeId, Healed, Injured, Injury, Measured, Provider, ProviderKind,
    Surroundings, Upstream,
};
use crate::clock;
use crate::env::isolation::Mode;
use opened::Opened;
use programs::Programs;
use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The registry entry.
pub const KIND: ProviderKind = ProviderKind {
    name: "netfilter",
    summary: "real packet loss and real resets by iptables; only in a network namespace",
    can,
    needs_namespace: true,
    server: None,
    make,
};

/// Edges get the addresses from 127.0.1.1 to 127.0.250.250.
const ROOM: u32 = 250 * 250;
fn can(injury: &Injury) -> Result<(), &'static str> {
    match injury {
        Injury::Silence(_) | Injury::Reset => Ok(()),
        Injury::Stall(_) | Injury::Delay { .. } => {
            Err("the packet filter drops packets, it does not keep them")
        }
        Injury::HoldRequest(_)
        | Injury::HoldReply(_)
        | Injury::LoseRequest(_)
        | Injury::LoseReply(_) => Err("the packet filter sees packets, not commands"),
    }
}

fn make(surroundings: &Surroundings) -> Result<Box<dyn Provider>, EdgeError> {
    if surroundings.mode != Mode::Namespace {
        let text =
            "netfilter would change the machine's own network: it needs --isolation namespace";
        return Err(EdgeError::Refused(text.to_owned()));
    }
    is_private()?;
    Ok(Box::new(Netfilter {
        programs: Programs::find()?,
        edges: BTreeMap::new(),
        addresses: 0,
        listeners: Vec::new(),
    }))
}

/// A network namespace of an arm has no way out: no route at all outside of the local table.
fn is_private() -> Result<(), EdgeError> {
    let file = "/proc/thread-self/net/route";
    let routes = fs::read_to_string(file).map_err(EdgeError::io(file))?;
    if routes.lines().count() <= 1 {
        return Ok(());
    }
    let text = "netfilter would change a network that has routes to elsewhere";
    Err(EdgeError::Refused(text.to_owned()))
}

/// The edges of one arm.
#[derive(Debug)]
pub struct Netfilter {
    programs: Programs,
    edges: BTreeMap<EdgeId, Opened>,
    /// How many have been given out.
    addresses: u32,
    /// Kept so that a listener waits, as with every other provider, until the edges are closed.
    listeners: Vec<UnboundedSender<EdgeEvent>>,
}

impl Netfilter {
    fn edge(&mut self, edge: &EdgeId) -> Result<(&Programs, &mut Opened), EdgeError> {
        let unknown = || EdgeError::Unknown(edge.clone());
        let opened = self.edges.get_mut(edge).ok_or_else(unknown)?;
        Ok((&self.programs, opened))
    }

    fn next_address(&mut self, upstream: Upstream) -> Result<SocketAddrV4, EdgeError> {
        let full = || EdgeError::Refused("no address is left for another edge".to_owned());
        let n = self.addresses;
        let octet = |n: u32| u8::try_from(n + 1).map_err(|_| full());
        if n >= ROOM {
            return Err(full());
        }
        self.addresses += 1;
        let ip = Ipv4Addr::new(127, 0, octet(n / 250)?, octet(n % 250)?);
        Ok(SocketAddrV4::new(ip, upstream.address.port()))
    }
}

#[async_trait::async_trait]
impl Provider for Netfilter {
    fn name(&self) -> &'static str {
        KIND.name
    }

    async fn open(&mut self, edge: &EdgeId, upstream: Upstream) -> Result<SocketAddr, EdgeError> {
        if self.edges.contains_key(edge) {
            return Err(EdgeError::Twice(edge.clone()));
        }
        let address = self.next_address(upstream)?;
        self.edges.insert(edge.clone(), Opened::new(address));
        Ok(SocketAddr::V4(address))
    }

    async fn injure(&mut self, edge: &EdgeId, injury: &Injury) -> Result<Injured, EdgeError> {
        let began_ns = clock::monotonic_ns();
        let (programs, opened) = self.edge(edge)?;
        can(injury).map_err(|why| EdgeError::Cannot {
            provider: KIND.name,
            injury: injury.word(),
            why: why.to_owned(),
        })?;
        if !opened.is_well() {
            return Err(EdgeError::Injured(edge.clone()));
        }
        match opened.apply(programs, injury).await {
            Ok(measured) => Ok(Injured {
                began_ns,
                effective_ns: clock::monotonic_ns(),
                measured,
            }),
            Err(error) => {
                // The first error is the one to tell; what stays is deleted by the next heal.
                let _ = opened.remove(programs).await;
                Err(error)
            }
        }
    }

    async fn heal(&mut self, edge: &EdgeId) -> Result<Healed, EdgeError> {
        let began_ns = clock::monotonic_ns();
        let (programs, opened) = self.edge(edge)?;
        let mut measured = Measured::new();
        if !opened.is_well() {
            measured = opened.remove(programs).await?;
        }
        Ok(Healed {
            began_ns,
            removed_ns: clock::monotonic_ns(),
            measured,
        })
    }

    async fn measure(&mut self, edge: &EdgeId) -> Result<Measured, EdgeError> {
        let (programs, opened) = self.edge(edge)?;
        opened.measure(programs).await
    }

    fn watch(&mut self) -> UnboundedReceiver<EdgeEvent> {
        let (sender, receiver) = unbounded_channel();
        self.listeners.push(sender);
        receiver
    }

    async fn close(&mut self) {
        for (_, mut opened) in std::mem::take(&mut self.edges) {
            // What cannot be deleted goes with the namespace.
            let _ = opened.remove(&self.programs).await;
        }
        self.listeners.clear();
    }
}

//! Edges: every worker reaches every server over one of its own, so that one can be injured and
//! the others left alone. A provider makes edges and injures them; which injuries it can do is
//! known before anything starts.
//!
//! A provider never does what TCP cannot: on one connection the bytes of one direction arrive in
//! order and without a hole, or they do not arrive. So what follows a held or lost frame on the
//! same connection waits or is lost with it, and a connection that lost bytes is reset at the heal.
//!
//! How to add one: a file with a `KIND` and a type that is a [`Provider`], and its two lines here.

use crate::env::isolation::Mode;
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio::sync::mpsc::UnboundedReceiver;

pub mod builtin;
pub mod direct;
mod error;
pub mod netfilter;
pub mod probe;
#[cfg(feature = "toxiproxy")]
pub mod toxiproxy;
mod words;

pub use error::EdgeError;
pub use words::{
    Chosen, EdgeEvent, EdgeId, Happening, Healed, Injured, Injury, Measured, ServerProtocol,
    Upstream, Way,
};

/// What a provider must know of where it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surroundings {
    /// How the arm is kept apart from the machine.
    pub mode: Mode,
    /// Where the provider's own server answers, if it has one.
    pub server: Option<SocketAddr>,
}

/// A server program that makes the edges of a provider; each arm starts one of its own.
#[derive(Debug)]
pub struct EdgeServer {
    /// Its name in the record, and of its log.
    pub name: &'static str,
    /// The program. Fails where it is not on this machine: with what brings it.
    pub find: fn() -> Result<PathBuf, EdgeError>,
    /// Its arguments, from the address where it is to answer.
    pub args: fn(SocketAddr) -> Vec<String>,
    /// Where it answers in a network of the arm's own.
    pub own_port: u16,
}

/// One entry of the registry.
#[derive(Debug)]
pub struct ProviderKind {
    /// Name in experiment files and on the command line.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Whether it can do this injury, and if not, why; nothing is started to find out.
    pub can: fn(&Injury) -> Result<(), &'static str>,
    /// It may run only where the arm has a network namespace of its own.
    pub needs_namespace: bool,
    /// What must run before it is made, if something must.
    pub server: Option<&'static EdgeServer>,
    /// A provider without edges. Fails where the surroundings are not what it needs or a program
    /// that it drives is missing.
    pub make: fn(&Surroundings) -> Result<Box<dyn Provider>, EdgeError>,
}

/// Every provider.
pub const ALL: &[&ProviderKind] = &[
    &builtin::KIND,
    &direct::KIND,
    &netfilter::KIND,
    #[cfg(feature = "toxiproxy")]
    &toxiproxy::KIND,
];

/// The provider of this name.
pub fn find(name: &str) -> Option<&'static ProviderKind> {
    ALL.iter().copied().find(|kind| kind.name == name)
}

/// Makes edges, injures and heals them. Must be used inside a tokio runtime.
///
/// Errors are always about this machine or about a caller that asks for what cannot be: an edge
/// that was not opened, an injury on an edge that has one, an injury that [`ProviderKind::can`]
/// refuses. None of them leaves a half-done injury behind.
#[async_trait::async_trait]
pub trait Provider: Send {
    /// The name of its [`ProviderKind`].
    fn name(&self) -> &'static str;

    /// Opens an edge and says where the worker connects.
    ///
    /// # Errors
    /// When the edge is open already, or no address is to be had for it.
    async fn open(&mut self, edge: &EdgeId, upstream: Upstream) -> Result<SocketAddr, EdgeError>;

    /// Injures an edge. When it returns, connections that live have it and new ones will.
    ///
    /// # Errors
    /// When the edge is unknown or injured already, or this provider cannot do it.
    async fn injure(&mut self, edge: &EdgeId, injury: &Injury) -> Result<Injured, EdgeError>;

    /// Ends the injury. When it returns, no connection has it any more; what was held is on its way.
    /// An edge without an injury is healed already: that is no error.
    ///
    /// # Errors
    /// When the edge is unknown, or the injury could not be taken away.
    async fn heal(&mut self, edge: &EdgeId) -> Result<Healed, EdgeError>;

    /// What an edge has counted since it was opened; names as in [`Measured`].
    ///
    /// # Errors
    /// When the edge is unknown, or its counters cannot be read.
    async fn measure(&mut self, edge: &EdgeId) -> Result<Measured, EdgeError>;

    /// What happens to chosen commands from now on, on every edge. Each call makes a new listener;
    /// a provider that cannot choose commands never says anything.
    fn watch(&mut self) -> UnboundedReceiver<EdgeEvent>;

    /// Heals and closes every edge, and takes away what it left on the machine. Never fails: what
    /// cannot be taken away goes with the arm.
    async fn close(&mut self);
}

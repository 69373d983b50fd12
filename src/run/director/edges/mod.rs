//! The edges of an arm: opened before the first worker starts, injured and mended by faults, and
//! tried by a stranger at each turn, so that the record shows what a fault really did.

mod choose;
mod hurt;
mod server;

pub use hurt::{injure, mend};
pub use server::EdgeServing;

use super::DirectorError;
use super::incoming::Incoming;
use super::scene::Scene;
use crate::env::edge::probe::{Probe, probe};
use crate::env::edge::{EdgeError, EdgeEvent, EdgeId, Happening, Provider, Upstream};
use crate::env::error::EnvError;
use crate::plan::Service;
use crate::timeline::event::{By, Event, FrameFate, Seen};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// Longest wait for an answer through an edge that is thought to be cut.
const CUT_MAX: Duration = Duration::from_millis(150);

/// Longest wait for an answer through an edge that is thought to work.
const WORKING_MAX: Duration = Duration::from_secs(5);

/// What to do about edges that cannot be made.
const CHOOSE: &str =
    "run `lockdrill doctor`, or choose another proxy with --set network.proxy=builtin";

/// Every edge of an arm, and who makes them.
pub struct Edges {
    provider: Box<dyn Provider>,
    /// Where each worker connects.
    at: BTreeMap<EdgeId, SocketAddr>,
    /// The fault that struck an edge last.
    struck_by: BTreeMap<EdgeId, String>,
}

impl Edges {
    /// Heals and closes every edge.
    pub async fn close(&mut self) {
        self.provider.close().await;
    }

    /// Where they listen.
    pub fn places(&self) -> impl Iterator<Item = SocketAddr> {
        self.at.values().copied()
    }
}

/// Opens an edge from every worker to every server.
pub async fn open(scene: &mut Scene) -> Result<(), DirectorError> {
    let (kind, mut provider) = choose::provider(scene).await?;
    let mut at = BTreeMap::new();
    let servers: Vec<(String, Upstream)> = scene
        .servers
        .iter()
        .filter(|(name, _)| scene.has_edges(name))
        .map(|(name, server)| {
            let upstream = Upstream {
                address: server.address,
                protocol: server.protocol,
            };
            (name.clone(), upstream)
        })
        .collect();
    for worker in scene.plan.workers.clone() {
        for (server, upstream) in &servers {
            let edge = EdgeId::new(&worker.name, server);
            let opened = provider.open(&edge, *upstream).await.map_err(broken)?;
            let works = probe(opened, upstream.protocol, WORKING_MAX).await;
            if seen(&works) != Seen::Answered {
                let what = format!("edge {edge} by {} does not work: {works:?}", kind.name);
                return Err(DirectorError::Env(EnvError::new(what, CHOOSE)));
            }
            scene.record_lab(Event::EdgeOpened {
                edge: edge.to_string(),
                provider: kind.name.to_owned(),
            })?;
            at.insert(edge, opened);
        }
    }
    let mut happenings = provider.watch();
    let out = scene.outbox.clone();
    tokio::spawn(async move {
        while let Some(event) = happenings.recv().await {
            if out.send(Incoming::Edge(event)).is_err() {
                return;
            }
        }
    });
    scene.edges = Some(Edges {
        provider,
        at,
        struck_by: BTreeMap::new(),
    });
    Ok(())
}

fn broken(error: EdgeError) -> DirectorError {
    DirectorError::Env(EnvError::new(error.to_string(), CHOOSE))
}

/// Where a worker reaches a service.
pub fn address(scene: &Scene, worker: &str, service: Service) -> Option<SocketAddr> {
    let server = scene.server_name(service)?;
    let edges = scene.edges.as_ref()?;
    edges.at.get(&EdgeId::new(worker, server)).copied()
}

/// The edges from these workers to a service.
pub fn to(scene: &Scene, workers: &[String], service: Service) -> Result<Vec<EdgeId>, String> {
    let server = scene.server_name(service);
    let server = server.ok_or_else(|| format!("the {} has no server", service.word()))?;
    let edges = workers.iter().map(|worker| EdgeId::new(worker, server));
    Ok(edges.collect())
}

fn place(scene: &Scene, edge: &EdgeId) -> Option<SocketAddr> {
    scene.edges.as_ref()?.at.get(edge).copied()
}

/// Puts what happened to a chosen frame on the record.
pub fn happened(scene: &mut Scene, event: EdgeEvent) -> Result<(), DirectorError> {
    let EdgeEvent { edge, at_ns, what } = event;
    let struck_by = scene
        .edges
        .as_ref()
        .and_then(|edges| edges.struck_by.get(&edge));
    let Some(fault) = struck_by.cloned() else {
        return Ok(());
    };
    let (fate, way) = match what {
        Happening::Held { way, .. } => (FrameFate::Held, way),
        Happening::Delivered { way, .. } => (FrameFate::Delivered, way),
        Happening::Dropped { way, .. } => (FrameFate::Dropped, way),
        Happening::Refused { way, .. } => (FrameFate::Refused, way),
        Happening::Plain { connection, why } => {
            let text = format!("{edge}: the frames of connection {connection} are not read: {why}");
            return scene.record_lab(Event::Note { text });
        }
    };
    scene.record(
        scene.lab(at_ns),
        By::Lab,
        Event::Frame {
            fault,
            edge: edge.to_string(),
            what: fate,
            reply: way.to_client(),
        },
    )
}

/// What a probe comes to.
pub fn seen(probe: &Probe) -> Seen {
    match probe {
        Probe::Answered { .. } | Probe::Connected { .. } => Seen::Answered,
        Probe::Silent => Seen::Silent,
        Probe::Refused => Seen::Refused,
        Probe::ResetByPeer | Probe::Closed => Seen::Broken,
        Probe::Failed(_) => Seen::Unknown,
    }
}

//! The edges of an arm: opened before the first worker starts, injured and mended by faults, and
//! tried by a stranger at each turn, so that the record shows what a fault really did.

use super::DirectorError;
use super::incoming::Incoming;
use super::players::Struck;
use super::scene::Scene;
use crate::env::edge::probe::{Canary, Crossing, Probe, probe};
use crate::env::edge::{
    self, Chosen, EdgeError, EdgeEvent, EdgeId, Happening, Injury, Provider, ProviderKind,
    ServerProtocol, Surroundings, Upstream,
};
use crate::env::error::EnvError;
use crate::faults;
use crate::lock::backends;
use crate::lock::flaws::Flaw;
use crate::lock::probe::Command;
use crate::plan::{AUTO, Asks, ChosenCommand, FaultPlan, Service};
use crate::timeline::event::{By, Event, FrameFate, Seen};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::Instant;

/// Longest wait for an answer through an edge that is thought to be cut.
const CUT_MAX: Duration = Duration::from_millis(150);

/// Longest wait for an answer through an edge that is thought to work.
const WORKING_MAX: Duration = Duration::from_secs(5);

/// What to do about edges that cannot be made.
const CHOOSE: &str =
    "run `lockdrill doctor`, or choose another proxy with --set network.proxy=builtin";

/// In this order `auto` takes the first that can do what the faults ask for.
const PREFERRED: &[&str] = &["toxiproxy", "builtin"];

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
}

/// Opens an edge from every worker to every server.
pub async fn open(scene: &mut Scene) -> Result<(), DirectorError> {
    let (kind, mut provider) = provider(scene)?;
    let mut at = BTreeMap::new();
    let servers: Vec<(String, SocketAddr)> = scene
        .servers
        .iter()
        .map(|(name, server)| (name.clone(), server.address))
        .collect();
    for worker in scene.plan.workers.clone() {
        for (server, address) in &servers {
            let edge = EdgeId::new(&worker.name, server);
            let upstream = Upstream {
                address: *address,
                protocol: ServerProtocol::Redis,
            };
            let opened = provider.open(&edge, upstream).await.map_err(broken)?;
            let works = probe(opened, ServerProtocol::Redis, WORKING_MAX).await;
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

/// Who makes this arm's edges.
fn provider(scene: &Scene) -> Result<(&'static ProviderKind, Box<dyn Provider>), DirectorError> {
    let surroundings = Surroundings {
        mode: scene.spec.isolation,
    };
    let wanted = scene.plan.network.proxy.as_str();
    if wanted != AUTO {
        let kind = edge::find(wanted)
            .ok_or_else(|| DirectorError::Bug(format!("no provider `{wanted}`")))?;
        return Ok((kind, (kind.make)(&surroundings).map_err(broken)?));
    }
    let injuries: Vec<Injury> = scene
        .faults
        .iter()
        .filter_map(|fault| injury(scene, &fault.plan).ok())
        .collect();
    if injuries.is_empty() {
        let kind = &edge::direct::KIND;
        return Ok((kind, (kind.make)(&surroundings).map_err(broken)?));
    }
    let able = PREFERRED.iter().filter_map(|name| edge::find(name));
    let able = able.filter(|kind| injuries.iter().all(|injury| (kind.can)(injury).is_ok()));
    let mut why = DirectorError::Bug("no provider can do what the faults ask for".to_owned());
    for kind in able {
        match (kind.make)(&surroundings) {
            Ok(provider) => return Ok((kind, provider)),
            Err(error) => why = broken(error),
        }
    }
    Err(why)
}

/// What a fault of the plan does to an edge.
fn injury(scene: &Scene, plan: &FaultPlan) -> Result<Injury, String> {
    let harm = faults::find(&plan.kind).and_then(faults::FaultKind::harm);
    let harm = harm.ok_or_else(|| format!("`{}` is no fault of edges", plan.kind))?;
    Ok(harm.injury(chosen(scene, plan.command.as_ref())?))
}

fn chosen(scene: &Scene, command: Option<&ChosenCommand>) -> Result<Chosen, String> {
    let Some(ChosenCommand { asks, nth }) = command else {
        return Ok(Chosen {
            marks: Vec::new(),
            nth: 1,
        });
    };
    let lock = &scene.plan.lock;
    let kind = backends::named(&lock.backend).ok_or("no such lock back end")?;
    let flaw = lock.flaw.as_deref().and_then(Flaw::named);
    let command = match asks {
        Asks::Acquire => Command::Acquire,
        Asks::Renew => Command::AutoRenew,
        Asks::Release => Command::Release,
    };
    let marks = (kind.on_the_wire)(flaw, command);
    if marks.is_empty() {
        return Err(format!(
            "no request of `{}` can be told from others",
            kind.name
        ));
    }
    Ok(Chosen { marks, nth: *nth })
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

/// Injures edges; a stranger's tries before and after show what that did. The inner error is why
/// it could not be done; edges that were injured already are mended.
pub async fn injure(
    scene: &mut Scene,
    plan: &FaultPlan,
    struck: &Struck,
) -> Result<Result<(u64, u64), String>, DirectorError> {
    let Struck::Edges(hit, _) = struck else {
        return Err(DirectorError::Bug(
            "an injury of what is no edge".to_owned(),
        ));
    };
    let injury = match injury(scene, plan) {
        Ok(injury) => injury,
        Err(why) => return Ok(Err(why)),
    };
    let tried = injury.chosen().is_none();
    let mut canaries = BTreeMap::new();
    if tried {
        for edge in hit {
            let Some(at) = place(scene, edge) else {
                continue;
            };
            if let Ok(canary) = Canary::open(at, WORKING_MAX).await {
                canaries.insert(edge.clone(), canary);
            }
        }
    }
    let (mut began, mut effective) = (u64::MAX, 0);
    let Some(edges) = scene.edges.as_mut() else {
        return Err(DirectorError::Bug("no edges".to_owned()));
    };
    for edge in hit {
        match edges.provider.injure(edge, &injury).await {
            Ok(done) => {
                began = began.min(done.began_ns);
                effective = effective.max(done.effective_ns);
                edges.struck_by.insert(edge.clone(), plan.name.clone());
            }
            Err(error) => {
                for edge in hit {
                    // What was not injured is healed already.
                    let _ = edges.provider.heal(edge).await;
                }
                return Ok(Err(error.to_string()));
            }
        }
    }
    let (began, effective) = (scene.lab(began), scene.lab(effective));
    if tried {
        try_all(scene, plan, (hit, canaries)).await?;
    }
    Ok(Ok((began, effective)))
}

/// Tries every edge that was hit, and every other of the same workers, all at once.
async fn try_all(
    scene: &mut Scene,
    plan: &FaultPlan,
    (hit, mut canaries): (&[EdgeId], BTreeMap<EdgeId, Canary>),
) -> Result<(), DirectorError> {
    let Some(edges) = &scene.edges else {
        return Ok(());
    };
    let same_worker = |edge: &EdgeId| hit.iter().any(|struck| struck.worker == edge.worker);
    let mut tries = tokio::task::JoinSet::new();
    for (edge, at) in edges.at.iter().filter(|(edge, _)| same_worker(edge)) {
        let (edge, at) = (edge.clone(), *at);
        let struck = hit.contains(&edge);
        let canary = canaries.remove(&edge);
        let direct = scene.servers.get(&edge.server).map(|server| server.address);
        let limit = if struck { CUT_MAX } else { WORKING_MAX };
        tries.spawn(async move {
            let old = async {
                match canary.zip(direct) {
                    Some((canary, direct)) => Some(crossed(canary.ask(direct, CUT_MAX).await.0)),
                    None => None,
                }
            };
            let (fresh, old) = tokio::join!(probe(at, ServerProtocol::Redis, limit), old);
            (edge, struck, seen(&fresh), old)
        });
    }
    while let Some(tried) = tries.join_next().await {
        let Ok((edge, hit, fresh, old)) = tried else {
            continue;
        };
        scene.record_lab(Event::Probe {
            fault: plan.name.clone(),
            moment: "cut".to_owned(),
            edge: edge.to_string(),
            hit,
            fresh,
            old,
        })?;
    }
    Ok(())
}

/// Mends edges; the time at which each of them answered a stranger again, if all did.
pub async fn mend(
    scene: &mut Scene,
    fault: &str,
    hit: &[EdgeId],
) -> Result<Option<u64>, DirectorError> {
    for edge in hit {
        let Some(edges) = scene.edges.as_mut() else {
            return Ok(None);
        };
        edges.provider.heal(edge).await.map_err(broken)?;
    }
    let mut all = true;
    for edge in hit {
        let until = Instant::now() + WORKING_MAX;
        let mut fresh = Seen::Unknown;
        while let Some(at) = place(scene, edge) {
            fresh = seen(&probe(at, ServerProtocol::Redis, CUT_MAX).await);
            if fresh == Seen::Answered || Instant::now() > until {
                break;
            }
        }
        all &= fresh == Seen::Answered;
        scene.record_lab(Event::Probe {
            fault: fault.to_owned(),
            moment: "healed".to_owned(),
            edge: edge.to_string(),
            hit: true,
            fresh,
            old: None,
        })?;
    }
    Ok(all.then(|| scene.now()))
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

fn seen(probe: &Probe) -> Seen {
    match probe {
        Probe::Answered { .. } | Probe::Connected { .. } => Seen::Answered,
        Probe::Silent => Seen::Silent,
        Probe::Refused => Seen::Refused,
        Probe::ResetByPeer | Probe::Closed => Seen::Broken,
        Probe::Failed(_) => Seen::Unknown,
    }
}

fn crossed(crossing: Crossing) -> Seen {
    match crossing {
        Crossing::Answered { .. } => Seen::Answered,
        Crossing::ReplyLost => Seen::ReplyLost,
        Crossing::NeverArrived => Seen::NeverArrived,
        Crossing::Broken(_) => Seen::Broken,
        Crossing::Unknown(_) => Seen::Unknown,
    }
}

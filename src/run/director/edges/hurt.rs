//! Injures and mends edges, and lets a stranger try them: after the onset, just before the heal,
//! and after it.

use super::{CUT_MAX, WORKING_MAX, broken, choose, place, seen};
use crate::env::edge::EdgeId;
use crate::env::edge::probe::{Canary, Crossing, probe};
use crate::env::sockets;
use crate::faults;
use crate::plan::FaultPlan;
use crate::run::director::DirectorError;
use crate::run::director::players::Struck;
use crate::run::director::scene::Scene;
use crate::timeline::event::{Event, Seen};
use std::collections::BTreeMap;
use tokio::task::JoinSet;
use tokio::time::Instant;

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
    let injury = match choose::injury(scene, plan) {
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
            let protocol = scene.protocol(&edge.server);
            if let Ok(canary) = Canary::open(at, protocol, WORKING_MAX).await {
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
    let mut tries = JoinSet::new();
    for (edge, at) in edges.at.iter().filter(|(edge, _)| same_worker(edge)) {
        let (edge, at) = (edge.clone(), *at);
        let struck = hit.contains(&edge);
        let canary = canaries.remove(&edge);
        let direct = scene.servers.get(&edge.server).map(|server| server.address);
        let limit = if struck { CUT_MAX } else { WORKING_MAX };
        let protocol = scene.protocol(&edge.server);
        tries.spawn(async move {
            let old = async {
                match canary.zip(direct) {
                    Some((canary, direct)) => Some(crossed(canary.ask(direct, CUT_MAX).await.0)),
                    None => None,
                }
            };
            let (fresh, old) = tokio::join!(probe(at, protocol, limit), old);
            (edge, struck, seen(&fresh), old)
        });
    }
    on_record(scene, (&plan.name, "cut"), tries).await?;
    look_past(scene, &plan.name, hit)
}

/// Tries every edge that was hit once more, so that an injury that somebody has taken away
/// meanwhile is not taken for one that lasted.
async fn try_again(scene: &mut Scene, fault: &str, hit: &[EdgeId]) -> Result<(), DirectorError> {
    let mut tries = JoinSet::new();
    for edge in hit {
        if let Some(at) = place(scene, edge) {
            let edge = edge.clone();
            let protocol = scene.protocol(&edge.server);
            tries.spawn(async move {
                let fresh = probe(at, protocol, CUT_MAX).await;
                (edge, true, seen(&fresh), None)
            });
        }
    }
    on_record(scene, (fault, "heal"), tries).await?;
    look_past(scene, fault, hit)
}

/// Whether a worker whose edge was hit has a way to the server past it, which nobody has hurt.
fn look_past(scene: &mut Scene, fault: &str, hit: &[EdgeId]) -> Result<(), DirectorError> {
    for edge in hit {
        let worker = scene.workers.get(&edge.worker);
        let worker = worker.filter(|worker| !worker.exited);
        let server = scene.servers.get(&edge.server);
        let Some((worker, server)) = worker.zip(server) else {
            continue;
        };
        let fresh = match sockets::connections(worker.pid, server.address) {
            Ok(0) => Seen::NeverArrived,
            Ok(_) => Seen::Answered,
            Err(_) => Seen::Unknown,
        };
        scene.record_lab(Event::Probe {
            fault: fault.to_owned(),
            moment: "past".to_owned(),
            edge: edge.to_string(),
            hit: true,
            fresh,
            old: None,
        })?;
    }
    Ok(())
}

async fn on_record(
    scene: &mut Scene,
    (fault, moment): (&str, &str),
    mut tries: JoinSet<(EdgeId, bool, Seen, Option<Seen>)>,
) -> Result<(), DirectorError> {
    while let Some(tried) = tries.join_next().await {
        let Ok((edge, hit, fresh, old)) = tried else {
            continue;
        };
        scene.record_lab(Event::Probe {
            fault: fault.to_owned(),
            moment: moment.to_owned(),
            edge: edge.to_string(),
            hit,
            fresh,
            old,
        })?;
    }
    Ok(())
}

/// Mends edges; the time just before that, and the time at which each of them answered a stranger
/// again, if all did.
pub async fn mend(
    scene: &mut Scene,
    fault: &str,
    hit: &[EdgeId],
) -> Result<(u64, Option<u64>), DirectorError> {
    let mut faults = scene.faults.iter();
    let plan = faults.find(|with| with.plan.name == fault);
    let harm = plan.and_then(|with| faults::find(&with.plan.kind)?.harm());
    if harm.is_some_and(|harm| !harm.chooses()) {
        try_again(scene, fault, hit).await?;
    }
    let began = scene.now();
    for edge in hit {
        let Some(edges) = scene.edges.as_mut() else {
            return Ok((began, None));
        };
        edges.provider.heal(edge).await.map_err(broken)?;
    }
    let mut all = true;
    for edge in hit {
        let until = Instant::now() + WORKING_MAX;
        let mut fresh = Seen::Unknown;
        while let Some(at) = place(scene, edge) {
            fresh = seen(&probe(at, scene.protocol(&edge.server), CUT_MAX).await);
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
    Ok((began, all.then(|| scene.now())))
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

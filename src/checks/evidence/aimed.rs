//! Proof that a fault hit whom it was to hit.

use super::Proof;
use crate::checks::say::secs;
use crate::plan::{FaultPlan, Target};
use crate::timeline::history::{FaultWindow, History};

/// Requires it.
pub(super) fn prove(history: &History, plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let name = &plan.name;
    let hit = window.worker.map(|worker| history.worker_name(worker));
    let began = window.onsets.first().map_or(0, |onset| onset.began);
    match &plan.target {
        Target::Worker(worker) => proof.require(hit == Some(worker), || {
            format!("{name} did not hit {worker}")
        }),
        Target::Everyone => {}
        Target::Member(member) => proof.require(window.server.as_ref() == Some(member), || {
            format!("{name} did not hit {member}")
        }),
        Target::Server(_) => match &window.server {
            None => proof.lacks(format!("{name} did not hit a server")),
            Some(server) => proof.require(ruled(history, server, began), || {
                format!("{name} hit {server}, which did not take writes then")
            }),
        },
        Target::Holder => {
            let grant = window.grant.as_ref().and_then(|id| history.grant_of(id));
            let held = grant.is_some_and(|grant| {
                grant.worker == window.worker
                    && grant.definite.is_some_and(|span| span.contains(began))
            });
            proof.events.extend(grant.map(|grant| grant.seq));
            proof.require(held, || {
                let hit = hit.unwrap_or("nobody");
                format!(
                    "{name} hit {hit}, who did not certainly hold the lock at {}",
                    secs(began)
                )
            });
        }
    }
}

/// It is the only server, or the one of several that took writes.
fn ruled(history: &History, server: &str, at: u64) -> bool {
    !history.is_one_of_several(server) || history.took_writes(server, at)
}

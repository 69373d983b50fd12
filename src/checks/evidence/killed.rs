//! Proof that a process was killed, and that a killed server came back.

use super::Proof;
use crate::checks::say::secs;
use crate::plan::FaultPlan;
use crate::timeline::event::Seen;
use crate::timeline::history::{FaultWindow, History, Life, NEVER};

/// SIGKILL's number.
const SIGKILL: i32 = 9;

/// The kernel told the parent that SIGKILL ended the target's process, between the call and the
/// moment that the lab calls the effect.
pub(super) fn prove(history: &History, plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let name = &plan.name;
    let Some(onset) = window.onsets.first() else {
        return;
    };
    let Some((who, lives)) = target(history, window) else {
        proof.lacks(format!("{name} killed nobody"));
        return;
    };
    let life = lives.iter().rfind(|life| life.started <= onset.began);
    let exit = life.and_then(|life| life.exit);
    let Some(exit) = exit else {
        proof.lacks(format!("{name}: it is not shown that {who} ended"));
        return;
    };
    proof.events.push(exit.seq);
    proof.require(exit.signal == Some(SIGKILL), || {
        format!("{name}: {who} ended, but not by SIGKILL")
    });
    proof.require((onset.began..=onset.effective).contains(&exit.at), || {
        format!(
            "{name}: {who} was gone at {}, which is not between the call and its effect",
            secs(exit.at)
        )
    });
    let until = window.heals.first().map_or(NEVER, |heal| heal.began);
    let mut others = lives.iter();
    let again = others.find(|other| onset.began < other.started && other.started < until);
    proof.events.extend(again.map(|other| other.seq));
    proof.require(again.is_none(), || {
        format!("{name}: {who} was running again while it was to be dead")
    });
}

/// Nobody was where the server had been: just after it died, and just before it was started again.
pub(super) fn nobody(plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let name = &plan.name;
    let dead = window.certain();
    for moment in ["cut", "heal"] {
        let mut probes = window.probes.iter();
        let tried = probes.find(|tried| {
            tried.moment == moment && dead.is_some_and(|dead| dead.contains(tried.at))
        });
        let Some(tried) = tried else {
            proof.lacks(format!("{name}: nobody tried its place as `{moment}`"));
            continue;
        };
        proof.events.push(tried.seq);
        proof.require(tried.fresh == Seen::Refused, || {
            let (edge, fresh) = (&tried.edge, tried.fresh);
            format!("{name}: somebody else was in its place: {edge} was {fresh:?} as `{moment}`")
        });
    }
}

/// The server that was killed was started again, by another process, before the heal was over.
pub(super) fn back(history: &History, plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let name = &plan.name;
    let (Some(heal), Some((who, lives))) = (window.heals.first(), target(history, window)) else {
        return;
    };
    let process = |life: &Life| (life.pid, life.start_ticks);
    let before = || lives.iter().filter(|life| life.started < heal.began);
    let life = lives.iter().find(|life| {
        life.started >= heal.began && before().all(|old| process(old) != process(life))
    });
    proof.events.extend(life.map(|life| life.seq));
    let until = heal.removed.unwrap_or(0);
    proof.require(life.is_some_and(|life| life.started <= until), || {
        format!("{name}: it is not shown that {who} was started again")
    });
}

fn target<'h>(history: &'h History, window: &'h FaultWindow) -> Option<(&'h str, &'h [Life])> {
    match (window.worker, &window.server) {
        (Some(worker), _) => {
            let worker = history.workers.get(worker)?;
            Some((&worker.name, &worker.lives))
        }
        (None, Some(server)) => Some((server, history.servers.get(server)?)),
        (None, None) => None,
    }
}

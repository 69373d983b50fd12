//! Proof that a worker was asked to end, and ended by itself.

use super::Proof;
use crate::plan::FaultPlan;
use crate::timeline::history::{FaultWindow, History};

/// The worker said in time that it was asked, and later its process ended without being killed.
pub(super) fn prove(history: &History, plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let name = &plan.name;
    let (Some(onset), Some(worker)) = (window.onsets.first(), window.worker) else {
        return proof.lacks(format!("{name} asked nobody to end"));
    };
    let worker = &history.workers[worker];
    let who = &worker.name;
    let in_time = |(_, at): &&(u64, u64)| (onset.began..=onset.effective).contains(at);
    let asked = worker.asked_to_end.iter().find(in_time);
    proof.events.extend(asked.map(|(seq, _)| *seq));
    proof.require(asked.is_some(), || {
        format!("{name}: {who} did not say that it was asked to end")
    });
    let mut lives = worker.lives.iter();
    let life = lives.rfind(|life| life.started <= onset.began);
    let exit = life.and_then(|life| life.exit);
    proof.events.extend(exit.map(|exit| exit.seq));
    let by_itself = exit.is_some_and(|exit| exit.at >= onset.began && exit.code.is_some());
    proof.require(by_itself, || {
        format!("{name}: it is not shown that {who} ended by itself")
    });
}

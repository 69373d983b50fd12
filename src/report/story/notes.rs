//! What a reader must know to check a finding by hand: what is counted, what a bound is made of,
//! why two sentences that seem to contradict each other do not. Beside the findings, never instead.

use super::holding::free_before;
use super::protection::{reached, seals};
use crate::checks::say::secs;
use crate::checks::{Finding, Outcome};
use crate::plan::Plan;
use crate::report::model::ArmModel;
use crate::report::scene::Scene;
use crate::report::scene::tenure::Ended;
use crate::report::scene::writes::{Fate, WriteMark};
use crate::report::words::{at, count, stretch};
use crate::timeline::history::ms;

/// The note to a finding, without its full stop; none if it explains itself.
pub fn note(arm: &ArmModel, finding: &Finding) -> Option<String> {
    let scene = &arm.scene;
    match finding.check.as_str() {
        "honest_belief" if finding.outcome == Outcome::Holds => stopped_believer(scene),
        "recovers" => Some(recovery(scene, arm.plan()?)),
        "no_stale_write" => Some(counted(scene)),
        "no_lost_update" => Some(
            "counted are accepted writes; a write is based on the one that its writer had read before"
                .to_owned(),
        ),
        "rightful_served" => Some(
            "counted are only writes by a worker that certainly was the sole holder at that moment"
                .to_owned(),
        ),
        "no_stale_read" => Some(
            "counted are `read` steps that reached the store; what a write reads to know what it builds on is judged with that write"
                .to_owned(),
        ),
        "published_once" => Some(
            "what was done is said by the store's log, what was published by the queue's"
                .to_owned(),
        ),
        "outcome_honesty" => Some(
            "counted are answers to commands of the lock (acquire, renew, release) that are compared with what the server did"
                .to_owned(),
        ),
        "retry_budget" => Some(
            "a wait is one step that enters the lock, from its first attempt to the grant".to_owned(),
        ),
        _ => None,
    }
}

/// Why a handle that says *I hold* after the lease's end need not be a liar.
pub fn stopped_believer(scene: &Scene) -> Option<String> {
    let by_grant = scene.by_grant();
    scene.beliefs.iter().find_map(|belief| {
        let tenure = by_grant.get(&belief.grant)?;
        let late = belief.until.checked_sub(tenure.entitled)?;
        if tenure.ended == Ended::Released || late <= scene.epsilon {
            return None;
        }
        let name = &belief.worker;
        let stops = scene.stopped.iter();
        let (_, from, to) = stops
            .filter(|(worker, _, to)| worker == name && *to >= tenure.entitled)
            .min_by_key(|(_, from, _)| *from)?;
        // As the fault itself is told: from when its effect was seen in full.
        let mut nap = scene.faults.iter().filter(|fault| fault.worker.as_ref() == Some(name));
        let nap = nap.find(|fault| fault.began <= *from && *from <= fault.effective);
        let from = nap.map_or(*from, |fault| fault.effective);
        // It may run from when its heal began; that it does is proven later.
        let to = nap.and_then(|fault| fault.healed).map_or(*to, |healed| healed.clamp(from, *to));
        Some(format!(
            "{} after its lease had ended {name} still believed that it holds, because it was stopped {} and could not learn of it: a stopped process makes no claim and is not called a liar; what it had claimed before was true then",
            secs(late),
            stretch(from, to)
        ))
    })
}

fn recovery(scene: &Scene, plan: &Plan) -> String {
    let bound = format!(
        "the bound is the granted lease ({}) plus an allowance ({})",
        secs(ms(plan.lock.lease_ms)),
        secs(ms(plan.recovery_bound_ms))
    );
    let Some(since) = scene.owed else {
        return bound;
    };
    let mut heals = scene.faults.iter();
    let heal = match heals.any(|fault| fault.removed.or(fault.healed) == Some(since)) {
        true => "the last heal at ",
        false => "",
    };
    let gaps = scene.tenures.iter().zip(free_before(scene));
    let before: Vec<String> = gaps
        .filter_map(|(next, free)| Some((free?, next.from)))
        .filter(|(_, until)| *until < since)
        .map(|(free, until)| stretch(free, until))
        .collect();
    if before.is_empty() {
        return format!("{bound}; it counts from {heal}{} on", at(since));
    }
    format!(
        "{bound}; it counts from {heal}{} on. That the lock was free {} was before that and is not judged here",
        at(since),
        before.join(", ")
    )
}

/// What the numbers of writes count.
fn counted(scene: &Scene) -> String {
    let seals = seals(scene);
    let accepted = reached(scene)
        .filter(|write| write.fate == Fate::Accepted)
        .count();
    let without = match reached(scene).any(WriteMark::is_lockless) {
        true => {
            ". A write without a fencing token has no number that could be old: it is neither, and is counted apart"
        }
        false => "",
    };
    let apart = if seals == 0 {
        String::new()
    } else {
        format!(
            "; {} not counted, because a seal changes no data",
            were(seals)
        )
    };
    format!(
        "counted are writes that reached the store, {accepted} of them accepted{apart}. Stale: older than a fencing token that the store had taken, or the same of another grant. Late: after the writer's lease had ended, whatever the order{without}"
    )
}

fn were(seals: usize) -> String {
    let verb = if seals == 1 { "is" } else { "are" };
    format!("{} {verb}", count(seals, "seal"))
}

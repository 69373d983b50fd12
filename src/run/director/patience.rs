//! Nothing is awaited for ever: what does not come in time is named, everything is healed, and
//! everybody may go on, so that what happened until then still counts.

use super::dispatch::MS;
use super::injure;
use super::players::FaultState;
use super::scene::Scene;
use super::{DirectorError, Ending};
use crate::plan::Heal;
use crate::timeline::event::Event;

/// So many steps may each take their patience.
const STEPS_MAX: usize = 100;

/// Each trigger and each await may take `patience`; the arm as a whole all of them in a row.
pub fn arm_limit_ms(scene: &Scene) -> u64 {
    let steps: usize = scene
        .plan
        .workers
        .iter()
        .map(|worker| worker.script.len())
        .sum();
    // Rounds are many steps, and few of them wait.
    let waits = 2 + 2 * scene.plan.faults.len() + steps.min(STEPS_MAX);
    scene.plan.patience_ms.saturating_mul(waits as u64)
}

/// Names what was awaited too long and heals everything; nothing is awaited from then on.
pub async fn lose_patience(scene: &mut Scene) -> Result<(), DirectorError> {
    if scene.ending.is_some() {
        return Ok(());
    }
    let patience_ns = scene.plan.patience_ms * MS;
    let now = scene.now();
    let late = |since: u64| now.saturating_sub(since) > patience_ns;
    let mut over: Vec<(String, String)> = Vec::new();
    for fault in &scene.faults {
        if let (FaultState::Active { since, .. }, Some(Heal::After(event))) =
            (&fault.state, &fault.plan.heal)
            && late(*since)
        {
            over.push((event.clone(), fault.plan.name.clone()));
        }
    }
    for (name, worker) in &scene.workers {
        if let Some(wait) = &worker.wait
            && let Some(event) = &wait.event
            && late(wait.since)
        {
            over.push((event.clone(), name.clone()));
        }
    }
    if over.is_empty() {
        return Ok(());
    }
    for (awaited, by) in over {
        patience_ended(scene, &awaited, &by)?;
    }
    scene.ending = Some(Ending::Patience);
    injure::heal_all(scene, "patience").await;
    give_up_waiting(scene, "something else was awaited in vain")
}

pub fn patience_ended(scene: &mut Scene, awaited: &str, by: &str) -> Result<(), DirectorError> {
    scene.record_lab(Event::PatienceEnded {
        awaited: awaited.to_owned(),
        by: by.to_owned(),
    })
}

/// Faults that have not begun will not: say so.
pub fn give_up_waiting(scene: &mut Scene, because: &str) -> Result<(), DirectorError> {
    for index in 0..scene.faults.len() {
        let fault = &scene.faults[index];
        if matches!(fault.state, FaultState::Waiting) {
            let why = format!("{} was not on the record when {because}", fault.plan.when);
            injure::not_injected(scene, index, why)?;
        }
    }
    Ok(())
}

//! Proof that a server was told what a fault says, and did it.

use super::Proof;
use crate::plan::FaultPlan;
use crate::timeline::history::FaultWindow;

/// One answered command for the onset, and one for the heal if it has one, each in its time.
pub(super) fn prove(plan: &FaultPlan, window: &FaultWindow, heals: bool, proof: &mut Proof) {
    let name = &plan.name;
    let Some(onset) = window.onsets.first() else {
        return;
    };
    let within = |from: u64, to: u64| {
        let mut asked = window.asked.iter();
        asked.find(|asked| asked.ok && (from..=to).contains(&asked.at))
    };
    let begun = within(onset.began, onset.effective);
    proof.events.extend(begun.map(|asked| asked.seq));
    proof.require(begun.is_some(), || {
        format!("{name}: the server did not answer that it did what it was told")
    });
    if !heals {
        return;
    }
    let Some(heal) = window.heals.first() else {
        return;
    };
    let undone = within(heal.began, heal.removed.unwrap_or(0));
    proof.events.extend(undone.map(|asked| asked.seq));
    proof.require(undone.is_some(), || {
        format!("{name}: the server did not answer that it had undone it")
    });
}

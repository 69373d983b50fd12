//! What the actions of a fault did, one after the other: each is proven where it is known how.

use super::{Proof, asked, asked_to_end, clock, cut_off, edges, forgotten, killed, stop};
use crate::env::action::Action;
use crate::faults::FaultKind;
use crate::plan::FaultPlan;
use crate::timeline::history::{FaultWindow, History};

/// What each action of the onset did, and of the heal, if the plan has one.
pub(super) fn prove(
    (history, kind): (&History, &FaultKind),
    plan: &FaultPlan,
    window: &FaultWindow,
    proof: &mut Proof,
) {
    let edges = edges::Case::new(history, plan, window);
    let onset_actions = kind.onset.iter().map(|action| (action, false));
    let heal_actions = kind
        .heal
        .iter()
        .filter(|_| plan.heal.is_some())
        .map(|action| (action, true));
    for (action, heals) in onset_actions.chain(heal_actions) {
        match action {
            Action::StopGroup => stop::prove(history, plan, window, proof),
            Action::KillGroup => killed::prove(history, plan, window, proof),
            Action::StartServer => killed::back(history, plan, window, proof),
            Action::Ask(words) => asked::prove(plan, window, (words, heals), proof),
            Action::Injure(harm) => edges.injured(*harm, proof),
            Action::Mend => edges.mended(proof),
            Action::AwaitCutOff => cut_off::prove(history, plan, window, proof),
            Action::AwaitForgotten => forgotten::prove(history, plan, window, proof),
            Action::AwaitNobody => killed::nobody(plan, window, proof),
            Action::CountUnknownScripts => asked::unknown_scripts(plan, window, proof),
            Action::ExpectNoWrites => forgotten::nothing_written(history, plan, window, proof),
            Action::ExpectLostByRestart => {
                forgotten::lost_by_restart(history, plan, window, proof);
            }
            Action::AwaitCopied => cut_off::healed(history, plan, window, proof),
            Action::EndSessions => asked::sessions_ended(plan, window, proof),
            Action::Terminate => asked_to_end::prove(history, plan, window, proof),
            Action::JumpClock => clock::jumped(history, plan, window, proof),
            // Shown by the heal's own looks and readings.
            Action::ContinueGroup | Action::JumpBack => {}
        }
    }
}

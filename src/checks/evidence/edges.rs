//! Proof that edges were injured as a fault says, no others were, and that they were mended.
//!
//! Shown by a stranger who tries them: on a connection of its own, and on one from before the
//! onset, of which the server itself tells whether it executed what was sent on it. Once more just
//! before the heal: an injury that somebody took away meanwhile was not there. A fault that
//! chooses one request is shown by what became of that request.

use super::Proof;
use crate::env::action::Harm;
use crate::env::edge::Way;
use crate::plan::FaultPlan;
use crate::timeline::event::{FrameFate, Seen};
use crate::timeline::history::{FaultWindow, Tried};

/// Onset and effect.
pub(super) fn injured(plan: &FaultPlan, window: &FaultWindow, harm: Harm, proof: &mut Proof) {
    if harm.chooses() {
        return chosen(plan, window, harm, proof);
    }
    let name = &plan.name;
    let cut: Vec<&Tried> = of(window, "cut").collect();
    proof.events.extend(cut.iter().map(|tried| tried.seq));
    proof.require(cut.iter().any(|tried| tried.hit), || {
        format!("{name}: nobody tried an edge that it hit")
    });
    for tried in cut {
        let edge = &tried.edge;
        if !tried.hit {
            proof.require(tried.fresh == Seen::Answered, || {
                format!(
                    "{name}: {edge}, which it must leave alone, was {:?}",
                    tried.fresh
                )
            });
            continue;
        }
        let (fresh, old) = expected(harm);
        proof.require(fresh.contains(&tried.fresh), || {
            format!("{name}: a new connection on {edge} was {:?}", tried.fresh)
        });
        proof.require(tried.old.is_some_and(|seen| old.contains(&seen)), || {
            format!("{name}: an old connection on {edge} was {:?}", tried.old)
        });
        lasted((name, edge, fresh), window, proof);
    }
}

/// A new connection saw the same just before the heal.
fn lasted((name, edge, expected): (&str, &str, &[Seen]), window: &FaultWindow, proof: &mut Proof) {
    let span = window.certain();
    let again = of(window, "heal").find(|tried| {
        tried.hit && tried.edge == edge && span.is_some_and(|span| span.contains(tried.at))
    });
    let Some(again) = again else {
        return proof.lacks(format!("{name}: nobody tried {edge} just before the heal"));
    };
    proof.events.push(again.seq);
    proof.require(expected.contains(&again.fresh), || {
        let fresh = again.fresh;
        format!("{name}: just before the heal a new connection on {edge} was {fresh:?}")
    });
}

/// What a new and an old connection may see.
const fn expected(harm: Harm) -> (&'static [Seen], &'static [Seen]) {
    match harm {
        Harm::Silence(Way::ToClient) => (&[Seen::Silent], &[Seen::ReplyLost]),
        Harm::Silence(Way::ToServer | Way::Both) | Harm::Stall => {
            (&[Seen::Silent], &[Seen::NeverArrived])
        }
        Harm::Reset => (&[Seen::Refused, Seen::Broken], &[Seen::Broken]),
        Harm::HoldRequest | Harm::HoldReply | Harm::LoseRequest | Harm::LoseReply => (&[], &[]),
    }
}

/// The chosen frame was held or dropped while the fault was in effect.
fn chosen(plan: &FaultPlan, window: &FaultWindow, harm: Harm, proof: &mut Proof) {
    let name = &plan.name;
    let (what, reply) = match harm {
        Harm::HoldRequest => (FrameFate::Held, false),
        Harm::HoldReply => (FrameFate::Held, true),
        Harm::LoseRequest => (FrameFate::Dropped, false),
        Harm::LoseReply => (FrameFate::Dropped, true),
        Harm::Silence(_) | Harm::Reset | Harm::Stall => return,
    };
    let mut frames = window.frames.iter();
    let span = window.certain();
    let found = frames.find(|frame| {
        frame.what == what
            && frame.reply == reply
            && span.is_some_and(|span| span.contains(frame.at))
    });
    proof.events.extend(found.map(|frame| frame.seq));
    let noun = if reply { "reply" } else { "request" };
    proof.require(found.is_some(), || {
        format!("{name}: the {noun} that it chose never came by while it was in effect")
    });
    if let (Some(held), FrameFate::Held) = (found, what) {
        let mut frames = window.frames.iter();
        let sent = frames.find(|frame| frame.what == FrameFate::Delivered && frame.at >= held.at);
        proof.events.extend(sent.map(|frame| frame.seq));
        proof.require(sent.is_some(), || {
            format!("{name}: the {noun} that it held was never sent on")
        });
    }
}

/// Every edge that was hit answered a stranger after the heal.
pub(super) fn mended(plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let name = &plan.name;
    let healed: Vec<&Tried> = of(window, "healed").collect();
    proof.events.extend(healed.iter().map(|tried| tried.seq));
    proof.require(!healed.is_empty(), || {
        format!("{name}: nobody tried an edge after the heal")
    });
    for tried in healed {
        proof.require(tried.fresh == Seen::Answered, || {
            format!("{name}: {} did not answer after the heal", tried.edge)
        });
    }
}

fn of<'w>(window: &'w FaultWindow, moment: &str) -> impl Iterator<Item = &'w Tried> {
    window
        .probes
        .iter()
        .filter(move |tried| tried.moment == moment)
}

//! `evidence`: did what the plan announces really happen?
//!
//! It gates every `holds` and no `violated`, and is itself never violated: what is missing makes
//! it `unknown`, with the fault and the missing part named. A fault whose effect is not proven at
//! both ends did not happen; a run that broke off proves nothing.

use super::say::{secs, seen_over};
use super::{Check, Finding};
use crate::faults::{self, FaultKind};
use crate::plan::FaultPlan;
use crate::timeline::history::{FaultWindow, Healed, History, Onset};

mod acted;
mod aimed;
mod asked;
mod asked_to_end;
mod clauses;
mod clock;
mod cut_off;
mod edges;
mod forgotten;
mod killed;
mod parked;
mod stop;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct EvidenceHolds;

/// What was proven and what is missing, with the lines that each rests on.
#[derive(Debug, Default)]
struct Proof {
    shown: Vec<String>,
    missing: Vec<String>,
    events: Vec<u64>,
}

impl Proof {
    fn lacks(&mut self, what: impl Into<String>) {
        self.missing.push(what.into());
    }

    fn require(&mut self, is_so: bool, else_missing: impl FnOnce() -> String) {
        if !is_so {
            self.missing.push(else_missing());
        }
    }
}

impl Check for EvidenceHolds {
    fn name(&self) -> &'static str {
        super::EVIDENCE
    }

    fn claim(&self) -> &'static str {
        "every fault of the plan is shown to have begun, bitten and ended, and every precondition \
         is on the record"
    }

    fn judge(&self, history: &History) -> Finding {
        let mut proof = Proof::default();
        whole(history, &mut proof);
        for (plan, window) in history.plan.faults.iter().zip(&history.faults) {
            happened(history, plan, window, &mut proof);
        }
        for clause in &history.plan.evidence {
            clauses::prove(history, clause, &mut proof);
        }
        let nothing = history.plan.faults.is_empty() && history.plan.evidence.is_empty();
        let finding = match proof.missing.as_slice() {
            [] if nothing => Finding::vacuous(self, "the plan has no fault and no precondition"),
            [] => Finding::holds(self, proof.shown.join("; ")),
            [one] => Finding::unknown(self, one.clone()),
            [first, rest @ ..] => {
                let why = format!(
                    "{first}; and {} more missing: {}",
                    rest.len(),
                    rest.join("; ")
                );
                Finding::unknown(self, why)
            }
        };
        finding.resting_on(proof.events)
    }
}

/// The arm ran to its end, watched from before its first worker.
fn whole(history: &History, proof: &mut Proof) {
    match &history.end {
        None => proof.lacks("the record breaks off: the arm did not end"),
        Some((seq, _, reason)) if reason != "complete" => {
            proof.events.push(*seq);
            proof.lacks(format!("the arm did not run to its end: {reason}"));
        }
        Some(_) => {}
    }
    for impatience in &history.impatience {
        proof.events.push(impatience.seq);
        proof.lacks(format!(
            "{} waited in vain for {}",
            impatience.by, impatience.awaited
        ));
    }
    let first = history.workers.iter().flat_map(|worker| &worker.lives);
    let Some(first) = first.map(|life| life.started).min() else {
        return;
    };
    for (server, observer) in &history.observers {
        let synced = observer.synced.iter().map(|(_, at)| *at).min();
        proof.require(synced.is_some_and(|at| at <= first), || {
            format!("the observer of {server} was not in sync before the first worker started")
        });
    }
}

/// One fault: onset, effect and removal.
fn happened(history: &History, plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let name = &plan.name;
    if let Some((seq, why)) = &window.not_injected {
        proof.events.push(*seq);
        proof.lacks(format!("{name} was not injected: {why}"));
        return;
    }
    let Some(kind) = faults::find(&plan.kind) else {
        proof.lacks(format!("{name}: what shows a {} is not known", plan.kind));
        return;
    };
    let (onset, heal) = match (&*window.onsets, &*window.heals, plan.heal.is_some()) {
        ([onset], [heal], true) => (onset, Some(heal)),
        ([onset], [], false) => (onset, None),
        ([], ..) => return proof.lacks(format!("{name} never began")),
        ([_], [], true) => return proof.lacks(format!("{name} was never healed")),
        _more => return proof.lacks(format!("{name} began or was healed more than once")),
    };
    proof.events.push(onset.seq);
    if let Some(heal) = heal {
        healed(name, onset, heal, proof);
    }
    let before = proof.missing.len();
    aimed::prove(history, plan, window, proof);
    acted::prove((history, kind), plan, window, proof);
    if proof.missing.len() == before {
        let told = told(history, (plan, kind), window, (onset, heal));
        proof.shown.push(told);
    }
}

/// From when to when a fault that was shown was in effect.
fn told(
    history: &History,
    (plan, kind): (&FaultPlan, &FaultKind),
    window: &FaultWindow,
    (onset, heal): (&Onset, Option<&Healed>),
) -> String {
    let target = match (window.worker, &window.server) {
        (Some(worker), _) => history.worker_name(worker),
        (None, Some(server)) => server,
        (None, None) => "",
    };
    let what = format!("{} ({} {target})", plan.name, plan.kind);
    let from = secs(onset.effective);
    match heal {
        // A server that was hit is back when it is seen to be, not when its heal begins.
        Some(heal) if window.server.is_some() => {
            let end = secs(heal.removed.unwrap_or(heal.began));
            let seen = seen_over(kind, &secs(heal.began), &end);
            format!("{what} was in effect from {from} to {end}, {seen}")
        }
        Some(heal) => format!(
            "{what} was in effect from {from} to {}{}",
            secs(heal.began),
            gone(heal)
        ),
        None => format!("{what} was done by {from}"),
    }
}

/// When a heal was seen to have worked, where that reads as another time than its begin.
fn gone(heal: &Healed) -> String {
    let removed = heal.removed.map(secs);
    match removed.filter(|removed| *removed != secs(heal.began)) {
        Some(removed) => format!(" and seen to be gone at {removed}"),
        None => String::new(),
    }
}

/// The heal came after the effect, by the plan's own trigger, and was seen.
fn healed(name: &str, onset: &Onset, heal: &Healed, proof: &mut Proof) {
    proof.events.push(heal.seq);
    proof.require(
        onset.began <= onset.effective && onset.effective <= heal.began,
        || format!("{name} was healed before its effect was seen in full"),
    );
    proof.require(
        heal.removed.is_some_and(|removed| heal.began <= removed),
        || format!("{name}: its removal was not seen"),
    );
    proof.require(!["patience", "interrupt"].contains(&&*heal.cause), || {
        format!(
            "{name} was not healed by its own trigger but by {}",
            heal.cause
        )
    });
}

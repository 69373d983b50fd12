//! The preconditions that a plan names: by the server's truth and the store's log, never by what
//! a worker says of itself.

use super::Proof;
use crate::checks::say::secs;
use crate::plan::Evidence;
use crate::timeline::history::{Grant, History, KeyEnd, Span, StoreAttempt};

/// Requires one precondition.
pub(super) fn prove(history: &History, clause: &Evidence, proof: &mut Proof) {
    match clause {
        Evidence::LeaseEnded { worker, fault } => {
            let ended = |grant: &Grant, window: Span| {
                let released = matches!(grant.end, KeyEnd::Released { .. });
                let at = grant.lease_ends;
                let inside = window.from <= at.earliest && at.latest <= window.to;
                (!released && inside).then_some(at.middle())
            };
            let what = "a lease ended";
            during(history, (worker, fault, what), ended, proof);
        }
        Evidence::Granted { worker, fault } => {
            let granted = |grant: &Grant, window: Span| {
                let at = grant.granted;
                let inside = window.from <= at.earliest && at.latest <= window.to;
                inside.then_some(at.middle())
            };
            let what = "the lock was granted";
            during(history, (worker, fault, what), granted, proof);
        }
        Evidence::ReachedAfter { late, early } => reached_after(history, late, early, proof),
    }
}

/// Something happened to a grant of a worker while a fault was certainly in effect.
fn during(
    history: &History,
    (worker, fault, what): (&str, &str, &str),
    happened: impl Fn(&Grant, Span) -> Option<u64>,
    proof: &mut Proof,
) {
    let index = history.worker_index(worker);
    let window = history.fault(fault).and_then(|window| window.certain());
    let found = window.and_then(|window| {
        let grants = history.grants.iter();
        grants
            .filter(|grant| index.is_some() && grant.worker == index && grant.doubt.is_none())
            .find_map(|grant| Some((grant, happened(grant, window)?)))
    });
    match found {
        Some((grant, at)) => {
            proof.events.push(grant.seq);
            proof
                .events
                .extend(grant.own_extensions().last().map(|extension| extension.seq));
            proof.shown.push(format!(
                "{what} for {worker} at {}, while {fault}",
                secs(at)
            ));
        }
        None => proof.lacks(format!(
            "by the server's truth it is not shown that {what} for {worker} while {fault}"
        )),
    }
}

/// One write reached the store after another, accepted or not.
fn reached_after(history: &History, late: &str, early: &str, proof: &mut Proof) {
    let find = |write: &str| history.store.iter().find(|attempt| attempt.write == write);
    match (find(late), find(early)) {
        (Some(second), Some(first)) => {
            proof.events.extend([first.seq, second.seq]);
            let ordered = |a: &StoreAttempt, b: &StoreAttempt| a.n < b.n;
            if ordered(first, second) {
                proof
                    .shown
                    .push(format!("{late} reached the store after {early}"));
            } else {
                proof.lacks(format!(
                    "{late} reached the store before {early}, not after"
                ));
            }
        }
        (None, _) => proof.lacks(format!("{late} never reached the store")),
        (_, None) => proof.lacks(format!("{early} never reached the store")),
    }
}

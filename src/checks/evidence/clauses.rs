//! The preconditions that a plan names: by the server's truth and the store's log, never by what
//! a worker says of itself.

use super::Proof;
use crate::checks::say::secs;
use crate::plan::Evidence;
use crate::timeline::event::Call;
use crate::timeline::history::{Grant, History, Span, StoreAttempt, ms};

/// Requires one precondition.
pub(super) fn prove(history: &History, clause: &Evidence, proof: &mut Proof) {
    match clause {
        Evidence::LeaseEnded { worker, fault } => {
            let ended = |grant: &Grant, window: Span| {
                let released = grant.released().is_some();
                let at = grant.lease_ends;
                let inside = window.from <= at.earliest && at.latest <= window.to;
                (!released && inside).then_some(at.middle())
            };
            let what = format!("{worker}'s lease ended");
            during(history, (worker, fault, &what), ended, proof);
        }
        Evidence::Granted { worker, fault } => {
            let granted = |grant: &Grant, window: Span| {
                let at = grant.granted;
                let inside = window.from <= at.earliest && at.latest <= window.to;
                inside.then_some(at.middle())
            };
            let what = format!("{worker} was granted the lock");
            during(history, (worker, fault, &what), granted, proof);
        }
        Evidence::Copied { worker, fault } => {
            let copied = |grant: &Grant, window: Span| {
                let at = grant.granted;
                let inside = window.from <= at.earliest && at.latest <= window.to;
                let copy = grant.copies.first().filter(|_| inside);
                copy.map(|copy| copy.seen)
            };
            let what = format!("another server had a grant of {worker}");
            during(history, (worker, fault, &what), copied, proof);
        }
        Evidence::GrantedTimes { worker, times } => {
            let (seqs, found) = granted(history, worker);
            enough(proof, (*times, found), seqs, &format!("grants of {worker}"));
        }
        Evidence::Waited { worker, times } => {
            let (seqs, found) = waited(history, worker);
            let what = format!("requests of {worker} while somebody else held the lock");
            enough(proof, (*times, found), seqs, &what);
        }
        Evidence::ReachedAfter { late, early } => reached_after(history, late, early, proof),
        Evidence::BeganWithin {
            fault,
            of,
            within_ms,
        } => began_within(history, (fault, of), *within_ms, proof),
    }
}

/// How often the worker, or all of the group, was granted, and the first few lines that say so.
fn granted(history: &History, who: &str) -> (Vec<u64>, u64) {
    let called = called(history, who);
    let grants = history.grants.iter().filter(|grant| {
        let worker = grant.worker.and_then(|worker| called.get(worker));
        grant.doubt.is_none() && worker == Some(&true)
    });
    let seqs: Vec<u64> = grants.map(|grant| grant.seq).collect();
    let found = seqs.len() as u64;
    (seqs, found)
}

/// How often the worker, or one of the group, asked while another worker certainly held the lock.
fn waited(history: &History, who: &str) -> (Vec<u64>, u64) {
    let called = called(history, who);
    let held: Vec<(usize, Span)> = history
        .grants
        .iter()
        .filter_map(|grant| Some((grant.worker?, grant.definite?)))
        .collect();
    let asked = history.operations.iter().filter(|operation| {
        let asks = matches!(operation.call, Call::Acquire | Call::Enter { .. });
        let others = |(holder, span): &(usize, Span)| {
            *holder != operation.worker && span.contains(operation.invoked)
        };
        asks && called.get(operation.worker) == Some(&true) && held.iter().any(others)
    });
    let seqs: Vec<u64> = asked.map(|operation| operation.seq).collect();
    let found = seqs.len() as u64;
    (seqs, found)
}

/// Of each worker of the history, whether the name means it.
fn called(history: &History, who: &str) -> Vec<bool> {
    let plan = &history.plan.workers;
    let workers = history.workers.iter();
    workers
        .map(|worker| {
            let mut plans = plan.iter();
            plans.any(|one| one.name == worker.name && one.is_called(who))
        })
        .collect()
}

fn enough(proof: &mut Proof, (times, found): (u64, u64), seqs: Vec<u64>, what: &str) {
    proof.events.extend(seqs.into_iter().take(10));
    let told = format!("{what}: {found}");
    if found >= times {
        proof.shown.push(told);
    } else {
        proof.lacks(format!("{told}, not {times}"));
    }
}

/// The time of a fault, or of a step: from its first operation's begin to its last one's end.
fn window(history: &History, name: &str) -> Option<Span> {
    let Some((worker, step)) = name.split_once('.') else {
        return history.fault(name)?.certain();
    };
    let worker = history.worker_index(worker)?;
    let of_step = history
        .operations
        .iter()
        .filter(|operation| operation.worker == worker && operation.step.as_deref() == Some(step));
    let (from, to) = of_step.fold((u64::MAX, 0), |(from, to), operation| {
        (from.min(operation.invoked), to.max(operation.ended()))
    });
    Span::new(from, to)
}

/// Something happened to a grant of a worker while a fault was certainly in effect, or during a
/// step.
fn during(
    history: &History,
    (worker, fault, what): (&str, &str, &str),
    happened: impl Fn(&Grant, Span) -> Option<u64>,
    proof: &mut Proof,
) {
    let index = history.worker_index(worker);
    let found = window(history, fault).and_then(|window| {
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
            proof
                .shown
                .push(format!("{what} at {}, during {fault}", secs(at)));
        }
        None => proof.lacks(format!(
            "by the server's own record it is not shown that {what} during {fault}"
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

/// One fault was in effect soon after another had begun.
fn began_within(history: &History, (late, early): (&str, &str), within_ms: u64, proof: &mut Proof) {
    let onset = |name: &str| history.fault(name)?.onsets.first();
    let (Some(second), Some(first)) = (onset(late), onset(early)) else {
        proof.lacks(format!("{late} and {early} did not both begin"));
        return;
    };
    let after = second.effective.checked_sub(first.began);
    match after.filter(|_| second.began >= first.effective) {
        Some(after) if after <= ms(within_ms) => {
            proof.events.extend([first.seq, second.seq]);
            let told = format!("{late} began within {} of {early}", secs(after));
            proof.shown.push(told);
        }
        Some(after) => proof.lacks(format!(
            "{late} began {} after {early}, not within {}",
            secs(after),
            secs(ms(within_ms))
        )),
        None => proof.lacks(format!("{late} began before {early} was in effect")),
    }
}

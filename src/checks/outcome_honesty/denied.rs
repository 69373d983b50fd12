//! What was told as failed or busy, took effect all the same, and was kept.
//!
//! Kept means: in force when the answer came, and not taken back by a release of its own. A grant
//! whose answer comes after its lease has ended is rightly refused; nothing of it is left.

use crate::timeline::event::Call;
use crate::timeline::history::{Author, Cause, Grant, History, KeyEnd, NEVER, Operation, Told};
use foldhash::HashMap;

/// It was taken back by its own release.
pub(super) fn taken_back(grant: &Grant) -> bool {
    grant.released().is_some()
}

/// It was, or may have been: another release may have ended its key as well.
fn perhaps_taken_back(grant: &Grant) -> bool {
    let unclear = |cause: &Cause| matches!(cause, Cause::Unclear(_));
    taken_back(grant) || matches!(&grant.end, KeyEnd::Taken { cause, .. } if unclear(cause))
}

/// What was in force until then still was when the operation was told otherwise: a lease that had
/// run out before the answer came was not kept.
fn outlived(history: &History, until: u64, operation: &Operation) -> bool {
    until > operation.ended().saturating_add(history.epsilon_ns)
}

/// A grant that was kept although its attempt, or the `acquire` or `enter` around it, said no.
pub(super) fn kept_but_denied(history: &History) -> Option<(&Grant, &Operation)> {
    let steps = steps_by_worker(history);
    history.grants.iter().find_map(|grant| {
        if perhaps_taken_back(grant) || grant.doubt.is_some() {
            return None;
        }
        let until = grant.lease_ends.earliest;
        let attempt = &history.operations[grant.attempt?];
        if attempt.told() == Told::NotDone && outlived(history, until, attempt) {
            return Some((grant, attempt));
        }
        let steps = steps.get(&attempt.worker)?;
        let upto = steps.partition_point(|step| step.invoked <= attempt.invoked);
        let step = steps[..upto].last()?;
        let inside = attempt.invoked <= step.ended() && outlived(history, until, step);
        (inside && step.told() == Told::NotDone).then_some((grant, *step))
    })
}

fn steps_by_worker(history: &History) -> HashMap<usize, Vec<&Operation>> {
    let mut steps: HashMap<usize, Vec<&Operation>> = HashMap::default();
    for operation in &history.operations {
        if matches!(operation.call, Call::Acquire | Call::Enter { .. }) {
            steps.entry(operation.worker).or_default().push(operation);
        }
    }
    for steps in steps.values_mut() {
        steps.sort_by_key(|step| step.invoked);
    }
    steps
}

/// A renewal told as lost or failed that the server applied.
pub(super) fn extended_but_denied(history: &History) -> Option<(&Grant, u64, &Operation)> {
    let sure = history.grants.iter().filter(|grant| grant.doubt.is_none());
    sure.flat_map(|grant| grant.extensions.iter().map(move |one| (grant, one)))
        .find_map(|(grant, extension)| {
            let Author::Own(Some(index)) = extension.author else {
                return None;
            };
            let operation = &history.operations[index];
            let until = extension.until.map_or(NEVER, |until| until.earliest);
            let denied = operation.told() == Told::NotDone && outlived(history, until, operation);
            denied.then_some((grant, extension.seq, operation))
        })
}

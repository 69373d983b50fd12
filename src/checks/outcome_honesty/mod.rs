//! `outcome_honesty`: no operation is told as failed or busy that took effect and was kept, and
//! none as ok without effect. *Unknown* is always an honest answer.

use super::say::{count, secs, whose};
use super::{Check, Finding};
use crate::timeline::event::{Answer, Call};
use crate::timeline::history::{Author, Cause, Grant, History, KeyEnd, Operation, Told};
use foldhash::HashSet;

mod denied;

use denied::{extended_but_denied, kept_but_denied, taken_back};

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct OutcomeHonesty;

impl Check for OutcomeHonesty {
    fn name(&self) -> &'static str {
        "outcome_honesty"
    }

    fn claim(&self) -> &'static str {
        "nothing is told as failed that took effect and was kept, and nothing as done that was not"
    }

    fn judge(&self, history: &History) -> Finding {
        if let Some((grant, operation)) = kept_but_denied(history) {
            let made = format!("made {} and it was kept", whose(history, grant));
            return self.denied(history, operation, &made, grant.seq);
        }
        if let Some((grant, extension, operation)) = extended_but_denied(history) {
            let made = format!("extended {}", whose(history, grant));
            return self.denied(history, operation, &made, extension);
        }
        if let Some(unseen) = Finding::unseen(self, history) {
            return unseen;
        }
        if let Some(operation) = told_without_effect(history) {
            return self.boasted(history, operation);
        }
        if let Some(grant) = unclear(history) {
            let whose = whose(history, grant);
            let why = format!("it cannot be told which of several requests changed {whose}");
            return Finding::unknown(self, why).resting_on([grant.seq]);
        }
        self.held(history)
    }
}

impl OutcomeHonesty {
    fn denied(&self, history: &History, operation: &Operation, made: &str, effect: u64) -> Finding {
        let why = format!(
            "{}, was answered at {} as if it had not taken effect, but the server {made}",
            subject(history, operation),
            secs(operation.ended()),
        );
        Finding::violated(self, why)
            .resting_on(operation.seqs().into_iter().chain([effect]))
            .witnessed_by(history, [operation.worker])
    }

    fn boasted(&self, history: &History, operation: &Operation) -> Finding {
        if history.end.is_none() {
            return Finding::unknown(self, "the record breaks off: effects may be missing");
        }
        let why = format!(
            "{}, was answered at {} as done, but the server's record shows no such effect",
            subject(history, operation),
            secs(operation.ended())
        );
        Finding::violated(self, why)
            .resting_on(operation.seqs())
            .witnessed_by(history, [operation.worker])
    }

    fn held(&self, history: &History) -> Finding {
        let commands = history.operations.iter().filter(|operation| {
            let on_the_wire = matches!(
                operation.call,
                Call::Attempt { .. } | Call::Renew { .. } | Call::Release { .. }
            );
            on_the_wire && operation.told() != Told::Open
        });
        match commands.count() {
            0 => Finding::vacuous(self, "no lock command was answered"),
            n => Finding::holds(
                self,
                format!(
                    "{} to commands of the lock, each as the server's own record shows",
                    count(n, "answer")
                ),
            ),
        }
    }
}

fn subject(history: &History, operation: &Operation) -> String {
    let name = history.worker_name(operation.worker);
    let what = match &operation.call {
        Call::Attempt { .. } => "attempt",
        Call::Renew { .. } => "renewal",
        Call::Release { .. } => "release",
        Call::Enter { .. } => "enter",
        Call::Acquire => "acquire",
        Call::Check { .. } => "check",
        Call::Write { .. } => "write",
        Call::Seal { .. } => "seal",
        Call::Read | Call::ReadUnder { .. } => "read",
        Call::Publish { .. } => "publication",
        Call::Relay => "relay",
        Call::Refence => "fencing token",
        Call::Hold => "hold",
    };
    format!("{name}'s {what}, asked at {}", secs(operation.invoked))
}

/// Renewals told as done of which the server's whole stream shows no effect: it granted none of
/// them, whatever the worker was told.
pub(super) fn void_renewals(history: &History) -> HashSet<usize> {
    if history.end.is_none() || Finding::unseen(&OutcomeHonesty, history).is_some() {
        return HashSet::default();
    }
    let mut effective = trespassers(history);
    effective.extend(history.grants.iter().filter_map(|grant| grant.renewal));
    let told = history.operations.iter().enumerate();
    told.filter(|(index, operation)| {
        let Call::Renew { grant, .. } = &operation.call else {
            return false;
        };
        let shown = |grant: &Grant| grant.doubt.is_some() || extended_within(grant, operation);
        let answered = operation.told() == Told::Done;
        let mut granted = history.grant_of(grant).into_iter();
        answered && !effective.contains(index) && granted.any(|grant| !shown(grant))
    })
    .map(|(index, _)| index)
    .collect()
}

/// The first command told as done that the server does not show. One that changed what belongs to
/// another did take effect: that is for `owner_only`.
fn told_without_effect(history: &History) -> Option<&Operation> {
    let trespassers = trespassers(history);
    let shown = |id, is_so: &dyn Fn(&Grant) -> bool| {
        history
            .grant_of(id)
            .is_some_and(|grant| grant.doubt.is_some() || is_so(grant))
    };
    let done = history.operations.iter().enumerate();
    done.filter(|(index, operation)| operation.told() == Told::Done && !trespassers.contains(index))
        .map(|(_, operation)| operation)
        .find(|operation| match (&operation.call, operation.answer()) {
            (Call::Attempt { grant, .. }, _)
            | (Call::Acquire | Call::Enter { .. }, Some(Answer::Granted { grant, .. })) => {
                !shown(grant, &|_| true)
            }
            (Call::Renew { grant, .. }, _) => {
                !shown(grant, &|grant| extended_within(grant, operation))
            }
            (Call::Release { grant }, Some(Answer::Released)) => !shown(grant, &taken_back),
            _other => false,
        })
}

/// Operations that changed, or may have changed, the key or lease of another grant.
fn trespassers(history: &History) -> HashSet<usize> {
    let mut found = HashSet::default();
    for grant in &history.grants {
        for extension in &grant.extensions {
            match &extension.author {
                Author::Foreign(operations) | Author::Unclear(operations) => {
                    found.extend(operations);
                }
                Author::Own(_) => {}
            }
        }
        let KeyEnd::Taken { cause, .. } = &grant.end else {
            continue;
        };
        if let Cause::BlindDelete(operations) | Cause::Unclear(operations) = cause {
            found.extend(operations);
        }
    }
    found
}

/// The server extended the grant's lease while this renewal was under way.
fn extended_within(grant: &Grant, renewal: &Operation) -> bool {
    let extensions = &grant.extensions;
    let from = extensions.partition_point(|extension| extension.at.latest < renewal.invoked);
    extensions[from..].iter().take(8).any(|extension| {
        extension.at.earliest <= renewal.ended() && !matches!(extension.author, Author::Foreign(_))
    })
}

/// A grant whose key or lease was changed by one of several, each of whom may have been told so.
fn unclear(history: &History) -> Option<&Grant> {
    history.grants.iter().find(|grant| {
        let one_of_several = |author: &Author| match author {
            Author::Unclear(_) => true,
            Author::Foreign(operations) => operations.len() > 1,
            Author::Own(_) => false,
        };
        let mut extensions = grant.extensions.iter();
        if extensions.any(|extension| one_of_several(&extension.author)) {
            return true;
        }
        let KeyEnd::Taken { cause, .. } = &grant.end else {
            return false;
        };
        match cause {
            Cause::Unclear(_) => true,
            Cause::BlindDelete(operations) => operations.len() > 1,
            _innocent => false,
        }
    })
}

//! Single things on the picture: renewals, losses, parks.

use super::matched::{self, Known};
use crate::ids::GrantId;
use crate::timeline::event::{Answer, Call, Outcome};
use crate::timeline::history::{Author, History};
use std::collections::HashMap;

/// What became of a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewed {
    /// The server moved the deadline; without a server's record: the worker was told so.
    Applied,
    /// The worker was told so, but the server did nothing of the kind.
    OnlyTold,
    /// The worker was told so, and the server did it for some of several renewals: it cannot be told
    /// whether this is one of them.
    Unclear,
    /// The worker was told that it failed.
    Failed,
    /// The worker was not told, and nothing shows that it worked.
    Unknown,
}

/// One renewal command.
#[derive(Debug, Clone)]
pub struct Renewal {
    /// Who.
    pub worker: String,
    /// When it was sent.
    pub sent: u64,
    /// When it was answered.
    pub answered: Option<u64>,
    /// It was answered as done.
    pub ok: bool,
    /// What became of it.
    pub became: Renewed,
    /// When the server moved the deadline, if it did.
    pub applied: Option<u64>,
    /// Time left of the lease when it was sent, ns; negative if it had ended. By the client's
    /// own reckoning: last grant or renewal sent + lease.
    pub margin: Option<i64>,
    /// Its `invoke`.
    pub event: u64,
}

impl Renewal {
    /// When it counted: at the server, else when it was answered, else when it was sent.
    pub fn at(&self) -> u64 {
        self.applied.or(self.answered).unwrap_or(self.sent)
    }
}

/// A loss that was told.
#[derive(Debug, Clone)]
pub struct LossMark {
    /// Who.
    pub worker: String,
    /// When.
    pub at: u64,
    /// Why.
    pub reason: String,
    /// Grant.
    pub grant: GrantId,
    /// The line.
    pub event: u64,
}

/// A point at which a worker waited for the lab.
#[derive(Debug, Clone)]
pub struct Park {
    /// Who.
    pub worker: String,
    /// Where.
    pub point: String,
    /// From when.
    pub from: u64,
    /// A fault awaits this very point.
    pub awaited: bool,
    /// The line.
    pub event: u64,
}

/// Every renewal command, with the time that was left when it was sent.
pub fn renewals(history: &History) -> Vec<Renewal> {
    // The client's own reckoning: last grant or renewal sent + lease.
    let mut deadlines: HashMap<&GrantId, (u64, u64)> = HashMap::new();
    let mut marks = Vec::new();
    let known = matched::known(history);
    for (index, operation) in history.operations.iter().enumerate() {
        if let Some(Answer::Granted {
            grant, lease_ms, ..
        }) = operation.answer()
        {
            let lease = lease_ms.saturating_mul(1_000_000);
            // The attempt on the wire comes after the step it belongs to and is the truer start.
            let sent_later = deadlines
                .get(grant)
                .is_none_or(|_| matches!(operation.call, Call::Attempt { .. }));
            if sent_later {
                deadlines.insert(grant, (operation.invoked.saturating_add(lease), lease));
            }
        }
        let Call::Renew { grant, .. } = &operation.call else {
            continue;
        };
        let answered = operation.returned.as_ref();
        let ok = answered
            .is_some_and(|back| back.outcome == Outcome::Ok && back.answer == Answer::Renewed);
        let margin = deadlines.get_mut(grant).map(|(deadline, lease)| {
            let margin = signed(*deadline) - signed(operation.invoked);
            if ok {
                *deadline = operation.invoked.saturating_add(*lease);
            }
            margin
        });
        let known = known.get(&index);
        let applied = match known {
            Some(Known::At(at)) => Some(*at),
            Some(Known::Perhaps) => None,
            None => applied(history, grant, index),
        };
        marks.push(Renewal {
            became: match applied {
                Some(_) => Renewed::Applied,
                None if known == Some(&Known::Perhaps) => Renewed::Unclear,
                None if answered.is_none_or(|back| back.outcome == Outcome::Info) => {
                    Renewed::Unknown
                }
                None if !ok => Renewed::Failed,
                None if is_observed(history, grant) => Renewed::OnlyTold,
                None => Renewed::Applied,
            },
            applied,
            worker: history.worker_name(operation.worker).to_owned(),
            sent: operation.invoked,
            answered: answered.map(|back| back.at),
            ok,
            margin,
            event: operation.seq,
        });
    }
    marks
}

/// When the server moved the deadline of a grant at the request of this renewal.
fn applied(history: &History, grant: &GrantId, index: usize) -> Option<u64> {
    let renewal = &history.operations[index];
    let mut extensions = history.grant_of(grant)?.extensions.iter();
    let own = extensions.find(|extension| match &extension.author {
        Author::Own(Some(operation)) => *operation == index,
        // Nobody's by name: this one's, if it was under way.
        Author::Own(None) => {
            extension.at.latest >= renewal.invoked && extension.at.earliest <= renewal.ended()
        }
        Author::Unclear(operations) | Author::Foreign(operations) => operations.contains(&index),
    });
    own.map(|extension| extension.at.middle())
}

/// What the server did for a grant is on the record without a doubt.
fn is_observed(history: &History, grant: &GrantId) -> bool {
    let grant = history.grant_of(grant);
    grant.is_some_and(|grant| grant.doubt.is_none())
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// Every loss that was told.
pub fn losses(history: &History) -> Vec<LossMark> {
    let marks = history.losses.iter().map(|loss| LossMark {
        worker: history.worker_name(loss.worker).to_owned(),
        at: loss.at,
        reason: loss.reason.clone(),
        grant: loss.grant.clone(),
        event: loss.seq,
    });
    marks.collect()
}

/// Every point at which a worker waited for the lab.
pub fn parks(history: &History) -> Vec<Park> {
    let waiting = history.points.iter().filter(|point| point.waits);
    let marks = waiting.map(|point| Park {
        worker: history.worker_name(point.worker).to_owned(),
        point: point.point.clone(),
        from: point.at,
        awaited: history
            .plan
            .faults
            .iter()
            .any(|fault| fault.when == point.point),
        event: point.seq,
    });
    marks.collect()
}

//! Whom the server entitled and for how long, and who believed to hold.
//!
//! Tenures are the history's grants with one instant for each bound, for drawing and for
//! sentences rounded to hundredths of a second; never for a judgement. Where no server was
//! observed, the clients' answers stand in and the tenure says so.

use crate::ids::GrantId;
use crate::timeline::event::{Answer, Call, Outcome};
use crate::timeline::history::{Grant, History, KeyEnd, Operation};
use std::collections::HashMap;

/// How an entitlement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Its own release was applied.
    Released,
    /// The lease ran out.
    Expired,
    /// The record ends first.
    Open,
}

/// One grant.
#[derive(Debug, Clone)]
pub struct Tenure {
    /// Worker, if the grant could be traced to one.
    pub worker: Option<String>,
    /// Grant, if it could be traced to an attempt.
    pub grant: Option<GrantId>,
    /// Fencing token.
    pub fencing: Option<u64>,
    /// Begin of the entitlement, lab time, ns.
    pub from: u64,
    /// End of the entitlement, lab time, ns.
    pub until: u64,
    /// How it ended.
    pub ended: Ended,
    /// `seq` of the grant.
    pub granted_by: u64,
    /// `seq` of the effect that ended its key, if there is one.
    pub ended_by: Option<u64>,
    /// From the clients' answers, because no server was observed.
    pub by_client: bool,
    /// When something else took the key before its time, and the `seq` that shows it.
    pub key_taken: Option<(u64, u64)>,
}

/// A span in which a handle said that it holds.
#[derive(Debug, Clone)]
pub struct Belief {
    /// Worker.
    pub worker: String,
    /// Grant.
    pub grant: GrantId,
    /// When the grant was answered, lab time, ns.
    pub from: u64,
    /// When Lost was told or the release began; the end of the record if neither, ns.
    pub until: u64,
}

/// Every entitlement, in the server's order.
pub fn tenures(history: &History) -> Vec<Tenure> {
    let mut tenures: Vec<Tenure> = if history.grants.is_empty() {
        from_clients(history)
    } else {
        history
            .grants
            .iter()
            .map(|grant| from_grant(history, grant))
            .collect()
    };
    for tenure in &mut tenures {
        if tenure.until > history.last_at {
            tenure.until = history.last_at.max(tenure.from);
            tenure.ended = Ended::Open;
        }
    }
    tenures
}

fn from_grant(history: &History, grant: &Grant) -> Tenure {
    let lease_ends = grant.lease_ends.middle();
    let (until, ended, key_taken) = match &grant.end {
        KeyEnd::Released { at, .. } => (at.middle().min(lease_ends), Ended::Released, None),
        KeyEnd::Taken { at, seq, .. } => (lease_ends, Ended::Expired, Some((at.latest, *seq))),
        KeyEnd::Expired { .. } | KeyEnd::Open => (lease_ends, Ended::Expired, None),
    };
    let from = grant.granted.middle();
    Tenure {
        worker: grant
            .worker
            .map(|worker| history.worker_name(worker).to_owned()),
        grant: grant.id.clone(),
        fencing: grant.fencing.map(|token| token.0),
        from,
        until: until.max(from),
        ended,
        granted_by: grant.seq,
        ended_by: grant.end_seq(),
        by_client: false,
        key_taken,
    }
}

/// A script step that takes or waits for the lock and got it: its grant, token and lease in ms.
pub fn granted(operation: &Operation) -> Option<(&GrantId, Option<u64>, u64)> {
    if !matches!(operation.call, Call::Acquire | Call::Enter { .. }) {
        return None;
    }
    match operation.answer()? {
        Answer::Granted {
            grant,
            fencing,
            lease_ms,
        } => Some((grant, fencing.map(|token| token.0), *lease_ms)),
        _ => None,
    }
}

/// Without a server's truth: from the answer on, as long as the client may count on.
fn from_clients(history: &History) -> Vec<Tenure> {
    let mut tenures: Vec<Tenure> = Vec::new();
    let mut by_grant: HashMap<&GrantId, (usize, u64)> = HashMap::new();
    for operation in &history.operations {
        let Some(back) = &operation.returned else {
            continue;
        };
        if let Some((grant, fencing, lease_ms)) = granted(operation) {
            let lease = lease_ms.saturating_mul(1_000_000);
            by_grant.insert(grant, (tenures.len(), lease));
            tenures.push(Tenure {
                worker: Some(history.worker_name(operation.worker).to_owned()),
                grant: Some(grant.clone()),
                fencing,
                from: back.at,
                until: back.at.saturating_add(lease),
                ended: Ended::Expired,
                granted_by: back.seq,
                ended_by: None,
                by_client: true,
                key_taken: None,
            });
        }
        let (Call::Renew { grant, .. } | Call::Release { grant }) = &operation.call else {
            continue;
        };
        let Some((index, lease)) = by_grant.get(grant).copied() else {
            continue;
        };
        let tenure = &mut tenures[index];
        match (back.outcome, &back.answer) {
            (Outcome::Ok, Answer::Renewed) => {
                tenure.until = operation.invoked.saturating_add(lease);
            }
            (Outcome::Ok, Answer::Released) => {
                tenure.until = tenure.until.min(back.at);
                tenure.ended = Ended::Released;
                tenure.ended_by = Some(back.seq);
            }
            _ => {}
        }
    }
    tenures
}

/// From each grant's answer to the first of: Lost told, its release begun, the end of the record.
pub fn beliefs(history: &History) -> Vec<Belief> {
    let mut ends: HashMap<&GrantId, u64> = HashMap::new();
    let mut end = |grant, at: u64| {
        let first = ends.entry(grant).or_insert(at);
        *first = at.min(*first);
    };
    for loss in &history.losses {
        end(&loss.grant, loss.at);
    }
    for operation in &history.operations {
        if let Call::Release { grant } = &operation.call {
            end(grant, operation.invoked);
        }
    }
    history
        .operations
        .iter()
        .filter_map(|operation| {
            let (grant, ..) = granted(operation)?;
            let from = operation.returned.as_ref()?.at;
            let until = ends.get(grant).copied().unwrap_or(history.last_at);
            Some(Belief {
                worker: history.worker_name(operation.worker).to_owned(),
                grant: grant.clone(),
                from,
                until: until.max(from),
            })
        })
        .collect()
}

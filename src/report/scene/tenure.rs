//! Whom the server entitled and for how long, and where the key ended before that.
//!
//! Tenures are the history's grants with one instant for each bound, for drawing and for
//! sentences rounded to hundredths of a second; never for a judgement. Where no server was
//! observed, the clients' answers stand in and the tenure says so.

use super::by_client::from_clients;
use super::taken::{self, Taken};
use crate::ids::GrantId;
use crate::timeline::event::{Answer, Call};
use crate::timeline::history::{Bounds, Grant, History, KeyEnd, NEVER, Operation};
use std::collections::{HashMap, HashSet};

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
    /// The server that made it; none if no server was observed.
    pub server: Option<String>,
    /// The key, as the server has it; none if no server was observed.
    pub key: Option<String>,
    /// Grant, if it could be traced to an attempt.
    pub grant: Option<GrantId>,
    /// Fencing token.
    pub fencing: Option<u64>,
    /// When its worker sent the attempt that it answers, lab time, ns; none if that is not known.
    pub asked: Option<u64>,
    /// The script step that asked, `enter.1`.
    pub step: Option<String>,
    /// Begin of the entitlement, lab time, ns.
    pub from: u64,
    /// End of the key, or of the entitlement if that came first, lab time, ns.
    pub until: u64,
    /// End of the entitlement: until when the server had promised the lock, or its own release,
    /// lab time, ns. Later than `until` if something else took the key.
    pub entitled: u64,
    /// The key has no lease and never runs out.
    pub endless: bool,
    /// How it ended.
    pub ended: Ended,
    /// The server kept its key beyond the lease, until its own release.
    pub kept_on: bool,
    /// `seq` of the grant.
    pub granted_by: u64,
    /// `seq` of the effect that ended its key, if there is one.
    pub ended_by: Option<u64>,
    /// From the clients' answers, because no server was observed.
    pub by_client: bool,
    /// The server made it, and its worker was never told: no answer came, or it died before.
    pub unheard: bool,
    /// What took the key before its time.
    pub key_taken: Option<Taken>,
    /// Whose release did it, if a release did: one of these, if there are several.
    pub deleted_by: Vec<String>,
    /// Begin and end are known to within this, ns: half of the widest bounds of the two.
    pub blur: u64,
}

impl Tenure {
    /// Its worker in a sentence, known or not.
    pub fn who(&self) -> &str {
        self.worker.as_deref().unwrap_or("somebody")
    }

    /// Its key, if that is not the other's: the two keep nobody out from each other.
    pub fn other_key(&self, other: &Tenure) -> Option<&str> {
        self.key.as_deref().filter(|_| self.key != other.key)
    }

    /// It goes on when the record ends, ns.
    pub fn runs_on(&self, ends: u64) -> bool {
        match self.key_taken {
            Some(_) => self.entitled > ends,
            None => self.ended == Ended::Open,
        }
    }
}

/// Every entitlement, in the server's order; of several servers that are one lock in that of time.
pub fn tenures(history: &History) -> Vec<Tenure> {
    let mut tenures: Vec<Tenure> = if history.grants.is_empty() {
        from_clients(history)
    } else {
        let told = heard(history);
        let made = history.grants.iter();
        made.map(|grant| Tenure {
            unheard: grant.id.as_ref().is_some_and(|id| !told.contains(id)),
            ..from_grant(history, grant)
        })
        .collect()
    };
    end_before_the_next(history, &mut tenures);
    // Several servers are one lock to whoever asks: what they granted is told in order of time.
    if history
        .grants
        .iter()
        .any(|grant| history.is_one_of_several(&grant.server))
    {
        tenures.sort_by_key(|tenure| tenure.from);
    }
    for tenure in &mut tenures {
        let last = history.last_at.max(tenure.from);
        tenure.entitled = tenure.entitled.min(if tenure.key_taken.is_some() {
            u64::MAX
        } else {
            last
        });
        if tenure.until > last {
            tenure.until = last;
            tenure.ended = Ended::Open;
        }
    }
    tenures
}

/// A key that something took was gone when its server granted it anew, whenever that was read.
fn end_before_the_next(history: &History, tenures: &mut [Tenure]) {
    let mut next: HashMap<(&str, &str), u64> = HashMap::new();
    for (grant, tenure) in history.grants.iter().zip(tenures).rev() {
        let place = (grant.server.as_str(), grant.key.as_str());
        let from = next.insert(place, tenure.from).unwrap_or(NEVER);
        if let Some(taken) = tenure.key_taken.as_mut().filter(|taken| taken.at > from) {
            taken.at = from.max(tenure.from);
            tenure.until = tenure.until.min(taken.at);
        }
    }
}

fn from_grant(history: &History, grant: &Grant) -> Tenure {
    let endless = endless(grant);
    let entitled = if endless {
        grant.ends_with(NEVER)
    } else {
        grant.ended()
    };
    let kept_on = !endless
        && matches!(&grant.end, KeyEnd::Released { at, .. } if at.earliest > grant.lease_ends.latest);
    let (ended, key_taken) = match &grant.end {
        KeyEnd::Released { .. } if kept_on => (Ended::Expired, None),
        KeyEnd::Released { .. } => (Ended::Released, None),
        KeyEnd::Taken { at, seq, cause, .. } => {
            let taken = Taken::of(history, grant, (cause, at.latest, *seq));
            (Ended::Expired, Some(taken))
        }
        KeyEnd::Expired { .. } | KeyEnd::Open => (Ended::Expired, None),
    };
    let until = key_taken.map_or(entitled, |taken| taken.at.min(entitled));
    let from = grant.granted.middle();
    let attempt = grant
        .attempt
        .and_then(|index| history.operations.get(index));
    Tenure {
        asked: attempt.map(|attempt| attempt.invoked),
        step: attempt.and_then(|attempt| attempt.step.clone()),
        worker: grant
            .worker
            .map(|worker| history.worker_name(worker).to_owned()),
        server: Some(grant.server.clone()),
        key: Some(grant.key.clone()),
        grant: grant.id.clone(),
        fencing: grant.fencing.map(|token| token.0),
        from,
        until: until.max(from),
        entitled: entitled.max(from),
        endless,
        ended,
        kept_on,
        granted_by: grant.seq,
        ended_by: grant.end_seq(),
        by_client: false,
        unheard: false,
        deleted_by: taken::deleted_by(history, grant),
        key_taken,
        blur: blur(grant),
    }
}

/// How widely begin and end are known: a release between the request and when its effect was read.
fn blur(grant: &Grant) -> u64 {
    let end = match &grant.end {
        KeyEnd::Released { at, .. } => *at,
        KeyEnd::Taken { .. } | KeyEnd::Open | KeyEnd::Expired { .. } => grant.lease_ends,
    };
    let half = |at: Bounds| (at.latest - at.earliest) / 2;
    half(grant.granted).max(if grant.endless { 0 } else { half(end) })
}

/// The server set the key without a lease, and nothing gave it one later.
fn endless(grant: &Grant) -> bool {
    match grant.extensions.last() {
        Some(extension) => extension.until.is_none(),
        None => grant.endless,
    }
}

/// Every grant of which its worker was told.
pub fn heard(history: &History) -> HashSet<&GrantId> {
    let told = history.operations.iter().filter_map(granted);
    told.map(|(grant, ..)| grant).collect()
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

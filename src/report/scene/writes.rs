//! Writes and seals: as a worker asked for them, joined with what the store's log says.

use super::compared;
use super::known::Known;
use super::rightful;
use super::tenure::Tenure;
use crate::ids::GrantId;
use crate::timeline::event::{Answer, AttemptKind, Call};
use crate::timeline::history::{History, Operation};
use std::collections::HashMap;

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The store took it.
    Accepted,
    /// The store refused it.
    Rejected,
    /// It never reached the store, or nobody knows.
    Unknown,
}

/// What is wrong with a write that the store accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// Its fencing token is older than one that the store knew.
    Stale,
    /// Under a fencing token that the lock never gave to its grant.
    Borrowed,
    /// Legal by the order of the fencing tokens, but its writer's entitlement had ended.
    Late,
}

/// One write or seal.
#[derive(Debug, Clone)]
pub struct WriteMark {
    /// Its id, `a.write.2`.
    pub write: String,
    /// Who.
    pub worker: String,
    /// A seal, not a write.
    pub seal: bool,
    /// When the worker asked.
    pub asked: u64,
    /// When the store applied or refused it; none if it never reached the store.
    pub applied: Option<u64>,
    /// Fencing token that it presented.
    pub fencing: Option<u64>,
    /// Highest fencing token that the store knew, or had accepted before.
    pub highest: Option<u64>,
    /// The write of another grant that the store had accepted under the same fencing token, which
    /// was the highest of any write.
    pub twin: Option<String>,
    /// Grant that it claims.
    pub grant: Option<GrantId>,
    /// The write that the writer had read before.
    pub based_on: Option<String>,
    /// The accepted write that this one replaced without having read it: that update is lost.
    pub overwrites: Option<String>,
    /// The job that it does.
    pub job: Option<String>,
    /// Its job had been done before: the store took it and changed nothing.
    pub again: bool,
    /// By when a store that compares apart from writing had compared its fencing token.
    pub compared: Option<u64>,
    /// What became of it.
    pub fate: Fate,
    /// Its fencing token is not the one that its grant came with.
    pub borrowed: bool,
    /// It was refused for its fencing token although its writer was entitled: the number was
    /// wrong, not the writer.
    pub rightful: bool,
    /// It was accepted although another grant had brought the same fencing token to the store and
    /// had been refused for it.
    pub reused: bool,
    /// Index of the tenure of its grant, if there is one.
    pub tenure: Option<usize>,
    /// How long after the end of its own entitlement it reached the store, ns; none if it was not
    /// late by more than the record blurs.
    pub late: Option<u64>,
    /// Lines that it rests on: invoke, return, store.
    pub events: Vec<u64>,
    /// The line to point at: the store's if there is one.
    pub event: u64,
}

impl WriteMark {
    /// When it counted: at the store, else when it was asked.
    pub fn at(&self) -> u64 {
        self.applied.unwrap_or(self.asked)
    }

    /// Its fencing token is older than one that the store knew, or one under which the store had
    /// taken a write of another grant. What changed nothing is neither: under which token does not
    /// matter.
    pub fn is_older(&self) -> bool {
        if self.again {
            return false;
        }
        let older = matches!((self.fencing, self.highest), (Some(own), Some(high)) if own < high);
        older || self.twin.is_some()
    }

    /// Its writer claims no grant and has no token: it writes without the lock, and changes something.
    pub fn is_lockless(&self) -> bool {
        !self.seal && !self.again && self.grant.is_none() && self.fencing.is_none()
    }

    /// Late, under a borrowed token, or older than what the store knew; a rightful writer's that was
    /// refused is none of these.
    pub fn is_stale(&self) -> bool {
        !self.rightful && !self.again && (self.late.is_some() || self.borrowed || self.is_older())
    }

    /// What is wrong with it although the store accepted it; none of a seal, which changes no data.
    pub fn harm(&self) -> Option<Harm> {
        if self.seal || self.again || self.fate != Fate::Accepted {
            None
        } else if self.is_older() {
            Some(Harm::Stale)
        } else if self.borrowed {
            Some(Harm::Borrowed)
        } else {
            self.late.map(|_| Harm::Late)
        }
    }

    /// What a picture marks as wrong: its harm, or that its token is another grant's, too.
    pub fn marked(&self) -> Option<Harm> {
        self.harm().or(self.reused.then_some(Harm::Stale))
    }
}

/// Every write and seal: those that workers asked for, joined with the store's log.
pub fn writes(history: &History, tenures: &[Tenure]) -> Vec<WriteMark> {
    let by_grant: HashMap<&GrantId, usize> = tenures
        .iter()
        .enumerate()
        .filter_map(|(index, tenure)| Some((tenure.grant.as_ref()?, index)))
        .collect();
    let mut marks: Vec<WriteMark> = Vec::new();
    let mut by_operation: HashMap<usize, usize> = HashMap::new();
    for (index, operation) in history.operations.iter().enumerate() {
        if let Some(mark) = asked(history, operation) {
            by_operation.insert(index, marks.len());
            marks.push(mark);
        }
    }
    let mut known = Known::default();
    let writes = history.store.iter();
    for attempt in writes.filter(|attempt| attempt.kind != AttemptKind::Read) {
        let asked = attempt
            .operation
            .and_then(|operation| by_operation.get(&operation).copied());
        let index = asked.unwrap_or_else(|| {
            marks.push(unasked(&attempt.write, attempt.kind, attempt.applied));
            marks.len() - 1
        });
        known.join(&mut marks[index], attempt);
    }
    for mark in &mut marks {
        mark.tenure = mark
            .grant
            .as_ref()
            .and_then(|grant| by_grant.get(grant).copied());
        mark.late = late(mark, tenures, history);
        let issued = mark.tenure.and_then(|tenure| tenures[tenure].fencing);
        mark.borrowed = issued.is_some() && mark.fencing.is_some() && issued != mark.fencing;
    }
    compared::find(&mut marks, history);
    rightful::find(&mut marks, history);
    rightful::reused(&mut marks);
    marks
}

/// By how much a write was late, as the findings tell it: since its writer's entitlement ended.
fn late(mark: &WriteMark, tenures: &[Tenure], history: &History) -> Option<u64> {
    let late = mark
        .applied?
        .checked_sub(tenures.get(mark.tenure?)?.entitled)?;
    (late > history.epsilon_ns).then_some(late)
}

fn asked(history: &History, operation: &Operation) -> Option<WriteMark> {
    let (write, seal, grant, fencing) = match &operation.call {
        Call::Write {
            write,
            grant,
            fencing,
            ..
        } => (write.clone(), false, grant.clone(), fencing),
        Call::Seal { grant, fencing } => (String::new(), true, Some(grant.clone()), fencing),
        _ => return None,
    };
    let fate = match operation.answer() {
        Some(Answer::Accepted) => Fate::Accepted,
        Some(Answer::Rejected { .. }) => Fate::Rejected,
        _ => Fate::Unknown,
    };
    let kind = if seal {
        AttemptKind::Seal
    } else {
        AttemptKind::Write
    };
    Some(WriteMark {
        worker: history.worker_name(operation.worker).to_owned(),
        applied: None,
        fencing: fencing.map(|token| token.0),
        grant,
        fate,
        events: operation.seqs(),
        event: operation.seq,
        ..unasked(&write, kind, operation.invoked)
    })
}

/// An attempt in the store's log that no worker's line speaks of.
fn unasked(write: &str, kind: AttemptKind, applied: u64) -> WriteMark {
    WriteMark {
        write: write.to_owned(),
        worker: write.split('.').next().unwrap_or(write).to_owned(),
        seal: kind == AttemptKind::Seal,
        asked: applied,
        applied: Some(applied),
        fencing: None,
        highest: None,
        twin: None,
        grant: None,
        based_on: None,
        overwrites: None,
        job: None,
        again: false,
        compared: None,
        fate: Fate::Unknown,
        borrowed: false,
        rightful: false,
        reused: false,
        tenure: None,
        late: None,
        events: Vec::new(),
        event: 0,
    }
}

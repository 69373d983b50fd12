//! Operations: an `invoke` paired with `ok`, `fail` or `info`.

use super::actors::FrameSeen;
use super::{History, NEVER};
use crate::ids::GrantId;
use crate::timeline::event::{Answer, Call, Outcome};

/// One operation of one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Index into [`super::History::workers`].
    pub worker: usize,
    /// Operation number, unique within the worker.
    pub op: u64,
    /// The script step it belongs to; none for the lock's own renewals.
    pub step: Option<String>,
    /// What was asked.
    pub call: Call,
    /// `seq` of the `invoke`.
    pub seq: u64,
    /// Lab time of the `invoke`, before any request left, ns.
    pub invoked: u64,
    /// How it returned; none if no answer is on the record: it may take effect at any time.
    pub returned: Option<Returned>,
}

/// The return of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Returned {
    /// `seq` of the `return`.
    pub seq: u64,
    /// Lab time, after the answer was known, ns.
    pub at: u64,
    /// Took effect, did not, or unknown.
    pub outcome: Outcome,
    /// What was answered.
    pub answer: Answer,
}

/// What an answer says about the effect that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// The answer says that it took effect.
    Done,
    /// The answer says that it definitely did not.
    NotDone,
    /// No answer, or one that leaves it open.
    Open,
}

impl History {
    /// The operation of which a fault held the request: what its worker had asked of the lock
    /// service last, index into [`History::operations`].
    pub fn held_operation(&self, held: &FrameSeen) -> Option<usize> {
        let worker = self.worker_index(held.edge.split_once('>')?.0)?;
        self.operations.iter().rposition(|one| {
            let on_the_wire = matches!(
                one.call,
                Call::Attempt { .. } | Call::Renew { .. } | Call::Release { .. }
            );
            on_the_wire && one.worker == worker && one.in_flight(held.at, held.at)
        })
    }
}

impl Operation {
    /// The grant that it names.
    pub fn grant(&self) -> Option<&GrantId> {
        match &self.call {
            Call::Attempt { grant, .. }
            | Call::Renew { grant, .. }
            | Call::Release { grant }
            | Call::Seal { grant, .. } => Some(grant),
            Call::Check { grant } | Call::Write { grant, .. } | Call::ReadUnder { grant, .. } => {
                grant.as_ref()
            }
            Call::Acquire
            | Call::Enter { .. }
            | Call::Read
            | Call::Publish { .. }
            | Call::Relay
            | Call::Refence
            | Call::Hold => None,
        }
    }

    /// Until when it may take effect: lab time of its return, or [`NEVER`] if no answer came or
    /// the answer leaves it open, ns.
    pub fn ended(&self) -> u64 {
        match &self.returned {
            Some(returned) if returned.outcome != Outcome::Info => returned.at,
            Some(_) | None => NEVER,
        }
    }

    /// It may have taken effect at some instant of `from ..= to`.
    pub fn in_flight(&self, from: u64, to: u64) -> bool {
        self.invoked <= to && self.ended() >= from
    }

    /// What its answer says about its effect.
    pub fn told(&self) -> Told {
        let Some(returned) = &self.returned else {
            return Told::Open;
        };
        match (returned.outcome, &returned.answer) {
            (Outcome::Info, _) => Told::Open,
            (Outcome::Fail, _) => Told::NotDone,
            (Outcome::Ok, answer) => match answer {
                Answer::Busy
                | Answer::Lost { .. }
                | Answer::AlreadyLost
                | Answer::Rejected { .. }
                | Answer::TimedOut
                | Answer::Error { .. } => Told::NotDone,
                Answer::Granted { .. }
                | Answer::Renewed
                | Answer::Released
                | Answer::Locked { .. }
                | Answer::Accepted
                | Answer::Value { .. }
                | Answer::Drawn { .. }
                | Answer::Done => Told::Done,
            },
        }
    }

    /// The answer, if there is one.
    pub fn answer(&self) -> Option<&Answer> {
        self.returned.as_ref().map(|returned| &returned.answer)
    }

    /// `seq` of its lines.
    pub fn seqs(&self) -> Vec<u64> {
        let mut seqs = vec![self.seq];
        seqs.extend(self.returned.as_ref().map(|returned| returned.seq));
        seqs
    }
}

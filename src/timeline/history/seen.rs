//! What was seen of the store, the handles, the observers and the host: lines by subject.

use super::time::{Bounds, Span};
use crate::ids::{FencingToken, GrantId, OwnerDigest};
use crate::timeline::event::AttemptKind;
use std::collections::BTreeMap;

/// One attempt in the store's own log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreAttempt {
    /// `seq` of the line.
    pub seq: u64,
    /// Place in the store's order, from 1.
    pub n: u64,
    /// Resource.
    pub resource: String,
    /// Write, seal or read.
    pub kind: AttemptKind,
    /// Its id.
    pub write: String,
    /// The worker in front of the id, index into [`super::History::workers`].
    pub worker: Option<usize>,
    /// The operation that made it, index into [`super::History::operations`].
    pub operation: Option<usize>,
    /// The write that the writer had read before; of a read, the write that it was shown.
    pub based_on: Option<String>,
    /// The grant it claims.
    pub grant: Option<GrantId>,
    /// The fencing token it presented.
    pub fencing: Option<FencingToken>,
    /// The job that it does.
    pub job: Option<String>,
    /// Accepted or not; what was done before counts as accepted.
    pub accepted: bool,
    /// Its job had been done before: nothing changed.
    pub done_before: bool,
    /// Highest fencing token known before.
    pub highest: Option<FencingToken>,
    /// Lab time at which the store applied it, ns.
    pub applied: u64,
}

impl StoreAttempt {
    /// The attempt changed the store.
    pub fn took_effect(&self) -> bool {
        self.accepted && !self.done_before
    }
}

/// One publication in the queue's own log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    /// `seq` of the line.
    pub seq: u64,
    /// Place in the queue's order, from 1.
    pub n: u64,
    /// The job.
    pub message: String,
    /// The step that published it.
    pub publish: String,
    /// The worker in front of the step, index into [`super::History::workers`].
    pub worker: Option<usize>,
    /// The queue had it already: nothing changed.
    pub known_before: bool,
    /// Lab time at which the queue took it, ns.
    pub applied: u64,
}

/// A handle told its owner that the lock is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time, ns.
    pub at: u64,
    /// The worker, index into [`super::History::workers`].
    pub worker: usize,
    /// The grant.
    pub grant: GrantId,
    /// Why.
    pub reason: String,
    /// The handle's own deadline, lab time, ns.
    pub deadline: u64,
}

/// A worker stood at a point of its script, went on, or was told to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointSeen {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time, ns; of a `go`, when the lab wrote the byte.
    pub at: u64,
    /// The worker, index into [`super::History::workers`].
    pub worker: usize,
    /// The point.
    pub point: String,
    /// It waits for a byte (meaningful for `points` alone).
    pub waits: bool,
}

/// The host kept the lab from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// `seq` of the line.
    pub seq: u64,
    /// From when to when, lab time.
    pub span: Span,
}

/// How long the host kept the lab from running within a span, ns.
pub(super) fn stalled_in(stalls: &[Stall], span: Span) -> u64 {
    stalls.iter().fold(0, |sum: u64, stall| {
        sum.saturating_add(stall.span.overlap(span))
    })
}

/// The observer of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observer {
    /// `seq` and lab time of the line that says that it is in sync.
    pub synced: Vec<(u64, u64)>,
    /// Gaps.
    pub gaps: Vec<Gap>,
}

/// The observer may have missed effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// `seq` of the line.
    pub seq: u64,
    /// When effects may have been missed, lab time.
    pub within: Bounds,
    /// Why.
    pub why: String,
}

/// What the store holds at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalValue {
    /// `seq` of the line.
    pub seq: u64,
    /// Resource.
    pub resource: String,
    /// Write id whose value stands.
    pub write: Option<String>,
    /// Highest fencing token accepted.
    pub highest: Option<FencingToken>,
    /// How often each job has taken effect.
    pub jobs: BTreeMap<String, u64>,
}

/// What a lock service holds at the end for one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalKey {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time, ns.
    pub at: u64,
    /// Server name.
    pub server: String,
    /// Key.
    pub key: String,
    /// Owner digest.
    pub owner: Option<OwnerDigest>,
    /// Remaining lease, milliseconds.
    pub remaining_ms: Option<u64>,
    /// The key exists.
    pub exists: bool,
}

/// A trigger, an await or the drill ran out of patience.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impatience {
    /// `seq` of the line.
    pub seq: u64,
    /// Lab time, ns.
    pub at: u64,
    /// What was awaited.
    pub awaited: String,
    /// By whom.
    pub by: String,
}

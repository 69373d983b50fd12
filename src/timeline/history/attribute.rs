//! Which operation caused an effect. The server's stream does not say who asked; what is known is
//! which operations were under way, and what each was answered.
//!
//! Nothing here trusts an owner string alone: a grant belongs to the attempt with its owner digest
//! that was under way when it was made and was told its fencing token. Near-linear: a worker does
//! one thing of a kind at a time, so a few steps back in its own list find all that count.

use super::grant::Author;
use super::operation::{Operation, Told};
use super::several::Several;
use super::time::Bounds;
use crate::ids::{FencingToken, GrantId, OwnerDigest};
use crate::timeline::event::{Answer, Call};
use foldhash::HashMap;

/// Operations of one kind that one worker can have under way at once, at most.
const STEPS_BACK: usize = 8;

/// Lock commands by what an effect must be matched with.
pub(super) struct Index<'a> {
    operations: &'a [Operation],
    attempts: HashMap<&'a OwnerDigest, Several>,
    /// Per worker, by invoke.
    renewals: Vec<Flights>,
    releases: Vec<Flights>,
    releases_of: HashMap<&'a GrantId, Several>,
    /// The key of each worker: a command on one key changes no other.
    keys: Vec<&'a str>,
}

/// One worker's operations of one kind, by invoke.
#[derive(Debug, Clone, Default)]
struct Flights {
    all: Vec<Flight>,
    /// Those whose outcome was left open: they may take effect much later.
    open: Vec<Flight>,
}

/// What is asked of an operation most often, side by side.
#[derive(Debug, Clone, Copy)]
struct Flight {
    invoked: u64,
    ended: u64,
    operation: usize,
}

impl<'a> Index<'a> {
    pub(super) fn new(operations: &'a [Operation], keys: Vec<&'a str>) -> Self {
        let workers = keys.len();
        let mut index = Index {
            operations,
            attempts: HashMap::default(),
            renewals: vec![Flights::default(); workers],
            releases: vec![Flights::default(); workers],
            releases_of: HashMap::default(),
            keys,
        };
        let commands = operations.iter().enumerate();
        let mut order: Vec<(u64, usize)> = commands
            .filter(|(_, operation)| on_the_wire(operation))
            .map(|(i, operation)| (operation.invoked, i))
            .collect();
        order.sort_unstable();
        index.attempts.reserve(order.len() / 2);
        for (_, i) in order {
            let operation = &operations[i];
            let flights = match &operation.call {
                Call::Attempt { owner, .. } => {
                    let known = index.attempts.entry(owner);
                    known
                        .and_modify(|all| all.add(i))
                        .or_insert(Several::One(i));
                    continue;
                }
                Call::Renew { .. } => &mut index.renewals[operation.worker],
                Call::Release { grant } => {
                    let known = index.releases_of.entry(grant);
                    known
                        .and_modify(|all| all.add(i))
                        .or_insert(Several::One(i));
                    &mut index.releases[operation.worker]
                }
                _other => continue,
            };
            let flight = Flight {
                invoked: operation.invoked,
                ended: operation.ended(),
                operation: i,
            };
            flights.all.push(flight);
            if operation.told() == Told::Open {
                flights.open.push(flight);
            }
        }
        index
    }

    /// The attempt that a grant answers.
    pub(super) fn attempt(
        &self,
        owner: &OwnerDigest,
        fencing: Option<FencingToken>,
        granted: Bounds,
    ) -> Option<usize> {
        let attempts = self.attempts.get(owner)?.all();
        let upto = attempts.partition_point(|i| self.operations[*i].invoked <= granted.latest);
        let recent = || attempts[..upto].iter().rev().take(256);
        recent()
            .filter(|i| self.operations[**i].ended() >= granted.earliest)
            .max_by_key(|i| likelihood(&self.operations[**i], fencing))
            // Nobody was asking any more, but somebody had been told no too early: a request can
            // lie at a server that stands still, long after its sender has given up.
            .or_else(|| recent().find(|i| self.operations[**i].told() == Told::NotDone))
            .copied()
    }

    /// The last attempt with this owner that was sent by then, whatever became of it.
    pub(super) fn last_attempt(&self, owner: &OwnerDigest, by: u64) -> Option<usize> {
        let attempts = self.attempts.get(owner)?.all();
        let upto = attempts.partition_point(|i| self.operations[*i].invoked <= by);
        attempts[..upto].last().copied()
    }

    /// Releases of one grant that were not refused, by invoke.
    pub(super) fn own_releases(&self, grant: Option<&GrantId>) -> impl Iterator<Item = usize> {
        grant
            .and_then(|grant| self.releases_of.get(grant))
            .map_or(&[][..], Several::all)
            .iter()
            .copied()
            .filter(|i| self.operations[*i].told() != Told::NotDone)
    }

    /// Who moved a key's deadline, at a time known within bounds. A renewal explains one effect.
    pub(super) fn renewed_by(
        &self,
        (holder, key): (Option<&GrantId>, &str),
        at: Bounds,
        explained: &dyn Fn(usize) -> bool,
    ) -> Author {
        let (own, foreign): (Vec<usize>, Vec<usize>) = self
            .under_way(&self.renewals, (key, at))
            .into_iter()
            .partition(|i| holder.is_some() && self.operations[*i].grant() == holder);
        let fresh = |set: &[usize], told: Told| -> Vec<usize> {
            let mut set = set.to_vec();
            set.retain(|i| self.operations[*i].told() == told && !explained(*i));
            set
        };
        let (own_done, own_open) = (fresh(&own, Told::Done), fresh(&own, Told::Open));
        let (done, open) = (fresh(&foreign, Told::Done), fresh(&foreign, Told::Open));
        if done.is_empty() && (!own_done.is_empty() || open.is_empty()) {
            let mine = own_done.first().or(own_open.first()).or(own.first());
            return Author::Own(mine.copied());
        }
        let suspects = if done.is_empty() { open } else { done };
        if own_done.is_empty() && own_open.is_empty() {
            return Author::Foreign(suspects);
        }
        Author::Unclear([own_done, own_open, suspects].concat())
    }

    /// A renewal of this grant that was under way and not refused.
    pub(super) fn renewal_under_way(
        &self,
        (grant, key): (&GrantId, &str),
        at: Bounds,
    ) -> Option<usize> {
        let mut under_way = self.under_way(&self.renewals, (key, at)).into_iter();
        under_way.find(|i| {
            let renewal = &self.operations[*i];
            renewal.grant() == Some(grant) && renewal.told() != Told::NotDone
        })
    }

    /// Releases of other grants that may have deleted a key between two times; the most likely
    /// kind only: those told done, else those left open, else those refused.
    pub(super) fn foreign_releases(
        &self,
        (holder, key): (Option<&GrantId>, &str),
        at: Bounds,
        explained: &dyn Fn(usize) -> bool,
    ) -> Vec<usize> {
        let mut suspects = self.under_way(&self.releases, (key, at));
        suspects.retain(|i| {
            !explained(*i) && (holder.is_none() || self.operations[*i].grant() != holder)
        });
        for told in [Told::Done, Told::Open, Told::NotDone] {
            let likely: Vec<usize> = suspects
                .iter()
                .copied()
                .filter(|i| self.operations[*i].told() == told)
                .collect();
            if !likely.is_empty() {
                return likely;
            }
        }
        Vec::new()
    }

    /// Operations that may have changed a key at a time known within bounds.
    fn under_way(&self, flights: &[Flights], (key, at): (&str, Bounds)) -> Vec<usize> {
        let mut found = Vec::new();
        let invoked = |flight: &Flight| flight.invoked <= at.latest;
        for (worker, of) in flights.iter().zip(&self.keys) {
            if *of != key {
                continue;
            }
            let all = &worker.all[..worker.all.partition_point(invoked)];
            let near = all.iter().rev().take(STEPS_BACK);
            let near = near.filter(|flight| flight.ended >= at.earliest);
            let start = found.len();
            found.extend(near.map(|flight| flight.operation));
            let open = &worker.open[..worker.open.partition_point(invoked)];
            if let Some(last) = open.last()
                && !found[start..].contains(&last.operation)
            {
                found.push(last.operation);
            }
        }
        found.sort_unstable();
        found
    }
}

/// How likely it is that an attempt became a grant with this fencing token.
fn likelihood(attempt: &Operation, fencing: Option<FencingToken>) -> u8 {
    match (attempt.told(), attempt.answer()) {
        (Told::Done, Some(Answer::Granted { fencing: told, .. })) => {
            if fencing.is_none() || *told == fencing {
                3
            } else {
                1
            }
        }
        (Told::Done, _) => 1,
        (Told::Open, _) => 2,
        (Told::NotDone, _) => 0,
    }
}

/// What never leaves the worker can have caused nothing.
const fn on_the_wire(operation: &Operation) -> bool {
    matches!(
        operation.call,
        Call::Attempt { .. } | Call::Renew { .. } | Call::Release { .. }
    )
}

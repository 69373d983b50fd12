//! Releases and renewals of one grant that were under way while another grant of the key was in
//! force: which of them are shown to have reached the server then, and which perhaps never did.
//!
//! What deleted or extended its own grant's key met no other's. One that was answered that the lock
//! is not its own was executed between its request and its answer; a held request when it was sent
//! on. One that was never answered, or was told as done although nothing was done, shows nothing.

use crate::env::action::{Action, Harm};
use crate::env::edge::Way;
use crate::faults;
use crate::ids::GrantId;
use crate::timeline::event::{Answer, Call, FrameFate};
use crate::timeline::history::{
    Author, FaultWindow, Grant, History, KeyEnd, NEVER, Operation, Told,
};
use foldhash::{HashMap, HashSet};

/// What was tried, by what is known of it: indices into the history's operations.
#[derive(Default)]
pub(super) struct Tried<'h> {
    /// Reached the server that had granted theirs while another grant certainly held the key there.
    pub(super) met: Vec<usize>,
    /// Sent then, by a worker whose edge to the server was cut by this fault.
    pub(super) cut: Vec<(usize, &'h str)>,
    /// Sent then, and no answer shows that they reached the server.
    pub(super) unshown: Vec<usize>,
    /// Answered, perhaps before the other was granted or after it had ended.
    pub(super) perhaps: Vec<usize>,
    /// Changed their own key while another grant held the key on another server.
    pub(super) own: Vec<usize>,
    /// Otherwise under way while this grant held the key on another server, and none on theirs.
    pub(super) elsewhere: Vec<(usize, &'h Grant)>,
}

/// Reads all releases and renewals.
pub(super) fn tried(history: &History) -> Tried<'_> {
    let mut keys: HashMap<&str, HashMap<&str, Vec<&Grant>>> = HashMap::default();
    for grant in &history.grants {
        let servers = keys.entry(&grant.key).or_default();
        servers.entry(&grant.server).or_default().push(grant);
    }
    let effective = effective(history);
    let sent_on = sent_on(history);
    let mut tried = Tried::default();
    for (index, operation) in history.operations.iter().enumerate() {
        let (Call::Renew { grant: id, .. } | Call::Release { grant: id }) = &operation.call else {
            continue;
        };
        let Some((own, servers)) = history
            .grant_of(id)
            .and_then(|own| Some((own, keys.get(&*own.key)?)))
        else {
            continue;
        };
        let there = servers.get(&*own.server).map_or(&[][..], Vec::as_slice);
        let others = servers.iter().filter(|(server, _)| **server != own.server);
        let mut others = others.filter_map(|(_, grants)| held_by_another(grants, operation, id));
        let delivered = sent_on.get(&index).copied();
        if effective.contains(&index) || gave_back(own, operation) {
            tried.own.extend(others.next().map(|_| index));
        } else if delivered.is_some_and(|at| is_held_at(there, at, id)) {
            tried.met.push(index);
        } else if let Some(holder) = held_by_another(there, operation, id) {
            tried.sort_in(history, index, holder);
        } else {
            tried
                .elsewhere
                .extend(others.next().map(|held| (index, held)));
        }
    }
    tried
}

impl<'h> Tried<'h> {
    fn sort_in(&mut self, history: &'h History, index: usize, holder: &Grant) {
        let operation = &history.operations[index];
        let within = holder.granted.latest <= operation.invoked
            && operation.ended() <= held_until(holder)
            && holder.doubt.is_none();
        if operation.told() == Told::NotDone && is_refused(operation) {
            match within {
                true => self.met.push(index),
                false => self.perhaps.push(index),
            }
        } else if let Some(fault) = cut_by(history, operation) {
            self.cut.push((index, fault));
        } else {
            self.unshown.push(index);
        }
    }
}

/// It was answered that the lock is not its own.
pub(super) fn is_refused(operation: &Operation) -> bool {
    matches!(
        operation.answer(),
        Some(Answer::Lost { .. } | Answer::AlreadyLost)
    )
}

/// Operations that the server's effects show on their own grant's key.
fn effective(history: &History) -> HashSet<usize> {
    let mut found = HashSet::default();
    for grant in &history.grants {
        if let KeyEnd::Released { operation, .. } = &grant.end {
            found.insert(*operation);
        }
        found.extend(grant.renewal);
        found.extend(grant.extensions.iter().filter_map(|one| match one.author {
            Author::Own(operation) => operation,
            Author::Unclear(_) | Author::Foreign(_) => None,
        }));
    }
    found
}

/// It gave its own grant back at another server, which had copied the key.
fn gave_back(own: &Grant, operation: &Operation) -> bool {
    let released = matches!(operation.call, Call::Release { .. });
    released && own.given_back.is_some() && operation.told() == Told::Done
}

/// Operations whose request a fault had held, with the lab time at which it was sent on, ns.
fn sent_on(history: &History) -> HashMap<usize, u64> {
    let mut found = HashMap::default();
    for window in &history.faults {
        let requests = || window.frames.iter().filter(|frame| !frame.reply);
        for held in requests().filter(|frame| frame.what == FrameFate::Held) {
            let operation = history.held_operation(held);
            let on = requests().find(|frame| {
                frame.what == FrameFate::Delivered && frame.edge == held.edge && frame.at >= held.at
            });
            found.extend(operation.zip(on.map(|frame| frame.at)));
        }
    }
    found
}

/// The fault that let nothing through from this worker to a lock server when this was sent.
fn cut_by<'h>(history: &'h History, operation: &Operation) -> Option<&'h str> {
    let name = history.worker_name(operation.worker);
    let silent = |window: &&FaultWindow| {
        let kind = faults::find(&window.kind);
        let mut onset = kind.into_iter().flat_map(|kind| kind.onset);
        onset.any(|action| {
            matches!(
                action,
                Action::Injure(Harm::Silence(Way::Both | Way::ToServer))
            )
        })
    };
    let met = |window: &&FaultWindow| {
        let mut hit = window.probes.iter().filter(|probe| probe.hit);
        let edge = hit.any(|probe| {
            let edge = probe.edge.split_once('>');
            edge.is_some_and(|(worker, server)| {
                worker == name && history.observers.contains_key(server)
            })
        });
        let in_effect = window.certain();
        edge && in_effect.is_some_and(|span| span.contains(operation.invoked))
    };
    let mut windows = history.faults.iter().filter(silent).filter(met);
    windows.next().map(|window| window.fault.as_str())
}

/// While an operation of one grant was under way, another of these, in the order of their server,
/// certainly held the key. One that was never answered counts only if it was sent then: else it may
/// have come before, or never.
fn held_by_another<'h>(
    grants: &[&'h Grant],
    operation: &Operation,
    own: &GrantId,
) -> Option<&'h Grant> {
    let ended = match operation.ended() {
        NEVER => operation.invoked,
        ended => ended,
    };
    held_within(grants, (operation.invoked, ended), own)
}

/// Another of these certainly held the key at a time, ns.
fn is_held_at(grants: &[&Grant], at: u64, own: &GrantId) -> bool {
    held_within(grants, (at, at), own).is_some_and(|other| other.doubt.is_none())
}

/// The last of these that was granted by `to`, if it is another and held the key after `from`, ns.
fn held_within<'h>(
    grants: &[&'h Grant],
    (from, to): (u64, u64),
    own: &GrantId,
) -> Option<&'h Grant> {
    let upto = grants.partition_point(|other| other.granted.latest <= to);
    let last = grants[..upto].last()?;
    let other = last.id.as_ref() != Some(own) && held_until(last) > from;
    other.then_some(last)
}

/// Until when a grant certainly held its key.
fn held_until(grant: &Grant) -> u64 {
    match &grant.end {
        KeyEnd::Open | KeyEnd::Expired { .. } => grant.lease_ends.earliest,
        KeyEnd::Released { at, .. } | KeyEnd::Taken { at, .. } => {
            at.earliest.min(grant.lease_ends.earliest)
        }
    }
}

/// The key of an operation's own grant was certainly still there until it was answered.
pub(super) fn still_has(own: &Grant, operation: &Operation) -> bool {
    operation.ended() <= held_until(own) && own.doubt.is_none()
}

//! Servers that know nothing of each other, of which a quorum has to agree: their votes, read from
//! each server's own stream as if it stood alone, put together to grants.
//!
//! A grant is there from the moment at which a quorum holds the key for one attempt until fewer
//! than a quorum do. What it promised ends as everywhere: with its own release or the lease of a
//! quorum. For one server that is the vote itself.
//!
//! The traps: votes come one after another and go one after another, each known within bounds of its
//! own server's clock; a vote that was withdrawn must not be counted with one of the next try. So a
//! quorum with such a vote that was not seen together for longer than two observers differ is a
//! doubt, and no grant that anything certain is said of.

use crate::ids::{FencingToken, GrantId, OwnerDigest};
use crate::timeline::event::Call;
use crate::timeline::history::grant::{Author, Extension, Grant, KeyEnd};
use crate::timeline::history::operation::{Operation, Told};
use crate::timeline::history::time::{Bounds, NEVER, Span};
use foldhash::HashMap;
use std::collections::BTreeMap;

mod vote;

use vote::{Vote, is_in_doubt};

/// The servers of a quorum, as a history names them together.
pub const QUORUM: &str = "quorum";

/// What was seen together for no longer may not have been there together, ns.
const TOGETHER_NS: u64 = 5_000_000;

/// The grants that the votes of several servers are, by the time at which they were made.
pub(super) fn of_votes(votes: Vec<Grant>, quorum: usize, operations: &[Operation]) -> Vec<Grant> {
    let mut attempts: BTreeMap<(String, String, Option<String>), Vec<Vote>> = BTreeMap::new();
    for grant in votes {
        let key = attempt_of(&grant);
        attempts.entry(key).or_default().push(Vote::new(grant));
    }
    let released = releases(operations);
    let mut grants: Vec<Grant> = Vec::new();
    for votes in attempts.values() {
        for (from, to) in periods(votes, quorum) {
            let members: Vec<&Vote> = votes
                .iter()
                .filter(|vote| vote.on < to && from < vote.off)
                .collect();
            let grant = together(&members, (from, to), quorum);
            grants.extend(grant.map(|grant| promised(grant, &released)));
        }
    }
    grants.sort_by_key(|grant| (grant.granted.latest, grant.seq));
    for (pos, grant) in grants.iter_mut().enumerate() {
        grant.pos = pos as u64;
    }
    grants
}

/// When the first release of each grant that was not refused was sent, ns.
fn releases(operations: &[Operation]) -> HashMap<&GrantId, u64> {
    let mut first: HashMap<&GrantId, u64> = HashMap::default();
    for operation in operations {
        if let Call::Release { grant } = &operation.call
            && operation.told() != Told::NotDone
        {
            let at = first.entry(grant).or_insert(NEVER);
            *at = (*at).min(operation.invoked);
        }
    }
    first
}

/// What the grant promised.
fn promised(mut grant: Grant, released: &HashMap<&GrantId, u64>) -> Grant {
    let sent = grant.id.as_ref().and_then(|id| released.get(id));
    let sent = sent.copied().unwrap_or(NEVER);
    let last = grant.released().map_or(NEVER, |at| at.latest);
    let certain = Span::new(grant.granted.latest, grant.lease_ends.earliest.min(sent));
    grant.definite = certain.filter(|_| grant.doubt.is_none());
    let until = grant.lease_ends.latest.min(last);
    grant.possible = Span {
        from: grant.granted.earliest,
        to: until.max(grant.granted.earliest),
    };
    grant
}

/// What tells the votes of one attempt from all others.
fn attempt_of(vote: &Grant) -> (String, String, Option<String>) {
    let id = vote.id.as_ref().map(|GrantId(id)| id.clone());
    let OwnerDigest(owner) = &vote.owner;
    (vote.key.clone(), owner.clone(), id)
}

/// From when to when a quorum was seen together, in order.
fn periods(votes: &[Vote], quorum: usize) -> Vec<(u64, u64)> {
    let mut turns: Vec<(u64, i64)> = Vec::new();
    // One that was over before it was seen was there with nobody.
    for vote in votes.iter().filter(|vote| vote.on < vote.off) {
        turns.push((vote.on, 1));
        turns.push((vote.off, -1));
    }
    // What goes at the moment at which another comes was not there with it.
    turns.sort_unstable();
    let (mut count, mut since, mut found) = (0, None, Vec::new());
    for (at, by) in turns {
        count += by;
        let enough = count >= quorum as i64;
        match (enough, since) {
            (true, None) => since = Some(at),
            (false, Some(from)) => {
                found.push((from, at));
                since = None;
            }
            _same => {}
        }
    }
    found.extend(since.map(|from| (from, NEVER)));
    found
}

/// What the votes of one period are together.
fn together(members: &[&Vote], (from, to): (u64, u64), quorum: usize) -> Option<Grant> {
    let at = quorum.checked_sub(1)?;
    let mut by_time: Vec<&&Vote> = members.iter().collect();
    by_time.sort_by_key(|vote| (vote.on, vote.grant.seq));
    let last = &by_time.get(at)?.grant;
    let rising = |value: fn(&Grant) -> u64| nth(members, at, value, false);
    let falling = |value: fn(&Grant) -> u64| nth(members, at, value, true);
    let endless = members.iter().filter(|vote| vote.grant.endless);
    let mut grant = Grant {
        server: QUORUM.to_owned(),
        granted: Bounds::between(
            rising(|vote| vote.granted.earliest),
            rising(|vote| vote.granted.latest),
        ),
        lease_ends: Bounds::between(
            falling(|vote| vote.lease_ends.earliest),
            falling(|vote| vote.lease_ends.latest),
        ),
        endless: endless.count() >= quorum,
        extensions: extensions(members, quorum),
        end: end(members, to),
        doubt: members.iter().find_map(|vote| vote.grant.doubt.clone()),
        ..last.clone()
    };
    let fencing = falling(|vote| vote.fencing.map_or(0, |FencingToken(token)| token));
    grant.fencing = (fencing > 0).then_some(FencingToken(fencing));
    // Who was told that he holds gives back; a vote that goes otherwise may have been withdrawn.
    let withdrawn =
        |vote: &&&Vote| vote.off <= to && matches!(vote.grant.end, KeyEnd::Taken { .. });
    let in_doubt = members.iter().any(|vote| is_in_doubt(&vote.grant));
    let for_a_moment = to - from < TOGETHER_NS && members.iter().any(|vote| withdrawn(&vote));
    if in_doubt || for_a_moment {
        let why = "a quorum was not seen together for long enough to be sure of it";
        grant.doubt.get_or_insert(why.to_owned());
    }
    Some(grant)
}

/// The value that a quorum does not fall short of, or does not exceed.
fn nth(members: &[&Vote], at: usize, value: fn(&Grant) -> u64, falling: bool) -> u64 {
    let mut values: Vec<u64> = members.iter().map(|vote| value(&vote.grant)).collect();
    values.sort_unstable();
    if falling {
        values.reverse();
    }
    values.get(at).copied().unwrap_or(0)
}

/// What moved the deadline of a quorum.
fn extensions(members: &[&Vote], quorum: usize) -> Vec<Extension> {
    let mut moved: Vec<(&Author, Vec<&Extension>)> = Vec::new();
    for extension in members.iter().flat_map(|vote| &vote.grant.extensions) {
        if extension.author == Author::Own(None) {
            continue;
        }
        match moved.iter_mut().find(|(by, _)| **by == extension.author) {
            Some((_, of)) => of.push(extension),
            None => moved.push((&extension.author, vec![extension])),
        }
    }
    let mut all: Vec<Extension> = Vec::new();
    for (_, mut of) in moved {
        of.sort_by_key(|one| (one.at.latest, one.seq));
        let Some(last) = of.get(quorum - 1) else {
            continue;
        };
        let mut until: Vec<Option<Bounds>> = of.iter().map(|one| one.until).collect();
        until.sort_by_key(|until| std::cmp::Reverse(until.map_or(NEVER, |until| until.latest)));
        all.push(Extension {
            until: until.get(quorum - 1).copied().flatten(),
            ..(*last).clone()
        });
    }
    all.sort_by_key(|one| (one.at.latest, one.seq));
    all
}

/// How fewer than a quorum came to be: by its own release, if that had part in it.
fn end(members: &[&Vote], to: u64) -> KeyEnd {
    let gone = members.iter().filter(|vote| vote.off <= to);
    let ends = gone.map(|vote| &vote.grant.end);
    let released = ends
        .clone()
        .find(|end| matches!(end, KeyEnd::Released { .. }));
    let last = members.iter().find(|vote| vote.off == to);
    match (released, last) {
        (
            Some(KeyEnd::Released {
                seq,
                pos,
                at,
                operation,
            }),
            _,
        ) => KeyEnd::Released {
            seq: *seq,
            pos: *pos,
            at: Bounds::between(at.earliest, to),
            operation: *operation,
        },
        (_, Some(vote)) => vote.grant.end.clone(),
        (_, None) => KeyEnd::Open,
    }
}

//! Several servers that copy each other: which effects are copies of another server's, and in
//! which order the rest is read.
//!
//! A key that is set for the same owner, with the same fencing token and the same deadline, was set
//! once and copied: it belongs to the server that took writes then, else to the one where it was
//! seen first. What else a server does while it copies another are copies, too. A promotion counts
//! from its earliest time on, the end of a reign from its latest: in between nobody is copied.

use super::RawEffect;
use crate::ids::{FencingToken, OwnerDigest};
use crate::timeline::event::Change;
use crate::timeline::history::roles::{RoleSeen, turns};
use foldhash::HashMap;
use std::collections::BTreeMap;

/// What tells one setting of a key from every other.
pub(super) type Identity = (String, OwnerDigest, Option<FencingToken>, Option<u64>);

/// The identity of an effect; none if it sets no key.
pub(super) fn identity(effect: &RawEffect) -> Option<Identity> {
    let Change::Set {
        owner,
        fencing,
        until_ms,
    } = &effect.change
    else {
        return None;
    };
    Some((effect.key.clone(), owner.clone(), *fencing, *until_ms))
}

/// Part of one server's stream during which it did not change its role.
#[derive(Debug)]
pub(super) struct Reign {
    pub(super) server: String,
    /// It took writes, or it is no server of several.
    pub(super) rules: bool,
    /// Lab time at which it began, ns.
    from: u64,
    pub(super) effects: Vec<RawEffect>,
}

/// When a server changed its role, as effects are sorted by it.
fn changes(roles: &[RoleSeen]) -> Vec<(u64, bool)> {
    let turn = |role: &RoleSeen| match (role.since, role.primary) {
        (None, primary) => (0, primary),
        (Some(since), true) => (since, true),
        (Some(_), false) => (role.at, false),
    };
    turns(roles).map(turn).collect()
}

/// The parts of every server's stream in the order in which they are to be read: reigns as they
/// began, before each what that server had copied until then, and what is only copied last.
pub(super) fn in_order(
    effects: BTreeMap<String, Vec<RawEffect>>,
    roles: &BTreeMap<String, Vec<RoleSeen>>,
) -> Vec<Reign> {
    let mut parts: Vec<Reign> = Vec::new();
    for (server, effects) in effects {
        match roles.get(&server) {
            None => parts.push(Reign {
                server,
                rules: true,
                from: 0,
                effects,
            }),
            Some(roles) => parts.extend(split(&server, effects, &changes(roles))),
        }
    }
    let mut ordered: Vec<((u64, bool), Reign)> = Vec::new();
    let begins: Vec<(String, u64)> = parts
        .iter()
        .filter(|part| part.rules)
        .map(|part| (part.server.clone(), part.from))
        .collect();
    for part in parts {
        let next = begins
            .iter()
            .filter(|(server, from)| *server == part.server && *from >= part.from);
        let place = match part.rules {
            true => (part.from, true),
            false => (next.map(|(_, from)| *from).min().unwrap_or(u64::MAX), false),
        };
        ordered.push((place, part));
    }
    ordered.sort_by_key(|(place, _)| *place);
    ordered.into_iter().map(|(_, part)| part).collect()
}

fn split(server: &str, effects: Vec<RawEffect>, changes: &[(u64, bool)]) -> Vec<Reign> {
    let begun = |(from, rules): &(u64, bool)| Reign {
        server: server.to_owned(),
        rules: *rules,
        from: *from,
        effects: Vec::new(),
    };
    let mut parts: Vec<Reign> = changes.iter().map(begun).collect();
    let mut at = 0;
    for effect in effects {
        // In the server's own order: what comes later is of the same part or of a later one.
        while parts.get(at + 1).is_some_and(|next| next.from <= effect.at) {
            at += 1;
        }
        if let Some(part) = parts.get_mut(at) {
            part.effects.push(effect);
        }
    }
    parts
}

/// Where each key was set that was set on several servers: there it was granted.
#[derive(Debug, Default)]
pub(super) struct Originals(HashMap<Identity, (String, u64)>);

impl Originals {
    pub(super) fn of(parts: &[Reign], roles: &BTreeMap<String, Vec<RoleSeen>>) -> Originals {
        type Found = ((bool, u64), (String, u64));
        let mut best: HashMap<Identity, Found> = HashMap::default();
        let several = parts.iter().filter(|part| roles.contains_key(&part.server));
        for part in several {
            for effect in &part.effects {
                let Some(identity) = identity(effect) else {
                    continue;
                };
                let rank = (!part.rules, effect.at);
                let place = (part.server.clone(), effect.pos);
                let found = best.entry(identity).or_insert((rank, place.clone()));
                if rank < found.0 {
                    *found = (rank, place);
                }
            }
        }
        Originals(
            best.into_iter()
                .map(|(id, (_, place))| (id, place))
                .collect(),
        )
    }

    /// The effect is a copy of what another server did.
    pub(super) fn is_copy(&self, identity: &Identity, server: &str, pos: u64) -> bool {
        let original = self.0.get(identity);
        original.is_some_and(|(of, at)| (of.as_str(), *at) != (server, pos))
    }
}

//! The server's effects, in the server's order, to grants.
//!
//! The traps: an expiry is seen only when the server notices it, so the end of a lease is its
//! deadline and never the deletion; release and expiry look alike; the key may end without the
//! entitlement ending; a key may be extended by somebody who does not hold it.

use super::attribute::Index;
use super::clock_map::ClockMap;
use super::collect::RawEffect;
use super::grant::{Cause, Grant, KeyEnd};
use super::operation::Operation;
use super::roles::RoleSeen;
use super::seen::Stall;
use super::time::{Bounds, ms};
use super::{Defect, History};
use crate::ids::GrantId;
use crate::timeline::event::Change;
use foldhash::HashMap;
use reigns::{Identity, Originals};
use std::collections::BTreeMap;

mod copied;
mod ends;
mod entitlement;
mod granted;
mod quorum;
mod reigns;
mod restart;
mod trust;

pub use quorum::QUORUM;

/// What the servers' effects say.
#[derive(Debug, Default)]
pub(super) struct Granted {
    pub(super) grants: Vec<Grant>,
    /// The first grant of each attempt.
    pub(super) by_id: HashMap<GrantId, usize>,
    pub(super) defects: Vec<Defect>,
}

/// Reads all effects.
pub(super) fn derive_grants(
    history: &History,
    mut effects: BTreeMap<String, Vec<RawEffect>>,
) -> Granted {
    let mut defects = Vec::new();
    for (server, effects) in &mut effects {
        effects.sort_by_key(|effect| (effect.pos, effect.seq));
        defects.extend(trust::check_order(history, server, effects));
    }
    let keys = (0..history.workers.len()).map(|worker| history.key_of(worker));
    let index = &Index::new(&history.operations, keys.collect());
    let voters = history.plan.lock.voters > 0;
    let parts = reigns::in_order(effects, &history.roles);
    let grants = if voters {
        let each = parts
            .into_iter()
            .map(|part| read(history, index, vec![part]));
        let quorum = history.plan.lock.quorum();
        quorum::of_votes(each.flatten().collect(), quorum, &history.operations)
    } else {
        read(history, index, parts)
    };
    Granted {
        by_id: first_by_id(&grants),
        grants,
        defects,
    }
}

/// The grants that servers made, and what may be doubted of them.
fn read<'a>(history: &'a History, index: &'a Index<'a>, parts: Vec<reigns::Reign>) -> Vec<Grant> {
    let mut book = Book {
        originals: Originals::of(&parts, &history.roles),
        several: &history.roles,
        made: HashMap::default(),
        newest: HashMap::default(),
        left: HashMap::default(),
        operations: &history.operations,
        clocks: &history.clocks,
        lease_ms: history.plan.lock.lease_ms,
        late_ns: ms(history.plan.recovery_bound_ms).saturating_add(history.epsilon_ns),
        stalls: &history.stalls,
        index,
        grants: Vec::new(),
        held: HashMap::default(),
        explained: vec![false; history.operations.len()],
        either: HashMap::default(),
        server: String::new(),
        clock: None,
        tells_deadlines: history.tells_deadlines(),
        voters: history.plan.lock.voters > 0,
        floor: 0,
    };
    for part in parts {
        book.turn_to(part.server);
        for effect in &part.effects {
            if part.rules {
                book.take(effect);
            } else {
                book.copy(effect);
            }
        }
    }
    let mut grants = book.close();
    let trust = trust::Trust::new(&history.observers);
    for grant in &mut grants {
        grant.doubt = trust.doubt(grant);
        if grant.doubt.is_some() {
            grant.definite = None;
        }
    }
    grants
}

fn first_by_id(grants: &[Grant]) -> HashMap<GrantId, usize> {
    let mut by_id = HashMap::default();
    by_id.reserve(grants.len());
    for (i, grant) in grants.iter().enumerate() {
        if let Some(id) = &grant.id {
            by_id.entry(id.clone()).or_insert(i);
        }
    }
    by_id
}

type Held = HashMap<String, (usize, Option<Bounds>)>;

/// What is known while the effects go by.
struct Book<'a> {
    operations: &'a [Operation],
    clocks: &'a BTreeMap<String, ClockMap>,
    lease_ms: u64,
    /// What an effect that was told as done may be late to be seen, ns; host stalls come on top.
    late_ns: u64,
    stalls: &'a [Stall],
    index: &'a Index<'a>,
    grants: Vec<Grant>,
    /// On this server: key → index of the grant that holds it, and the key's own deadline (none =
    /// no lease).
    held: Held,
    /// The same of other servers, and their floors.
    left: HashMap<String, (Held, u64)>,
    /// Servers that are one lock service.
    several: &'a BTreeMap<String, Vec<RoleSeen>>,
    /// Which of equal effects on several servers was the first.
    originals: Originals,
    /// Grants of several servers by what tells their effects from others.
    made: HashMap<Identity, usize>,
    /// The newest grant of each server and key.
    newest: HashMap<(String, String), usize>,
    /// Which operations have caused an effect already.
    explained: Vec<bool>,
    /// Releases that ended their own key, or found it just expired: → that grant. Either is
    /// possible until an effect turns up that nothing else can have caused.
    either: HashMap<usize, usize>,
    server: String,
    clock: Option<&'a ClockMap>,
    /// That no deadline is told means that there is none.
    tells_deadlines: bool,
    /// This is one of several servers of which a quorum has to agree.
    voters: bool,
    /// No later effect of this server was applied before this, ns.
    floor: u64,
}

impl Book<'_> {
    /// From here on effects are of this server.
    fn turn_to(&mut self, server: String) {
        let before = std::mem::replace(&mut self.server, server.clone());
        let held = std::mem::take(&mut self.held);
        self.left.insert(before, (held, self.floor));
        (self.held, self.floor) = self.left.remove(&server).unwrap_or_default();
        self.clock = self.clocks.get(&server);
    }

    fn take(&mut self, effect: &RawEffect) {
        match &effect.change {
            Change::Set {
                owner,
                fencing,
                until_ms,
            } => {
                if !self.is_copied_set(effect, *until_ms)
                    && !self.written_anew(effect, (owner, *fencing), *until_ms)
                {
                    self.granted(effect, owner, *fencing, *until_ms);
                }
            }
            Change::Extended { until_ms } => self.extended(effect, *until_ms),
            Change::Deleted => {
                if let Some((holder, until)) = self.held.remove(&effect.key) {
                    if self.ended_elsewhere(holder) {
                        self.deleted_again(effect, holder);
                    } else {
                        self.grants[holder].end = self.deleted(effect, holder, until);
                    }
                }
            }
            Change::Flushed => {
                let at = Bounds::between(self.floor, effect.at);
                for (holder, _) in std::mem::take(&mut self.held).into_values() {
                    self.grants[holder].end = KeyEnd::Taken {
                        seq: effect.seq,
                        pos: effect.pos,
                        at,
                        cause: Cause::Flush,
                    };
                }
            }
            Change::Restarted {
                owner, until_ms, ..
            } => self.restarted(effect, owner.as_ref(), *until_ms),
            Change::Copied {
                owner, until_ms, ..
            } => self.copied_anew(effect, owner.as_ref(), *until_ms),
            Change::Counter { .. } => {}
        }
    }
}

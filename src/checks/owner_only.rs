//! `owner_only`: a release or renewal of one grant never changes the key or lease of another, nor
//! takes the key once more when its own has ended.
//!
//! The server's stream does not say who asked. A deletion before the deadline, with no release of
//! the holder's own under way and one of another grant under way, is that other's doing; likewise
//! an extension.

use super::say::{secs, whose, workers_of};
use super::{Check, Finding};
use crate::ids::GrantId;
use crate::timeline::event::Call;
use crate::timeline::history::{Author, Cause, Grant, History, KeyEnd, NEVER, Operation};
use foldhash::HashMap;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct OwnerOnly;

impl Check for OwnerOnly {
    fn name(&self) -> &'static str {
        "owner_only"
    }

    fn claim(&self) -> &'static str {
        "a release or renewal of one grant never changes the key or lease of another, nor takes the key anew"
    }

    fn judge(&self, history: &History) -> Finding {
        let anew = self.taken_anew(history);
        anew.unwrap_or_else(|| self.of_another(history))
    }
}

impl OwnerOnly {
    fn of_another(&self, history: &History) -> Finding {
        let mut unclear = None;
        for grant in history.grants.iter().filter(|grant| grant.doubt.is_none()) {
            for extension in &grant.extensions {
                match &extension.author {
                    Author::Foreign(operations) if !operations.is_empty() => {
                        let what = format!("extended at {}", secs(extension.at.latest));
                        let seen = (what, extension.seq);
                        return self.violated(history, grant, operations, seen);
                    }
                    Author::Unclear(_) => {
                        unclear.get_or_insert((grant, "extended", extension.seq));
                    }
                    Author::Foreign(_) | Author::Own(_) => {}
                }
            }
            let KeyEnd::Taken { seq, at, cause, .. } = &grant.end else {
                continue;
            };
            match cause {
                Cause::BlindDelete(operations) => {
                    let seen = (format!("deleted by {}", secs(at.latest)), *seq);
                    return self.violated(history, grant, operations, seen);
                }
                Cause::Unclear(_) => {
                    unclear.get_or_insert((grant, "deleted", *seq));
                }
                Cause::Overwrite(_)
                | Cause::Flush
                | Cause::Restart
                | Cause::Failover
                | Cause::Clock
                | Cause::Unexplained => {}
            }
        }
        if let Some((grant, what, seq)) = unclear {
            let why = format!(
                "the key of {} was {what}, and it cannot be told by whose request",
                whose(history, grant)
            );
            return Finding::unknown(self, why).resting_on([grant.seq, seq]);
        }
        if asked(history)
            && let Some(unseen) = Finding::unseen(self, history)
        {
            return unseen;
        }
        self.nothing_changed(history)
    }

    /// How often it could have been, and where.
    fn nothing_changed(&self, history: &History) -> Finding {
        let Tried { there, elsewhere } = tried(history);
        // Each server has a key of its own: what one did says nothing of another's.
        let where_else = match elsewhere.len() {
            0 => String::new(),
            n => {
                format!(" on the server that had granted theirs, and on another server alone: {n}")
            }
        };
        if there.is_empty() {
            let why = match elsewhere.len() {
                0 => "no release or renewal was tried while another grant held the key".to_owned(),
                n => format!(
                    "no release or renewal was tried while another grant held the key on the server \
                     that had granted its own; while one held it on another server: {n}"
                ),
            };
            let seqs = elsewhere.iter().flat_map(|i| history.operations[*i].seqs());
            return Finding::vacuous(self, why).resting_on(seqs.take(20));
        }
        let why = format!(
            "releases or renewals tried while another grant held the key: {}{where_else}; nothing \
             changed",
            there.len()
        );
        let seqs = there.iter().flat_map(|i| history.operations[*i].seqs());
        Finding::holds(self, why).resting_on(seqs.take(20))
    }

    fn taken_anew(&self, history: &History) -> Option<Finding> {
        let sure = history.grants.iter().filter(|grant| grant.doubt.is_none());
        let mut anew = sure.filter_map(|grant| Some((grant, grant.renewal?)));
        let (grant, renewal) = anew.next()?;
        let renewal = &history.operations[renewal];
        let why = format!(
            "a renewal of {} took the key anew at {}: its own had ended, and nobody had asked for another",
            history.worker_name(renewal.worker),
            secs(grant.granted.latest)
        );
        let violated = Finding::violated(self, why)
            .resting_on([grant.seq].into_iter().chain(renewal.seqs()))
            .witnessed_by(history, [renewal.worker]);
        Some(violated)
    }

    fn violated(
        &self,
        history: &History,
        victim: &Grant,
        culprits: &[usize],
        (what, seq): (String, u64),
    ) -> Finding {
        let operations = culprits.iter().map(|i| &history.operations[*i]);
        let verb = match operations.clone().next().map(|operation| &operation.call) {
            Some(Call::Renew { .. }) => "renewal",
            Some(_) | None => "release",
        };
        let why = format!(
            "the key of {} was {what} by a {verb} of {}, which was not its holder",
            whose(history, victim),
            workers_of(history, culprits)
        );
        let workers: Vec<usize> = operations
            .clone()
            .map(|operation| operation.worker)
            .collect();
        Finding::violated(self, why)
            .resting_on(
                [victim.seq, seq]
                    .into_iter()
                    .chain(operations.flat_map(Operation::seqs)),
            )
            .witnessed_by(history, workers.into_iter().chain(victim.worker))
    }
}

/// Somebody asked for a release or a renewal.
fn asked(history: &History) -> bool {
    let mut operations = history.operations.iter();
    operations.any(|one| matches!(one.call, Call::Renew { .. } | Call::Release { .. }))
}

/// Releases and renewals that were under way while another grant than theirs held the key, by index.
#[derive(Default)]
struct Tried {
    /// Held on the server that had granted theirs.
    there: Vec<usize>,
    /// Held on other servers alone.
    elsewhere: Vec<usize>,
}

/// One that was never answered counts only if it was sent then: else it may have come before, or
/// never.
fn tried(history: &History) -> Tried {
    let mut keys: HashMap<&str, HashMap<&str, Vec<&Grant>>> = HashMap::default();
    let mut place_of: HashMap<&GrantId, (&str, &str)> = HashMap::default();
    for grant in &history.grants {
        let (key, server) = (&*grant.key, &*grant.server);
        let servers = keys.entry(key).or_default();
        servers.entry(server).or_default().push(grant);
        if let Some(id) = &grant.id {
            place_of.entry(id).or_insert((key, server));
        }
    }
    let mut tried = Tried::default();
    for (index, operation) in history.operations.iter().enumerate() {
        let (Call::Renew { grant, .. } | Call::Release { grant }) = &operation.call else {
            continue;
        };
        let Some((key, server)) = place_of.get(grant) else {
            continue;
        };
        let Some(servers) = keys.get(key) else {
            continue;
        };
        let held = |grants: &Vec<&Grant>| held_by_another(grants, operation, grant);
        if servers.get(server).is_some_and(held) {
            tried.there.push(index);
        } else if servers.values().any(held) {
            tried.elsewhere.push(index);
        }
    }
    tried
}

/// While an operation of one grant was under way, another of these, in the order of their server,
/// certainly held the key.
fn held_by_another(grants: &[&Grant], operation: &Operation, own: &GrantId) -> bool {
    let ended = match operation.ended() {
        NEVER => operation.invoked,
        ended => ended,
    };
    let upto = grants.partition_point(|other| other.granted.latest <= ended);
    grants[..upto].last().is_some_and(|other| {
        other.id.as_ref() != Some(own) && held_until(other) > operation.invoked
    })
}

/// Until when a grant certainly held its key.
fn held_until(grant: &Grant) -> u64 {
    match &grant.end {
        KeyEnd::Open => grant.lease_ends.earliest,
        KeyEnd::Released { at, .. } => at.earliest.min(grant.lease_ends.earliest),
        KeyEnd::Expired { .. } => grant.lease_ends.earliest,
        KeyEnd::Taken { at, .. } => at.earliest.min(grant.lease_ends.earliest),
    }
}

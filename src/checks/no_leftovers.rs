//! `no_leftovers`: after the end nothing is left: no key without a lease, no key past its lease,
//! no process, rule or folder.

use super::say::{secs, who, whose};
use super::{Check, Finding};
use crate::timeline::history::{FinalKey, Grant, History, ms};

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct NoLeftovers;

impl Check for NoLeftovers {
    fn name(&self) -> &'static str {
        "no_leftovers"
    }

    fn claim(&self) -> &'static str {
        "after the end there is no key without a lease or past it, no process, no rule, no folder"
    }

    fn judge(&self, history: &History) -> Finding {
        for key in history.final_keys.iter().filter(|key| key.exists) {
            let holder = holder(history, key);
            if let Some(what) = wrong(history, key, holder) {
                return Finding::violated(self, what)
                    .resting_on([key.seq].into_iter().chain(holder.map(|grant| grant.seq)))
                    .witnessed_by(history, holder.and_then(|grant| grant.worker));
            }
        }
        if history.final_keys.iter().any(|key| key.exists)
            && let Some(unseen) = Finding::unseen(self, history)
        {
            return unseen;
        }
        let Some((seq, left)) = &history.sweep else {
            return Finding::unknown(self, "nobody looked for what was left");
        };
        if !left.is_empty() {
            let why = format!("left behind: {}", left.join(", "));
            return Finding::violated(self, why).resting_on([*seq]);
        }
        let there = history.final_keys.iter().filter(|key| key.exists);
        let there: Vec<&FinalKey> = there.collect();
        let why = match there.as_slice() {
            [] => "nothing was left".to_owned(),
            keys => format!(
                "nothing was left but what ends by itself: {}",
                keys.iter()
                    .map(|key| ending(history, key))
                    .collect::<Vec<_>>()
                    .join("; ")
            ),
        };
        Finding::holds(self, why)
            .resting_on([*seq])
            .resting_on(there.iter().map(|key| key.seq))
    }
}

/// A key that is still there and has a lease: whose it is, and how long it has yet.
fn ending(history: &History, key: &FinalKey) -> String {
    let holder = holder(history, key);
    let of = holder.map_or("nobody on the record".to_owned(), |grant| {
        whose(history, grant)
    });
    format!(
        "the key {} on {}, of {of}, had {} of its lease left at {}{}",
        key.key,
        key.server,
        secs(ms(key.remaining_ms.unwrap_or(0))),
        secs(key.at),
        holder.map_or(String::new(), |grant| gone(history, grant, key.at))
    )
}

/// That a grant's process had ended by then, so that nobody renews it or gives it back.
fn gone(history: &History, grant: &Grant, by: u64) -> String {
    let worker = grant.worker.and_then(|index| history.workers.get(index));
    let gone = worker.and_then(|worker| worker.gone(grant.granted.latest));
    match gone.filter(|gone| *gone <= by) {
        Some(gone) => format!(
            " (the process of {} had ended at {})",
            who(history, grant),
            secs(gone)
        ),
        None => String::new(),
    }
}

/// The last grant whose key this is.
fn holder<'a>(history: &'a History, key: &FinalKey) -> Option<&'a Grant> {
    history.grants.iter().rfind(|grant| {
        (&*grant.server, &grant.key) == (history.granted_by(&key.server), &key.key)
            && key.owner.as_ref().is_none_or(|owner| *owner == grant.owner)
    })
}

/// What is wrong with a key that is still there.
fn wrong(history: &History, key: &FinalKey, holder: Option<&Grant>) -> Option<String> {
    let name = &key.key;
    if key.remaining_ms.is_none() {
        return Some(format!("the key {name} was left without a lease"));
    }
    if !history.tells_deadlines() {
        // It is there because its server keeps the lease yet: nobody else could say until when.
        return None;
    }
    let holder = holder.filter(|grant| grant.doubt.is_none())?;
    let until = holder
        .extensions
        .iter()
        .filter_map(|extension| extension.until);
    let until = until.map(|until| until.latest).max().unwrap_or(0);
    let until = until.max(holder.lease_ends.latest);
    (key.at > until.saturating_add(history.epsilon_ns)).then(|| {
        format!(
            "the key {name} was still there at {}, {} after its lease had ended",
            secs(key.at),
            secs(key.at - until)
        )
    })
}

//! `single_holder`: by the server's truth, no two entitlements of one key overlap.
//!
//! It reads the server's effects alone (delete every worker's events and it still answers);
//! operations only name who and why. An entitlement ends by its own release or with its lease;
//! a key that vanishes earlier leaves the entitlement standing, and that is how two come to hold.
//! The trap: two grants that touch (one lease ends, the next begins) overlap by less than ε.

use super::say::{secs, who, whose, workers_of};
use super::{Check, Finding};
use crate::timeline::history::{Cause, FaultWindow, Grant, History, KeyEnd};
use foldhash::HashMap;

mod failover;
mod overlap;

use overlap::{Before, Overlap, in_order};

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct SingleHolder;

impl Check for SingleHolder {
    fn name(&self) -> &'static str {
        "single_holder"
    }

    fn claim(&self) -> &'static str {
        "by the server's truth, two grants of one key are never in force at the same time"
    }

    fn judge(&self, history: &History) -> Finding {
        let grants = &history.grants;
        let mut doubtful = None;
        let mut keys: HashMap<_, Before> = HashMap::default();
        for later in in_order(history) {
            let (server, key) = (&grants[later].server, &grants[later].key);
            // Servers that are one lock service share their keys.
            let alone = Some(server).filter(|server| !history.is_one_of_several(server));
            let before = keys.entry((alone, key)).or_default();
            match before.overlap(history, later) {
                Overlap::Certain { earlier, later, ns } => {
                    return self.violated(history, (earlier, later), ns);
                }
                Overlap::Possible { earlier, later } => {
                    doubtful.get_or_insert((earlier, later));
                }
                Overlap::None => {}
            }
            before.add(grants, later);
        }
        if let Some((earlier, later)) = doubtful {
            return self.unclear(history, earlier, later);
        }
        if let Some(unseen) = Finding::unseen(self, history) {
            return unseen;
        }
        if grants.len() < 2 {
            return Finding::vacuous(self, "fewer than two grants were made");
        }
        let why = format!(
            "{} grants, no two of them shown to be in force at the same time (their times are known to within \
             {} at best)",
            grants.len(),
            secs(history.epsilon_ns)
        );
        Finding::holds(self, why)
    }
}

impl SingleHolder {
    fn violated(&self, history: &History, pair: (usize, usize), ns: u64) -> Finding {
        let (earlier, later) = (&history.grants[pair.0], &history.grants[pair.1]);
        let (cause, culprits) = if earlier.server == later.server {
            cause(history, earlier)
        } else {
            (failover::told(history, earlier, later), Vec::new())
        };
        let why = format!(
            "{} was granted at {} while {} was in force until {}{}: both were entitled for {}; {cause}",
            whose(history, later).replace("'s grant", ""),
            secs(later.granted.middle()),
            whose(history, earlier),
            secs(earlier.ended()),
            told_before(history, earlier, later),
            secs(ns),
        );
        let operations = culprits.iter().map(|i| &history.operations[*i]);
        let workers: Vec<usize> = operations
            .clone()
            .map(|operation| operation.worker)
            .collect();
        let seqs = operations.flat_map(crate::timeline::history::Operation::seqs);
        let blamed = (earlier.server != later.server).then_some(&*later.server);
        Finding::violated(self, why)
            .blaming(blamed)
            .resting_on(failover::events(history, earlier, later))
            .resting_on(
                [earlier.seq, later.seq]
                    .into_iter()
                    .chain(earlier.end_seq())
                    .chain(seqs),
            )
            .resting_on(
                earlier
                    .own_extensions()
                    .last()
                    .map(|extension| extension.seq),
            )
            .witnessed_by(
                history,
                workers
                    .into_iter()
                    .chain(earlier.worker)
                    .chain(later.worker),
            )
    }

    fn unclear(&self, history: &History, earlier: usize, later: usize) -> Finding {
        let (earlier, later) = (&history.grants[earlier], &history.grants[later]);
        let doubt = earlier.doubt.as_ref().or(later.doubt.as_ref());
        let reason = doubt.map_or("their times are not known well enough", String::as_str);
        let why = format!(
            "{} may have been in force when {} was granted at {}: {reason}",
            whose(history, earlier),
            who(history, later),
            secs(later.granted.middle()),
        );
        Finding::unknown(self, why).resting_on(
            [earlier.seq, later.seq]
                .into_iter()
                .chain(earlier.end_seq()),
        )
    }
}

/// The earlier holder knew by then that its lock was gone: it is entitled to the end of its lease
/// all the same, and need not have made use of it.
fn told_before(history: &History, earlier: &Grant, later: &Grant) -> String {
    let mut losses = history.losses.iter();
    let told = losses
        .find(|loss| Some(&loss.grant) == earlier.id.as_ref() && loss.at < later.granted.earliest);
    told.map_or_else(String::new, |loss| {
        format!(
            " (its handle had said at {} that it is lost)",
            secs(loss.at)
        )
    })
}

/// Why the key was free for another grant, and the operations to blame.
fn cause(history: &History, earlier: &Grant) -> (String, Vec<usize>) {
    let KeyEnd::Taken { cause, at, .. } = &earlier.end else {
        return ("the record does not show why".to_owned(), Vec::new());
    };
    let at = secs(at.latest);
    match cause {
        Cause::BlindDelete(operations) => (
            format!(
                "a release by {} deleted its key by {at}",
                workers_of(history, operations)
            ),
            operations.clone(),
        ),
        Cause::Overwrite(operations) => (
            format!(
                "an attempt by {} overwrote its key by {at}",
                workers_of(history, operations)
            ),
            operations.clone(),
        ),
        Cause::Flush => (format!("the server was flushed by {at}"), Vec::new()),
        Cause::Restart => (
            format!("the server was started again and had lost its key by {at}"),
            Vec::new(),
        ),
        Cause::Failover => (
            format!("its key was gone by {at}, when its server copied another"),
            Vec::new(),
        ),
        Cause::Clock => (
            format!("the server's clock was moved and its key was gone by {at}"),
            Vec::new(),
        ),
        Cause::Unclear(operations) => (
            format!(
                "its key was deleted by {at}, by a release of {}",
                workers_of(history, operations)
            ),
            operations.clone(),
        ),
        Cause::Unexplained => (
            match server_fault(history, earlier) {
                Some(fault) => format!("its key was gone by {at}, after {fault} began"),
                None => format!("its key was gone by {at}, and nothing on the record removed it"),
            },
            Vec::new(),
        ),
    }
}

/// The fault of a server that was in effect, or had just ended, when a key was gone.
fn server_fault(history: &History, grant: &Grant) -> Option<String> {
    let gone = match &grant.end {
        KeyEnd::Taken { at, .. } => at.latest,
        KeyEnd::Open | KeyEnd::Released { .. } | KeyEnd::Expired { .. } => return None,
    };
    let began = |window: &&FaultWindow| {
        let mut onsets = window.onsets.iter();
        onsets.any(|onset| (grant.granted.earliest..=gone).contains(&onset.began))
    };
    let mut faults = history.faults.iter();
    let fault = faults.rfind(|window| window.server.is_some() && began(window))?;
    Some(format!("{} ({})", fault.fault, fault.kind))
}

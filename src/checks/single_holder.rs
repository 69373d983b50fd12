//! `single_holder`: by the server's truth, no two entitlements of one key overlap.
//!
//! It reads the server's effects alone (delete every worker's events and it still answers);
//! operations only name who and why. An entitlement ends by its own release or with its lease;
//! a key that vanishes earlier leaves the entitlement standing, and that is how two come to hold.
//! The trap: two grants that touch (one lease ends, the next begins) overlap by less than ε.

use super::say::{secs, who, whose};
use super::{Check, Finding};
use crate::timeline::history::History;
use before::{Before, Overlap};
use cause::cause;
use foldhash::HashMap;

mod before;
mod cause;
mod failover;

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
            "{} grants, none while another was in force by more than {}",
            grants.len(),
            secs(history.epsilon_ns)
        );
        Finding::holds(self, why)
    }
}

/// Grants in the server's order; of several servers, by the time at which they were made.
fn in_order(history: &History) -> Vec<usize> {
    let grants = &history.grants;
    let mut order: Vec<usize> = (0..grants.len()).collect();
    order.sort_by_key(|i| {
        let several = history.is_one_of_several(&grants[*i].server);
        if several {
            grants[*i].granted.earliest
        } else {
            0
        }
    });
    order
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
            "{} was granted at {} while {} was in force until {}: both held for {}; {cause}",
            whose(history, later).replace("'s grant", ""),
            secs(later.granted.middle()),
            whose(history, earlier),
            secs(earlier.definite.map_or(0, |span| span.to)),
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

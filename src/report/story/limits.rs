//! What to do about a limit that was reached: by what caused it, as far as that is known.

use super::listed;
use crate::report::model::ArmModel;
use crate::report::scene::rightful::inverted;
use crate::report::sentence::Sentence;

/// What caused a limit, and what to do about it.
struct Remedy {
    /// The kind of a fault, or the name of a check.
    cause: &'static str,
    /// What to do, in a sentence without its full stop; backticks are not understood here.
    advice: &'static str,
}

/// By fault first: it tells more than the check that it violates.
const REMEDIES: [Remedy; 6] = [
    Remedy {
        cause: "flush",
        advice: "Keep the commands that empty the lock server from everybody who does not need them (an access list, or the commands renamed); if it was emptied all the same, set the fencing counter above every fencing token that a store knows before anybody is granted the lock again",
    },
    Remedy {
        cause: "evict",
        advice: "Give locks a server of their own whose maxmemory-policy is noeviction; if a key was evicted all the same, set the fencing counter above every fencing token that a store knows before anybody is granted the lock again",
    },
    Remedy {
        cause: "counter-reset",
        advice: "Before anybody is granted the lock again, set the fencing counter above every fencing token that a store knows; keep the counter where nobody deletes it, and on disk",
    },
    Remedy {
        cause: "no_stale_write",
        advice: "Let nobody draw a fencing token but the lock, in the same step as it grants, and let no writer choose its own: a store that compares numbers trusts whoever brings them",
    },
    Remedy {
        cause: "no_stale_read",
        advice: "Let the store compare the fencing token where something is read, too (store.reads = fenced; the drill fenced-read shows it), or give what was read to nobody before it has been written under the same token",
    },
    Remedy {
        cause: "stops_after_loss",
        advice: "Let the worker ask its handle before each write (the script steps check and stop_if_lost do it), or let the lock be renewed while it works (lock.renew), or make the lease longer than the work; where that cannot be, the store's fence is all that stands in its way",
    },
];

/// The actions, the first is the one to take.
pub fn advice(main: &ArmModel) -> Vec<Sentence> {
    let Some(plan) = main.plan() else {
        return vec![Sentence::of("Read why the limit was reached")];
    };
    let checks = plan.limit.as_ref().map_or(&[][..], |limit| &limit.checks);
    let kinds = plan.faults.iter().map(|fault| fault.kind.as_str());
    let causes: Vec<&str> = kinds.chain(checks.iter().map(String::as_str)).collect();
    let known = REMEDIES
        .iter()
        .find(|remedy| causes.contains(&remedy.cause));
    let mut told: Vec<Sentence> = known
        .map(|remedy| Sentence::of(remedy.advice))
        .into_iter()
        .collect();
    if let Some(found) = inverted(&main.scene) {
        told.push(
            Sentence::of("Do not count on the comparison of fencing tokens here: it is what ")
                .event(
                    format!("refused {}", found.refused.write),
                    found.refused.event,
                )
                .text(", although its writer was entitled"),
        );
    }
    told.push(
        Sentence::of("Decide whether your work can live without ")
            .code(listed(checks))
            .text(match known {
                Some(_) => " where that is not possible",
                None => "; if it cannot, this design is not the one for it",
            }),
    );
    told
}

//! Every name that an experiment file may use, taken from the registries, so that a new fault,
//! check, lock or store can be named in a file without a change here.

use crate::{checks, faults, store};

/// What a lost lock costs.
pub(super) fn classes() -> Vec<&'static str> {
    vec!["correctness", "efficiency"]
}

/// How a store compares fencing tokens.
pub(super) fn fences() -> Vec<&'static str> {
    vec!["atomic", "racy", "off"]
}

/// Every fault.
pub(super) fn faults() -> Vec<&'static str> {
    faults::ALL.iter().map(|kind| kind.name).collect()
}

/// Every check.
pub(super) fn checks() -> Vec<&'static str> {
    let provisional = vec![
        "evidence",
        "records_agree",
        "single_holder",
        "honest_belief",
        "fencing_rises",
        "no_stale_write",
        "owner_only",
        "recovers",
    ];
    if checks::ALL.is_empty() {
        return provisional;
    }
    checks::ALL.iter().map(|check| check.name()).collect()
}

/// Every lock back end.
pub(super) fn locks() -> Vec<&'static str> {
    vec!["redis", "memory"]
}

/// Every flaw that a lock can be given.
pub(super) fn flaws() -> Vec<&'static str> {
    vec!["blind_release"]
}

/// Every store.
pub(super) fn stores() -> Vec<&'static str> {
    if store::ALL.is_empty() {
        return vec!["sqlite"];
    }
    store::ALL.iter().map(|kind| kind.name).collect()
}

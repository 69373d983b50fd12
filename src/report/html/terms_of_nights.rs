//! The words of what was left open and of many runs together, which an index of them explains, and what
//! each means: data alone.

use super::terms::{Term, common, term};

/// In the order in which a reader meets them.
pub(super) const TERMS: &[Term] = &[
    term(
        "judged, not judged",
        &["not judged"],
        "A check that was not run on this record, because this lock or store gives it nothing to judge.",
    ),
    term(
        "unknown outcome",
        &["unknown outcome", "unknown outcomes"],
        "An operation that got no answer, or one that leaves open whether it took effect.",
    ),
    common(
        "night, execution",
        &["night", "nights", "execution", "executions"],
        "A night is one day by UTC, whenever its runs ran. An execution is one run of a drill, with its controls; of several in one night the worst counts.",
    ),
    common(
        "exact 95 % interval",
        &["exact 95 % interval", "exact 95 % intervals"],
        "Between which rates of failure the true one lies, as far as so few runs can tell: worked out exactly from their number, with a chance of at most 5 % to be wrong.",
    ),
    common(
        "plan",
        &["plan"],
        "A drill's file with every name resolved and every default written out. Another plan is another experiment, so its rates are counted anew.",
    ),
    common(
        "p95, p99, slow tail",
        &["p95", "p99", "slow tail", "slow tails"],
        "What 95 or 99 of 100 operations do not exceed; what lies beyond is the slow tail.",
    ),
    common(
        "work",
        &["longest work", "time at work"],
        "What a holder does under its grant, from the grant to the release that it asks for, in time or late.",
    ),
    common(
        "lease left at a renewal",
        &["lease left", "least lease left"],
        "How much of the lease had not run out when a renewal was sent, by the worker's own reckoning.",
    ),
    common(
        "noise of the times",
        &["noise of these times"],
        "For so long the machine may have kept the lab from running: a difference that is smaller says nothing.",
    ),
    common(
        "stale write, write without a fencing token",
        &["without a fencing token"],
        "A write whose writer was granted nothing and has no number at all. It is not stale, which needs a number that is old; a store that compares refuses it all the same.",
    ),
    common(
        "lock service",
        &["lock service"],
        "The server or servers that keep the lock's key and grant it.",
    ),
];

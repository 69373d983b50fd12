//! What to do about a limit that was reached: what keeps it away, what must stand behind it when it
//! comes all the same, what does not help, and which drill shows that. By the faults that caused
//! it, then by the checks that it costs.

use super::{finding, listed};
use crate::checks::Outcome;
use crate::plan::Plan;
use crate::report::model::{ArmModel, Model};
use crate::report::scene::rightful::inverted;
use crate::report::sentence::Sentence;
use crate::verdict::Protection;

/// What one fault or one check asks for.
#[derive(Debug)]
pub struct Remedy {
    /// Kinds of faults, or names of checks.
    causes: &'static [&'static str],
    /// Not where this check is lost, too.
    unless: &'static str,
    /// What to do, a sentence without its full stop.
    advice: &'static str,
}

const fn remedy(causes: &'static [&'static str], advice: &'static str) -> Remedy {
    Remedy {
        causes,
        unless: "",
        advice,
    }
}

/// What keeps the cause away.
const BY_FAULT: [Remedy; 6] = [
    remedy(
        &["flush"],
        "Keep the commands that empty the lock server (FLUSHALL, FLUSHDB) from everybody who does not need them: by an access list, or by giving them other names",
    ),
    remedy(
        &["evict"],
        "Give locks a server of their own whose maxmemory-policy is noeviction: when it is full it refuses new keys and drops none",
    ),
    remedy(
        &["counter-reset"],
        "Keep the fencing counter where nobody deletes it: no clean-up by hand or by a pattern of names may touch it, and it belongs on disk",
    ),
    remedy(
        &["kill-server", "lag-disk"],
        "Let the lock server write each command to disk before it answers (appendonly yes and appendfsync always; lock.persist = \"always\" in a drill): the drill restart shows what that keeps, restart-everysec and restart-none what is lost with less",
    ),
    remedy(
        &["jump-clock"],
        "Let the lock server's clock be corrected in small steps only, and sound an alarm when it jumps; a lock whose leases run on a clock that nobody can set does not know this limit",
    ),
    remedy(
        &["lose-server", "cut-replication"],
        "Do not count on replicas to keep a grant: Redis answers before they know of it. WAIT and min-replicas-to-write make the loss rarer and do not end it, because the server that is promoted need not be one of those that had answered",
    ),
];

/// What must stand behind it when it comes all the same.
const BY_CHECK: [Remedy; 7] = [
    Remedy {
        causes: &["single_holder"],
        unless: "fencing_rises",
        advice: "Where two hold at once only the store can tell the newer from the older: let every write bring its fencing token to a store that compares it in the same step as it writes (store.fence = \"atomic\")",
    },
    remedy(
        &["single_holder"],
        "Where two holders must not be, not even for what no store can refuse (a mail, a payment, a call to another service), choose a lock whose grants outlive what was broken here: one that a majority has agreed on, as etcd or ZooKeeper, or one that the very database grants in which the data lie; then let this drill's fault loose on that one",
    ),
    remedy(
        &["fencing_rises"],
        "If the counter was lost all the same, let nobody work until it stands above every fencing token that a store knows (docs/runbook.md: The counter is lost): until then a store that compares takes the rightful holder for an old one, as the drill counter-reset shows",
    ),
    remedy(
        &["recovers"],
        "Sound an alarm when contenders wait and nobody was granted the lock for longer than its lease; before a key is deleted by hand follow docs/runbook.md: a key that stays does not show that its holder lives, and one that is gone does not show that it has stopped",
    ),
    remedy(
        &["no_stale_write"],
        "Let nobody draw a fencing token but the lock, in the same step as it grants, and let no writer choose its own: a store that compares numbers trusts whoever brings them",
    ),
    remedy(
        &["no_stale_read"],
        "Let the store compare the fencing token where something is read, too (store.reads = \"fenced\"; the drill fenced-read shows it), or give what was read to nobody before it has been written under the same token",
    ),
    remedy(
        &["stops_after_loss"],
        "Let the worker ask its handle before each write (the script steps check and stop_if_lost do it), or let the lock be renewed while it works (lock.renew; the drill renew shows it), or make the lease longer than the work; where that cannot be, the store's fence is all that stands in its way",
    ),
];

/// The actions, the first is the one to take.
pub fn advice(model: &Model, main: &ArmModel) -> Vec<Sentence> {
    let Some(plan) = main.plan() else {
        return vec![Sentence::of("Read why the limit was reached")];
    };
    let checks = plan.limit.as_ref().map_or(&[][..], |limit| &limit.checks);
    let mut told: Vec<Sentence> = remedies(plan, checks)
        .map(|remedy| Sentence::of(remedy.advice))
        .collect();
    match inverted(&main.scene) {
        Some(found) => told.push(
            Sentence::of(
                "Do not count on the comparison of fencing tokens alone here: it is what ",
            )
            .event(
                format!("refused {}", found.refused.write),
                found.refused.event,
            )
            .text(", although its writer was entitled"),
        ),
        None => told.extend(shown_without(model)),
    }
    let decide = if told.is_empty() {
        "Decide"
    } else {
        "Where none of this can be, decide"
    };
    told.push(
        Sentence::of(decide)
        .text(" whether your work can live without ")
        .code(listed(checks))
        .text("; if it cannot, this design is not the one for it (docs/choosing.md says what to use instead of a lock)"),
    );
    told
}

/// Every fault and every check that something is known against.
pub fn causes() -> impl Iterator<Item = &'static str> {
    let all = BY_FAULT.iter().chain(&BY_CHECK);
    all.flat_map(|remedy| remedy.causes).copied()
}

/// What is known against these faults and for these checks.
pub fn remedies<'p>(
    plan: &'p Plan,
    checks: &'p [String],
) -> impl Iterator<Item = &'static Remedy> + 'p {
    let by_fault = BY_FAULT.iter().filter(|remedy| {
        let mut kinds = plan.faults.iter().map(|fault| fault.kind.as_str());
        kinds.any(|kind| remedy.causes.contains(&kind))
    });
    let by_check = BY_CHECK.iter().filter(|remedy| {
        let lost = |wanted: &str| checks.iter().any(|name| name == wanted);
        remedy.causes.iter().any(|name| lost(name)) && !lost(remedy.unless)
    });
    by_fault.chain(by_check)
}

/// What the store's fence is worth here, where a control went without it and went red.
fn shown_without(model: &Model) -> Option<Sentence> {
    let mut controls = model.arms.iter().filter(|arm| {
        let change = arm.plan().and_then(|plan| plan.control.as_ref());
        arm.result.red_as_required == Some(true)
            && arm.result.protection == Protection::Lost
            && change.is_some_and(|change| change.path == "store.fence")
    });
    let shown = controls.next()?;
    let lost =
        finding(shown, "no_lost_update").is_some_and(|found| found.outcome == Outcome::Violated);
    let damage = match lost {
        true => "an update was lost",
        false => "the store took a stale write",
    };
    Some(
        Sentence::of(format!(
            "Keep the fence that the store has: without it {damage}, as the control "
        ))
        .code(&shown.result.arm)
        .text(" of this run shows"),
    )
}

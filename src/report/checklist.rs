//! The fifteen points to settle before a lock goes live, each answered from the last night of the
//! drills that speak of it. One list, [`POINTS`]; a point that no drill can settle is for a human.

use super::past::trend::{Night, Series};
use crate::checks::Outcome;
use crate::verdict::Verdict;

/// One point.
#[derive(Debug)]
pub struct Point {
    /// What has to be so.
    pub what: &'static str,
    /// Drill and the check in it that tells; all of them must hold. None: for a human.
    pub shown_by: &'static [(&'static str, &'static str)],
    /// For a human: what to settle.
    pub human: &'static str,
    /// A drill whose outcome seems to speak against it, and why it does not.
    pub beside: Option<(&'static str, &'static str)>,
}

/// Instead of a check: that no two granted attempts of a drill had the same owner token, by the
/// record's digests.
pub const OWNERS: &str = "owner tokens differ";

const fn point(what: &'static str, shown_by: &'static [(&'static str, &'static str)]) -> Point {
    Point {
        what,
        shown_by,
        human: "",
        beside: None,
    }
}

const fn human(what: &'static str, human: &'static str) -> Point {
    Point {
        what,
        shown_by: &[],
        human,
        beside: None,
    }
}

/// All fifteen.
pub const POINTS: [Point; 15] = [
    human(
        "It is settled whether the lock serves efficiency or correctness, and what its failure costs",
        "write down the loss; the class in the drill's file follows from it",
    ),
    human(
        "The key has a stable namespace and covers just what must not be done twice",
        "look at every key that is made up at run time",
    ),
    point(
        "Taking the lock is one atomic step, with a lease",
        &[("mutex", "single_holder"), ("kill", "recovers")],
    ),
    point(
        "Every grant has an owner token of its own",
        &[("mutex", OWNERS), ("late-release", OWNERS)],
    ),
    point(
        "Release and renewal compare the owner token in one atomic step",
        &[("late-release", "owner_only"), ("held-renew", "owner_only")],
    ),
    human(
        "The lease follows from measured work times and from how soon others must take over",
        "compare the work times of your own system with the lease; the figures of a drill are the drill's",
    ),
    point(
        "Renewal has an interval, an end, and an answer to its own failure",
        &[
            ("renew", "single_holder"),
            ("partition", "loss_noticed"),
            ("refuse-writes", "loss_noticed"),
        ],
    ),
    point(
        "Who does not get the lock gives up or backs off, and never spins",
        &[("herd", "retry_budget")],
    ),
    point(
        "A timeout, a cut or a cancelled call is treated as unknown, not as a no",
        &[
            ("partition-reply", "outcome_honesty"),
            ("stop-server", "outcome_honesty"),
            ("outage", "outcome_honesty"),
        ],
    ),
    point(
        "The work is safe when it is done twice or late",
        &[("duplicate", "effects_once"), ("pause", "no_stale_write")],
    ),
    Point {
        what: "Fencing tokens rise, and the store compares and keeps them in one atomic step",
        shown_by: &[
            ("restart", "fencing_rises"),
            ("failover", "fencing_rises"),
            ("pause", "no_stale_write"),
            ("late-first", "no_stale_write"),
            ("old-primary", "no_stale_write"),
        ],
        human: "",
        beside: Some((
            "old-primary",
            "its two grants do not count as tokens that fall: both requests were under way at once, so no order compares them, and it is the store that has to refuse the lower one",
        )),
    },
    point(
        "Without the lock service the work stops; it never goes on without the lock",
        &[("outage", "loss_noticed"), ("outage", "stops_after_loss")],
    ),
    point(
        "A failover, a stopped process and a cut network were tried",
        &[
            ("pause", "no_stale_write"),
            ("partition", "honest_belief"),
            ("failover", "no_stale_write"),
        ],
    ),
    human(
        "Contention, time held, failed renewals and refused stale writes are watched",
        "metrics.prom beside each run names the signals; your own system has to export its own",
    ),
    human(
        "The runbook says how to confirm a holder and when a key may be deleted by hand",
        "docs/runbook.md is a beginning; lockdrill inspect says who holds a key",
    ),
];

/// How a point stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Every named check held in the last night of its drill, under its proven fault.
    Proven,
    /// One did not hold.
    Failed,
    /// A drill showed it to be a limit that its file names beforehand.
    Limit,
    /// Some held; of the others one could not tell, or its drill has not run.
    Partly,
    /// Of its drills that have run none could tell.
    NotTested,
    /// None of its drills has run.
    NotRun,
    /// Not for a machine.
    Human,
}

/// What one drill says to a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Drill.
    pub drill: &'static str,
    /// Check.
    pub check: &'static str,
    /// How the check came out; none if nothing put it to the test.
    pub outcome: Option<Outcome>,
    /// It was violated as the drill's file names beforehand: a limit, not a failure.
    pub foretold: bool,
    /// The run that says so.
    pub run: Option<String>,
}

/// How a point stands by what the drills said last.
pub fn standing(point: &Point, series: &[Series]) -> (Standing, Vec<Proof>) {
    let proofs: Vec<Proof> = point
        .shown_by
        .iter()
        .flat_map(|(drill, check)| proofs(drill, check, series))
        .collect();
    let standing = if point.shown_by.is_empty() {
        Standing::Human
    } else {
        judged(&proofs)
    };
    (standing, proofs)
}

fn judged(proofs: &[Proof]) -> Standing {
    let violated = |proof: &&Proof| proof.outcome == Some(Outcome::Violated);
    let holds = |proof: &Proof| proof.outcome == Some(Outcome::Holds);
    if proofs.iter().filter(violated).any(|proof| !proof.foretold) {
        Standing::Failed
    } else if proofs.iter().any(|proof| violated(&proof)) {
        Standing::Limit
    } else if proofs.iter().all(holds) {
        Standing::Proven
    } else if proofs.iter().any(holds) {
        Standing::Partly
    } else if proofs.iter().all(|proof| proof.run.is_none()) {
        Standing::NotRun
    } else {
        Standing::NotTested
    }
}

/// Whether granted attempts had owner tokens of their own; none if there were not two.
fn owners(night: &Night) -> Option<Outcome> {
    night.figure("owners_n").filter(|grants| *grants > 1)?;
    Some(match night.figure("owners_shared_n") {
        Some(0) => Outcome::Holds,
        Some(_) => Outcome::Violated,
        None => Outcome::Unknown,
    })
}

/// One for each lock and store that the drill ran on; one without a run if it ran on none.
fn proofs(drill: &'static str, check: &'static str, series: &[Series]) -> Vec<Proof> {
    let of = series.iter().filter(|series| series.drill == drill);
    let told: Vec<Proof> = of
        .filter_map(|series| series.nights.values().next_back())
        .map(|night| {
            let outcome = match check {
                OWNERS => owners(night),
                check => night.checks.get(check).copied(),
            };
            // What an inconclusive drill found to hold counts for nothing.
            let told = match (outcome, night.worst()) {
                (Some(Outcome::Holds), None | Some(Verdict::Inconclusive)) => {
                    Some(Outcome::Unknown)
                }
                (outcome, _) => outcome,
            };
            let run = night.worst_run.as_ref().map(|(_, run)| run.clone());
            Proof {
                drill,
                check,
                outcome: told,
                foretold: night.foretells(check),
                run,
            }
        })
        .collect();
    if told.is_empty() {
        return vec![Proof {
            drill,
            check,
            outcome: None,
            foretold: false,
            run: None,
        }];
    }
    told
}

//! What is judged: one property a file, each a pure, near-linear function of the history.
//!
//! A finding is a statement about the record that a hostile reader can verify by hand. Times
//! closer than the history's ε are concurrent and prove nothing; `seq` is never evidence of order.
//! A violation needs a proof; what cannot be told is `unknown`; what nothing put to the test `holds`
//! vacuously and says so.
//!
//! How to add one: a file with a unit struct that implements [`Check`], and its line in [`ALL`].

use crate::timeline::history::History;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};

pub mod effects_once;
pub mod evidence;
pub mod fencing_rises;
pub mod honest_belief;
pub mod loss_noticed;
pub mod no_false_loss;
pub mod no_leftovers;
pub mod no_lost_update;
pub mod no_stale_read;
pub mod no_stale_write;
pub mod outcome_honesty;
pub mod owner_only;
pub mod published_once;
pub mod records_agree;
pub mod recovers;
pub mod retry_budget;
pub mod rightful_served;
pub mod say;
pub mod single_holder;
pub mod stops_after_loss;

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The property held on this record.
    Holds,
    /// It did not, and the record shows where.
    Violated,
    /// The record cannot tell.
    Unknown,
}

/// One finding: a statement about the record that a hostile reader can verify by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Name of the check.
    pub check: String,
    /// Outcome.
    pub outcome: Outcome,
    /// One sentence with names, numbers and times.
    pub why: String,
    /// `seq` of the lines that it rests on, ascending.
    pub events: Vec<u64>,
    /// Workers, servers and faults that are the witnesses of a violation, most telling first.
    pub by: Vec<String>,
    /// Nothing on the record put it to the test.
    pub vacuous: bool,
}

/// One property. Pure: it sees the history and nothing else, and never the name of a flaw.
pub trait Check: Sync {
    /// Name in experiment files and reports; states the good property.
    fn name(&self) -> &'static str;

    /// The property in one sentence, for `list checks` and reports.
    fn claim(&self) -> &'static str;

    /// Judges one record.
    fn judge(&self, history: &History) -> Finding;
}

/// Name of the check that gates every `holds`.
pub const EVIDENCE: &str = "evidence";

/// Name of the check whose violation is our own defect.
pub const RECORDS_AGREE: &str = "records_agree";

/// Every check, in the order of reports.
pub const ALL: &[&dyn Check] = &[
    &evidence::EvidenceHolds,
    &records_agree::RecordsAgree,
    &single_holder::SingleHolder,
    &honest_belief::HonestBelief,
    &fencing_rises::FencingRises,
    &no_stale_write::NoStaleWrite,
    &no_stale_read::NoStaleRead,
    &owner_only::OwnerOnly,
    &recovers::Recovers,
    &stops_after_loss::StopsAfterLoss,
    &no_lost_update::NoLostUpdate,
    &effects_once::EffectsOnce,
    &published_once::PublishedOnce,
    &rightful_served::RightfulServed,
    &outcome_honesty::OutcomeHonesty,
    &loss_noticed::LossNoticed,
    &no_false_loss::NoFalseLoss,
    &retry_budget::RetryBudget,
    &no_leftovers::NoLeftovers,
];

/// The check of this name.
pub fn find(name: &str) -> Option<&'static dyn Check> {
    ALL.iter().copied().find(|check| check.name() == name)
}

/// From so many operations on, it pays to let several processors judge.
const MANY: usize = 20_000;

/// Every finding on one record, in the order of [`ALL`]. No check sees another's finding, so a long
/// record is judged by several at once.
pub fn judge_all(history: &History) -> Vec<Finding> {
    if history.operations.len() < MANY {
        return ALL.iter().map(|check| check.judge(history)).collect();
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let judge = || -> Vec<(usize, Finding)> {
        let turns = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        turns
            .map_while(|turn| Some((turn, ALL.get(turn)?.judge(history))))
            .collect()
    };
    let mut findings = std::thread::scope(|scope| {
        let others: Vec<_> = (1..processors.min(ALL.len()))
            .map(|_| scope.spawn(judge))
            .collect();
        let mut findings = judge();
        for other in others {
            match other.join() {
                Ok(theirs) => findings.extend(theirs),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        findings
    });
    findings.sort_unstable_by_key(|(turn, _)| *turn);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

impl Finding {
    fn new(check: &dyn Check, outcome: Outcome, why: impl Into<String>) -> Finding {
        Finding {
            check: check.name().to_owned(),
            outcome,
            why: why.into(),
            events: Vec::new(),
            by: Vec::new(),
            vacuous: false,
        }
    }

    /// The property held.
    pub fn holds(check: &dyn Check, why: impl Into<String>) -> Finding {
        Finding::new(check, Outcome::Holds, why)
    }

    /// It held because nothing on the record put it to the test.
    pub fn vacuous(check: &dyn Check, why: impl Into<String>) -> Finding {
        Finding {
            vacuous: true,
            ..Finding::new(check, Outcome::Holds, why)
        }
    }

    /// It was violated.
    pub fn violated(check: &dyn Check, why: impl Into<String>) -> Finding {
        Finding::new(check, Outcome::Violated, why)
    }

    /// The record cannot tell.
    pub fn unknown(check: &dyn Check, why: impl Into<String>) -> Finding {
        Finding::new(check, Outcome::Unknown, why)
    }

    /// The record cannot tell, since the server's effects are not all on it; none if they are.
    pub fn unseen(check: &dyn Check, history: &History) -> Option<Finding> {
        let observers = || history.observers.values();
        if observers().all(|observer| observer.synced.is_empty()) {
            let why = "there is no server truth: no observer was in sync";
            return Some(Finding::unknown(check, why));
        }
        let gap = observers().flat_map(|observer| &observer.gaps).next()?;
        let why = format!(
            "effects may be missing: the observer lost its place ({})",
            gap.why
        );
        Some(Finding::unknown(check, why).resting_on([gap.seq]))
    }

    /// The lines that it rests on; sorted, each once.
    #[must_use]
    pub fn resting_on(mut self, events: impl IntoIterator<Item = u64>) -> Finding {
        self.events.extend(events);
        self.events.sort_unstable();
        self.events.dedup();
        self
    }

    /// The server that is to blame, before every other witness.
    #[must_use]
    pub fn blaming(mut self, server: Option<&str>) -> Finding {
        self.by.extend(server.map(str::to_owned));
        self
    }

    /// Workers that are its witnesses, the most telling first; faults that hit one of them follow.
    #[must_use]
    pub fn witnessed_by(
        mut self,
        history: &History,
        workers: impl IntoIterator<Item = usize>,
    ) -> Finding {
        let workers: Vec<usize> = workers.into_iter().collect();
        let names = workers.iter().map(|worker| history.worker_name(*worker));
        let faults = history.faults.iter().filter(|window| {
            !window.onsets.is_empty()
                && window.worker.is_none_or(|worker| workers.contains(&worker))
        });
        for name in names.chain(faults.map(|window| window.fault.as_str())) {
            if !self.by.iter().any(|known| known == name) {
                self.by.push(name.to_owned());
            }
        }
        self
    }
}

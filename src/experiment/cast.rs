//! Who takes part: the workers with their scripts, the faults, and every wait among them.

use super::fault::{RESERVED, fault};
use super::place::At;
use super::reading::{Reading, Spot};
use super::refused::quote;
use super::script;
use super::section::Section;
use crate::plan::{FaultPlan, StepAction, WorkerPlan};
use crate::timeline::names;
use std::collections::BTreeSet;

/// More processes than this say nothing that fewer do not, and slow every host down.
pub(super) const WORKERS_MAX: usize = 64;
/// Longest script.
const STEPS_MAX: usize = 200;
/// Most faults of one drill.
const FAULTS_MAX: usize = 16;

/// Everybody who can be named in an event.
#[derive(Debug, Default)]
pub(super) struct Cast {
    pub workers: Vec<WorkerPlan>,
    pub faults: Vec<FaultPlan>,
    pub waits: Vec<Wait>,
    /// Every worker of the file, those with unusable scripts included.
    pub worker_names: Vec<String>,
    /// Every fault of the file, unusable ones included.
    pub fault_names: Vec<String>,
    /// Workers of which some step could not be read: nothing can be said of their events.
    pub unread: BTreeSet<String>,
}

/// Something that waits for an event.
#[derive(Debug)]
pub(super) struct Wait {
    pub who: Waiter,
    pub event: String,
    pub at: At,
}

/// Who waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Waiter {
    /// A worker, to begin.
    Start(String),
    /// A worker, at a step of its script (index from 0).
    Step(String, usize),
    /// A fault, to begin at a point.
    At(String),
    /// A fault, to begin after an event.
    After(String),
    /// A fault, to be healed.
    Heal(String),
}

impl Waiter {
    /// The worker or fault.
    pub fn name(&self) -> &str {
        match self {
            Waiter::Start(name)
            | Waiter::Step(name, _)
            | Waiter::At(name)
            | Waiter::After(name)
            | Waiter::Heal(name) => name,
        }
    }
}

/// Reads workers and faults.
pub(super) fn read(reading: &mut Reading, root: &Section<'_>, lease_ms: Option<u64>) -> Cast {
    let mut cast = Cast::default();
    let workers = root.named(reading, "worker");
    let faults = root.named(reading, "fault");
    cast.worker_names = workers
        .iter()
        .map(|(name, _)| name.value.to_owned())
        .collect();
    cast.fault_names = faults
        .iter()
        .map(|(name, _)| name.value.to_owned())
        .collect();
    if root.has("worker") && workers.is_empty() {
        reading.problem(
            &root.place("worker"),
            "a drill without a worker shows nothing",
        );
    }
    too_many(reading, &workers, WORKERS_MAX, "workers");
    too_many(reading, &faults, FAULTS_MAX, "faults");
    for (name, section) in workers.iter().take(WORKERS_MAX) {
        worker_name(reading, name);
        worker(reading, &mut cast, name, section);
    }
    for (name, section) in faults.iter().take(FAULTS_MAX) {
        if cast.worker_names.iter().any(|worker| worker == name.value) {
            reading.problem(
                &name.at,
                format!("{} is a worker and a fault", quote(name.value)),
            );
        }
        fault(reading, &mut cast, (name, section), lease_ms);
    }
    cast
}

fn too_many<T>(reading: &mut Reading, found: &[(Spot<&str>, T)], max: usize, noun: &str) {
    if let Some((name, _)) = found.get(max) {
        let count = found.len();
        reading.problem(&name.at, format!("{count} {noun}; at most {max}"));
    }
}

fn worker_name(reading: &mut Reading, name: &Spot<&str>) {
    if RESERVED.iter().any(|(word, _)| *word == name.value) {
        let message = format!("a worker cannot be named `{}`", name.value);
        reading.hinted(
            &name.at,
            message,
            "as a target of faults it means something else",
        );
    }
}

fn worker(reading: &mut Reading, cast: &mut Cast, name: &Spot<&str>, section: &Section<'_>) {
    let start = section.table(reading, "start").and_then(|table| {
        let event = table.text(reading, "after")?;
        cast.waits.push(Wait {
            who: Waiter::Start(name.value.to_owned()),
            event: event.value.to_owned(),
            at: event.at,
        });
        Some(event.value.to_owned())
    });
    let typed = section.texts(reading, "script");
    if section.has("script") && typed.is_empty() {
        let at = section.place("script");
        reading.problem(
            &at,
            format!("the script of {} has no step", quote(name.value)),
        );
    }
    if let Some(step) = typed.get(STEPS_MAX) {
        let count = typed.len();
        reading.problem(
            &step.at,
            format!("a script of {count} steps; at most {STEPS_MAX}"),
        );
    }
    let mut actions = Vec::new();
    let mut may_hold = false;
    for typed in typed.iter().take(STEPS_MAX) {
        let Some(written) = script::step(reading, typed) else {
            // It may have been the step that takes the lock.
            may_hold = true;
            cast.unread.insert(name.value.to_owned());
            continue;
        };
        may_hold |= written.action.takes_lock();
        holds_before(reading, typed, &written.action, may_hold);
        if let StepAction::Await { event } | StepAction::HoldUntil { event } = &written.action {
            cast.waits.push(Wait {
                who: Waiter::Step(name.value.to_owned(), actions.len()),
                event: event.clone(),
                at: written.event_at,
            });
        }
        actions.push(written.action);
    }
    if typed.is_empty() {
        cast.unread.insert(name.value.to_owned());
    }
    cast.workers.push(WorkerPlan {
        name: name.value.to_owned(),
        start,
        script: names::number(actions),
    });
}

/// `release` and `renew` speak of a lock that some earlier step must have taken.
fn holds_before(reading: &mut Reading, typed: &Spot<&str>, action: &StepAction, may_hold: bool) {
    let needs = matches!(action, StepAction::Release | StepAction::Renew);
    if needs && !may_hold {
        let message = format!("`{}` before anything was acquired", action.verb());
        reading.hinted(&typed.at, message, "put `acquire` or `enter` before it");
    }
}

//! Who takes part: the workers with their scripts, the faults, and every wait among them.

use super::fault::{RESERVED, fault};
use super::place::At;
use super::reading::{Reading, Spot};
use super::refused::quote;
use super::section::Section;
use super::worker::{self, STEPS_ALL_MAX};
use crate::plan::{FaultPlan, WorkerPlan};
use std::collections::BTreeSet;

/// More processes than this say nothing that fewer do not, and slow every host down.
pub(super) const WORKERS_MAX: usize = 64;
/// Most faults of one drill.
const FAULTS_MAX: usize = 16;

/// Everybody who can be named in an event.
#[derive(Debug, Default)]
pub(super) struct Cast {
    pub workers: Vec<WorkerPlan>,
    pub faults: Vec<FaultPlan>,
    pub waits: Vec<Wait>,
    /// Every worker, those with unusable scripts included.
    pub worker_names: Vec<String>,
    /// Every name that means several workers.
    pub groups: Vec<String>,
    /// Every fault of the file, unusable ones included.
    pub fault_names: Vec<String>,
    /// Workers of which some step could not be read: nothing can be said of their events.
    pub unread: BTreeSet<String>,
    /// The lock lives on several servers, of which one takes over from another.
    pub fails_over: bool,
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
        worker::read(reading, &mut cast, name, section);
    }
    too_much(reading, root, &cast);
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

/// Limits that no single worker breaks.
fn too_much(reading: &mut Reading, root: &Section<'_>, cast: &Cast) {
    let at = root.place("worker");
    let workers = cast.worker_names.len();
    if workers > WORKERS_MAX && !cast.groups.is_empty() {
        reading.problem(&at, format!("{workers} workers; at most {WORKERS_MAX}"));
    }
    let steps: usize = cast.workers.iter().map(|worker| worker.script.len()).sum();
    if steps > STEPS_ALL_MAX {
        let message = format!("{steps} steps of all workers; at most {STEPS_ALL_MAX}");
        reading.problem(&at, message);
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

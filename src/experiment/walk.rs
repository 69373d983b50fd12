//! The order of waits: the scripts are walked, each as far as the events so far allow. A wait that
//! is never passed waits for something behind itself.
//!
//! The walk lets every step succeed and every stop end, so it refuses only what can never work.

use super::cast::{Cast, Wait, Waiter};
use super::reading::Reading;
use super::refused::quote;
use crate::plan::{Heal, Service, StepAction, Target};
use crate::timeline::names;
use std::collections::BTreeSet;

/// Tells the waits that are never passed. Whoever only waits for somebody who stands still is not
/// what is wrong: told are those who wait, in a circle, for each other or for themselves.
pub(super) fn order(reading: &mut Reading, cast: &Cast) {
    let walk = Walk::run(cast);
    let stuck: Vec<&Wait> = cast
        .waits
        .iter()
        .filter(|wait| walk.is_stuck(wait))
        .collect();
    let circle = stuck.iter().filter(|wait| in_circle(wait, &stuck));
    let told: Vec<&&Wait> = match circle.clone().count() {
        0 => stuck.iter().collect(),
        _ => circle.collect(),
    };
    let mut places = BTreeSet::new();
    for wait in told {
        // Workers that do the same wait at the same place of the file.
        if !places.insert((wait.at.source, wait.at.span.start)) {
            continue;
        }
        let shown = quote(&wait.event);
        let message = format!("{shown} can never happen while this waits for it");
        let owner = owner(wait);
        let hint = if owner == wait.who.name() {
            format!("it comes later in `{owner}` itself")
        } else {
            match behind(wait, &stuck) {
                Some(other) => format!("`{owner}` waits for {}", quote(&other.event)),
                None => format!("`{owner}` does not get there"),
            }
        };
        reading.hinted(&wait.at, message, hint);
    }
}

/// Who would bring about what is waited for.
fn owner(wait: &Wait) -> &str {
    wait.event.split('.').next().unwrap_or("")
}

/// The wait at which the one who would bring it about stands still; a fault that has not begun
/// waits for that before it waits for its heal.
fn behind<'w>(wait: &Wait, stuck: &[&'w Wait]) -> Option<&'w Wait> {
    let mut waits = stuck.iter().copied();
    waits.find(|other| other.who.name() == owner(wait))
}

/// Whether following who waits for whom leads back to this wait.
fn in_circle(wait: &Wait, stuck: &[&Wait]) -> bool {
    let mut next = wait;
    for _ in 0..stuck.len() {
        let Some(other) = behind(next, stuck) else {
            return false;
        };
        if std::ptr::eq(other, wait) {
            return true;
        }
        next = other;
    }
    false
}

/// How far everybody gets.
#[derive(Debug)]
struct Walk<'c> {
    cast: &'c Cast,
    happened: BTreeSet<String>,
    /// Of each worker: the step it stands at, none if it has not begun; and grants so far.
    stands: Vec<(Option<usize>, usize)>,
}

impl<'c> Walk<'c> {
    fn run(cast: &'c Cast) -> Self {
        let started = cast
            .workers
            .iter()
            .map(|worker| format!("{}.started", worker.name));
        let mut walk = Walk {
            cast,
            happened: started.collect(),
            stands: vec![(None, 0); cast.workers.len()],
        };
        loop {
            let before = walk.happened.len();
            for index in 0..cast.workers.len() {
                walk.advance(index);
            }
            walk.break_and_heal();
            if walk.happened.len() == before {
                return walk;
            }
        }
    }

    fn came(&self, event: &str) -> bool {
        self.happened.contains(event)
    }

    fn advance(&mut self, index: usize) {
        let worker = &self.cast.workers[index];
        let (stands, mut grants) = self.stands[index];
        let begins = worker.start.as_deref().is_none_or(|event| self.came(event));
        let Some(mut at) = stands.or(begins.then_some(0)) else {
            return;
        };
        while let Some(step) = worker.script.get(at) {
            self.happened
                .insert(format!("{}.{}.before", worker.name, step.name));
            if let StepAction::Await { event } | StepAction::HoldUntil { event } = &step.action
                && !self.came(event)
            {
                break;
            }
            grants += usize::from(step.action.takes_lock());
            self.happened
                .extend(names::yields(&worker.name, step, grants));
            at += 1;
        }
        if at == worker.script.len() {
            self.happened.insert(format!("{}.exited", worker.name));
        }
        self.stands[index] = (Some(at), grants);
    }

    fn break_and_heal(&mut self) {
        for fault in &self.cast.faults {
            if !self.came(&fault.when) {
                continue;
            }
            self.happened.insert(format!("{}.onset", fault.name));
            if self.cast.fails_over && fault.target == Target::Server(Service::Lock) {
                self.happened.insert(format!("{}.promoted", fault.name));
            }
            if fault.command.is_some() {
                self.happened.insert(format!("{}.held", fault.name));
            }
            let healed = match &fault.heal {
                Some(Heal::After(event)) => self.came(event),
                Some(Heal::For(_)) => true,
                None => false,
            };
            if healed {
                self.happened.insert(format!("{}.delivered", fault.name));
                self.happened.insert(format!("{}.healed", fault.name));
            }
        }
    }

    /// The wait was reached, or never will be, and its event does not come.
    fn is_stuck(&self, wait: &Wait) -> bool {
        let reached = match &wait.who {
            Waiter::Step(name, step) => {
                let index = self
                    .cast
                    .workers
                    .iter()
                    .position(|worker| worker.name == *name);
                index.is_some_and(|index| self.stands[index].0 == Some(*step))
            }
            Waiter::Start(_) | Waiter::At(_) | Waiter::After(_) | Waiter::Heal(_) => true,
        };
        reached && !self.came(&wait.event)
    }
}

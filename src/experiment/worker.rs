//! `[worker.NAME]`: one worker, or several that do the same.

use super::cast::{Cast, WORKERS_MAX, Wait, Waiter};
use super::place::At;
use super::reading::{Reading, Spot};
use super::refused::quote;
use super::resolve::key_text;
use super::script;
use super::section::Section;
use crate::plan::{Fencing, Gate, OnSigterm, Step, StepAction, WorkerPlan};
use crate::timeline::names;

/// Most steps that a file may write down for one worker.
const WRITTEN_MAX: usize = 200;
/// Longest script, every round counted.
pub(super) const STEPS_MAX: usize = 2_000;
/// Most steps of all workers together.
pub(super) const STEPS_ALL_MAX: usize = 5_000;

/// A step that waits: its index, and for what.
struct Pause {
    step: usize,
    event: String,
    at: At,
}

/// Reads one section: a worker, or with `count` a group of them, `NAME1`, `NAME2` and so on.
pub(super) fn read(
    reading: &mut Reading,
    cast: &mut Cast,
    name: &Spot<&str>,
    section: &Section<'_>,
) {
    let count = section.count(reading, "count");
    let members: Vec<String> = match &count {
        Some(count) => {
            let numbers = 1..=count.value.min(WORKERS_MAX as u64);
            numbers.map(|n| format!("{}{n}", name.value)).collect()
        }
        None => vec![name.value.to_owned()],
    };
    let start = section.table(reading, "start").and_then(|table| {
        let event = table.text(reading, "after")?;
        Some((event.value.to_owned(), event.at))
    });
    let written = script(reading, section, name);
    let rounds = rounds(reading, section, written.actions.len());
    let model = WorkerPlan {
        group: count.is_some().then(|| name.value.to_owned()),
        start: start.as_ref().map(|(event, _)| event.clone()),
        key: section
            .has("key")
            .then(|| key_text(reading, section, "key")),
        gate: gate(reading, section),
        fencing: fencing(reading, section),
        on_sigterm: on_sigterm(reading, section),
        ..WorkerPlan::new(name.value, repeated(&written.actions, rounds))
    };
    cast.groups.extend(model.group.clone());
    for member in members {
        if cast.worker_names.contains(&member) {
            let message = format!("two workers are called {}", quote(&member));
            reading.problem(&name.at, message);
        }
        if written.unread {
            cast.unread.insert(member.clone());
        }
        cast.waits.extend(start.iter().map(|(event, at)| Wait {
            who: Waiter::Start(member.clone()),
            event: event.clone(),
            at: at.clone(),
        }));
        cast.waits.extend(written.pauses.iter().map(|pause| Wait {
            who: Waiter::Step(member.clone(), pause.step),
            event: pause.event.clone(),
            at: pause.at.clone(),
        }));
        cast.worker_names.push(member.clone());
        cast.workers.push(WorkerPlan {
            name: member,
            ..model.clone()
        });
    }
}

/// A script as it is written, one round of it.
struct Written {
    actions: Vec<StepAction>,
    pauses: Vec<Pause>,
    /// Some step could not be read.
    unread: bool,
}

fn script(reading: &mut Reading, section: &Section<'_>, name: &Spot<&str>) -> Written {
    let typed = section.texts(reading, "script");
    if section.has("script") && typed.is_empty() {
        let at = section.place("script");
        let message = format!("the script of {} has no step", quote(name.value));
        reading.problem(&at, message);
    }
    if let Some(step) = typed.get(WRITTEN_MAX) {
        let count = typed.len();
        let message = format!("a script of {count} steps; at most {WRITTEN_MAX}");
        reading.problem(&step.at, message);
    }
    let mut written = Written {
        actions: Vec::new(),
        pauses: Vec::new(),
        unread: typed.is_empty(),
    };
    let mut may_hold = false;
    for typed in typed.iter().take(WRITTEN_MAX) {
        let Some(step) = script::step(reading, typed) else {
            // It may have been the step that takes the lock.
            may_hold = true;
            written.unread = true;
            continue;
        };
        may_hold |= step.action.takes_lock();
        holds_before(reading, typed, &step.action, may_hold);
        if let StepAction::Await { event } | StepAction::HoldUntil { event } = &step.action {
            written.pauses.push(Pause {
                step: written.actions.len(),
                event: event.clone(),
                at: step.event_at,
            });
        }
        written.actions.push(step.action);
    }
    written
}

/// How often the script is gone through; 1 if that would be too often.
fn rounds(reading: &mut Reading, section: &Section<'_>, steps: usize) -> usize {
    let Some(rounds) = section.count(reading, "rounds") else {
        return 1;
    };
    let often = usize::try_from(rounds.value).unwrap_or(usize::MAX);
    let all = steps.saturating_mul(often);
    if all > STEPS_MAX {
        let message = format!("{often} rounds of {steps} steps are {all}; at most {STEPS_MAX}");
        reading.problem(&rounds.at, message);
        return 1;
    }
    often
}

fn repeated(actions: &[StepAction], rounds: usize) -> Vec<Step> {
    let all = std::iter::repeat_n(actions, rounds).flatten();
    names::number(all.cloned())
}

fn gate(reading: &mut Reading, section: &Section<'_>) -> Gate {
    match section.one_of(reading, "gate").map(|word| word.value) {
        Some("is_locked") => Gate::IsLocked,
        Some("handle") => Gate::Handle,
        _ => Gate::None,
    }
}

fn fencing(reading: &mut Reading, section: &Section<'_>) -> Fencing {
    match section.one_of(reading, "fencing").map(|word| word.value) {
        Some("own-counter") => Fencing::OwnCounter,
        _ => Fencing::Lock,
    }
}

fn on_sigterm(reading: &mut Reading, section: &Section<'_>) -> OnSigterm {
    match section.one_of(reading, "on_sigterm").map(|word| word.value) {
        Some("finish") => OnSigterm::Finish,
        Some("release_first") => OnSigterm::ReleaseFirst,
        _ => OnSigterm::End,
    }
}

/// `release`, `renew` and `refence` speak of a lock that some earlier step must have taken.
fn holds_before(reading: &mut Reading, typed: &Spot<&str>, action: &StepAction, may_hold: bool) {
    let needs = matches!(
        action,
        StepAction::Release | StepAction::Renew | StepAction::Refence
    );
    if needs && !may_hold {
        let message = format!("`{}` before anything was acquired", action.verb());
        reading.hinted(&typed.at, message, "put `acquire` or `enter` before it");
    }
}

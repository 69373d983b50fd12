//! Whether every wait of a drill can be satisfied: a trigger that cannot come would cost the
//! drill its patience and end inconclusive, minutes later.
//!
//! First by name, here: the event must be one that this drill's scripts and faults can produce.
//! Then by order: see [`walk`].

use super::cast::{Cast, Wait, Waiter};
use super::reading::Reading;
use super::refused::quote;
use super::script::VERBS;
use super::walk;
use crate::env::action::Action;
use crate::faults;
use crate::plan::{FaultPlan, Heal, Service, StepAction, Target, WorkerPlan};
use crate::timeline::names::{self, PHASES, is_point};
use std::collections::BTreeSet;

/// Tells every wait that can never be satisfied.
pub(super) fn check(reading: &mut Reading, cast: &Cast) {
    let possible = names::possible_of(&cast.workers, &[]);
    let mut sound = true;
    let mut places = BTreeSet::new();
    for wait in &cast.waits {
        // Workers that do the same wait at the same place of the file.
        if !places.insert((wait.at.source, wait.at.span.start)) {
            continue;
        }
        sound &= known(reading, cast, &possible, wait) && right_word(reading, wait);
    }
    if sound && reading.problems.is_empty() {
        walk::order(reading, cast);
        for fault in &cast.faults {
            heals_in_time(reading, cast, fault);
        }
    }
}

/// The event exists in this drill.
fn known(reading: &mut Reading, cast: &Cast, possible: &BTreeSet<String>, wait: &Wait) -> bool {
    let event = wait.event.as_str();
    let (owner, what) = event.split_once('.').unwrap_or((event, ""));
    let is_fault = cast.fault_names.iter().any(|name| name == owner);
    let unread = cast.unread.contains(owner) && is_form(what);
    let fault = cast.faults.iter().find(|fault| fault.name == owner);
    let heals = fault.is_none_or(|fault| fault.heal.is_some());
    let chooses = fault.is_none_or(|fault| fault.command.is_some());
    let of_fault = is_fault
        && match what {
            "onset" => true,
            "promoted" => cast.fails_over && fault.is_none_or(hits_lock_server),
            "healed" => heals,
            "held" | "delivered" => chooses,
            _ => false,
        };
    if unread || of_fault || possible.contains(event) {
        return true;
    }
    let worker = cast.workers.iter().find(|worker| worker.name == owner);
    if let Some(why) = worker.and_then(|worker| never(worker, what)) {
        let message = format!("{} can never happen: {why}", quote(event));
        reading.problem(&wait.at, message);
        return false;
    }
    if worker.is_none() && !is_fault {
        let message = format!("unknown worker or fault in event {}", quote(event));
        let all = cast.worker_names.iter().chain(&cast.fault_names);
        reading.unknown(&wait.at, message, owner, all.map(String::as_str));
        return false;
    }
    if is_fault && what == "promoted" && !cast.fails_over {
        let message = format!("{} can never happen: no server takes over", quote(event));
        reading.hinted(&wait.at, message, "the lock's back end lives on one server");
        return false;
    }
    let both = ["onset", "healed"].map(|what| format!("{owner}.{what}"));
    let both = &both[..if heals { 2 } else { 1 }];
    let prefix = format!("{owner}.");
    let names = possible.iter().filter(|name| name.starts_with(&prefix));
    let names = names.chain(both.iter().filter(|_| is_fault));
    let message = format!("unknown event {}", quote(event));
    reading.unknown(&wait.at, message, event, names.map(String::as_str));
    false
}

fn hits_lock_server(fault: &FaultPlan) -> bool {
    fault.target == Target::Server(Service::Lock)
}

/// Whether this may follow a worker's name in an event.
fn is_form(what: &str) -> bool {
    let parts: Vec<&str> = what.split('.').collect();
    let numbered = |n: &str| n.parse::<u64>().is_ok_and(|n| n > 0);
    match parts.as_slice() {
        ["started" | "exited" | "acquired" | "lost" | "released"] => true,
        ["write", "accepted" | "rejected"] => true,
        ["acquired", n] => numbered(n),
        ["write", n, "accepted" | "rejected" | "armed"] | ["acquire", n, "armed"] => numbered(n),
        [word, n, "before" | "after"] => is_verb(word) && numbered(n),
        _ => false,
    }
}

/// Why a well-formed event of a worker cannot happen; none if it is not well-formed.
fn never(worker: &WorkerPlan, what: &str) -> Option<String> {
    let name = &worker.name;
    let count = |word: &str| {
        let steps = worker.script.iter();
        steps.filter(|step| step.action.verb() == word).count()
    };
    let has = |word: &str| match count(word) {
        0 => format!("the script of `{name}` has no `{word}` step"),
        1 => format!("the script of `{name}` has 1 `{word}` step"),
        n => format!("the script of `{name}` has {n} `{word}` steps"),
    };
    let takes = || match count("acquire") + count("enter") {
        0 => format!("the script of `{name}` never takes the lock"),
        1 => format!("the script of `{name}` takes the lock once"),
        most => format!("the script of `{name}` takes the lock {most} times"),
    };
    let parts: Vec<&str> = what.split('.').collect();
    match parts.as_slice() {
        ["acquired" | "lost"] | ["acquired", _] if is_form(what) => Some(takes()),
        ["released"] => Some(has("release")),
        [word, ..] if is_form(what) && is_verb(word) => Some(has(word)),
        [word, n] if is_verb(word) => {
            let nth = n.parse::<usize>().ok()?;
            if (1..=count(word)).contains(&nth) {
                Some(format!(
                    "it is a step; say `{name}.{what}.before` or `.after`"
                ))
            } else {
                Some(has(word))
            }
        }
        _ => None,
    }
}

fn is_verb(word: &str) -> bool {
    VERBS.iter().any(|verb| verb.word == word)
}

/// A fault begins `at` a point, where the worker is parked, or `after` an event, where none is.
fn right_word(reading: &mut Reading, wait: &Wait) -> bool {
    let shown = quote(&wait.event);
    match (&wait.who, is_point(&wait.event)) {
        (Waiter::At(_), false) => {
            let message = format!("{shown} is not a point of a script");
            reading.hinted(&wait.at, message, "write `after` instead of `at`");
            false
        }
        (Waiter::After(_), true) => {
            let message = format!("{shown} is a point of a script");
            reading.hinted(&wait.at, message, "write `at` instead of `after`");
            false
        }
        (Waiter::At(_), true) | (Waiter::After(_), false) => true,
        (Waiter::Start(_) | Waiter::Step(..) | Waiter::Heal(_), _) => true,
    }
}

/// An event that is on the record satisfies a trigger at once, and a stopped worker brings about
/// nothing: a heal must lie between the two.
fn heals_in_time(reading: &mut Reading, cast: &Cast, fault: &FaultPlan) {
    let Some(Heal::After(event)) = &fault.heal else {
        return;
    };
    let mut waits = cast.waits.iter();
    let Some(wait) = waits.find(|wait| wait.who == Waiter::Heal(fault.name.clone())) else {
        return;
    };
    let owner = event.split('.').next().unwrap_or("");
    let kind = faults::find(&fault.kind);
    let stops = kind.is_some_and(|kind| kind.onset.contains(&Action::StopGroup));
    // What a server lost at the onset is not undone by the heal: that may come at once.
    let early = (stops && *event == format!("{}.onset", fault.name))
        || cast.workers.iter().any(|worker| {
            worker.name == owner && before_point(worker, &fault.when).contains(event)
        });
    let (shown, name) = (quote(event), &fault.name);
    if early {
        let message = format!("{shown} has already happened when `{name}` begins");
        reading.hinted(&wait.at, message, "it would be healed at once");
    } else if stops
        && fault.target == Target::Worker(owner.to_owned())
        && event.as_str() != format!("{owner}.exited")
    {
        let message = format!("{shown} can never heal `{name}`: `{owner}` is stopped until then");
        reading.problem(&wait.at, message);
    }
}

/// What a worker has brought about, if all went well, when it stands at one of its points;
/// nothing if the point is not its own.
fn before_point(worker: &WorkerPlan, point: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let name = &worker.name;
    for step in &worker.script {
        for phase in PHASES {
            let reached = format!("{name}.{}.{phase}", step.name);
            if reached == point {
                names.insert(format!("{name}.started"));
                return names;
            }
            names.insert(reached);
        }
        match step.action {
            StepAction::Acquire | StepAction::Enter { .. } => {
                names.insert(format!("{name}.acquired"));
            }
            StepAction::Write | StepAction::WriteAs { .. } => {
                names.insert(format!("{name}.write.accepted"));
                names.insert(format!("{name}.{}.accepted", step.name));
            }
            StepAction::Release => {
                names.insert(format!("{name}.released"));
            }
            StepAction::Check
            | StepAction::Read
            | StepAction::Publish { .. }
            | StepAction::Relay
            | StepAction::Refence
            | StepAction::Hold { .. }
            | StepAction::HoldUntil { .. }
            | StepAction::Burn { .. }
            | StepAction::Renew
            | StepAction::Await { .. }
            | StepAction::StopIfLost => {}
        }
    }
    BTreeSet::new()
}

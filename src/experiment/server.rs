//! `[server]`: the user's own program and settings for the lock's server. Which settings the lab
//! replaces is told in the plan, with the value that does not hold.

use super::conf::{self, Setting};
use super::reading::{Reading, Spot};
use super::refused::quote;
use super::section::Section;
use crate::env::action::Action;
use crate::env::deployment;
use crate::env::redis::find;
use crate::env::redis::replaced::{self, Instead, Rule};
use crate::faults;
use crate::lock::backends::{self, Servers};
use crate::plan::{FaultPlan, LockPlan, Overridden, Persist, ServerPlan};

/// Reads the section. What the file says of persistence becomes the lock's, unless the experiment
/// speaks of it.
pub(super) fn read(
    reading: &mut Reading,
    root: &Section<'_>,
    (lock, faults): (Option<&mut LockPlan>, &[FaultPlan]),
) -> ServerPlan {
    let Some(section) = root.table(reading, "server") else {
        return ServerPlan::default();
    };
    let binary = section.text(reading, "binary");
    let config = section.text(reading, "config");
    if let Some(binary) = &binary {
        is_a_program(reading, binary);
    }
    let Some(lock) = lock else {
        return ServerPlan::default();
    };
    let servers = servers_of(lock);
    for (key, typed) in [("binary", &binary), ("config", &config)] {
        let Some(typed) = typed else { continue };
        let (message, hint) = match (servers, key) {
            (0, _) => (
                "lives on no Redis server of the lab",
                "leave `[server]` out",
            ),
            (2.., "config") => (
                "lives on several servers, which the lab sets up itself",
                "`binary` alone may be said",
            ),
            _ => continue,
        };
        let message = format!("`{key}`: the lock `{}` {message}", lock.backend);
        reading.hinted(&typed.at, message, hint);
    }
    let before = reading.problems.count();
    let settings = config.as_ref().map_or_else(Vec::new, |config| {
        conf::read(reading, &config.at, config.value)
    });
    if reading.problems.count() > before {
        return ServerPlan::default();
    }
    let speaks = root
        .table(reading, "lock")
        .is_some_and(|section| section.has("persist"));
    if !speaks && let Some(persist) = persist(&settings) {
        lock.persist = persist;
    }
    let mut plan = ServerPlan {
        binary: binary.map(|typed| typed.value.to_owned()),
        config: config.map(|typed| typed.value.to_owned()),
        ..ServerPlan::default()
    };
    for setting in settings {
        sort(&mut plan, setting, (lock.persist, faults));
    }
    plan
}

/// How many servers a lock lives on, as far as the lab starts them.
fn servers_of(lock: &LockPlan) -> usize {
    let one = usize::from(backends::live_on(&lock.backend, Servers::Redis));
    let alone = one.max(usize::try_from(lock.voters).unwrap_or(usize::MAX));
    deployment::of(&lock.backend).map_or(alone, |kind| kind.members.len())
}

/// A word is looked for on `PATH`, as a shell does. Nothing is executed here.
fn is_a_program(reading: &mut Reading, typed: &Spot<&str>) {
    let message = match find::program(typed.value) {
        Some(path) if find::is_executable(&path) => return,
        Some(_) => format!(
            "{} is no program: it cannot be executed",
            quote(typed.value)
        ),
        None => format!("there is no program {}", quote(typed.value)),
    };
    let hint = "the path of a redis-server, or a name that is on PATH";
    reading.hinted(&typed.at, message, hint);
}

fn persist(settings: &[Setting]) -> Option<Persist> {
    let last = |name: &str| {
        let found = settings.iter().rfind(|setting| setting.name == name);
        found.map(Setting::value)
    };
    replaced::persist(
        last("appendonly").as_deref(),
        last("appendfsync").as_deref(),
    )
}

/// Keeps a setting, or says what holds instead; both, if it holds until a fault.
fn sort(plan: &mut ServerPlan, setting: Setting, (persist, faults): (Persist, &[FaultPlan])) {
    match replaced::rule_for(&setting.name) {
        Some(rule) if !holds_anyway(rule, &setting, persist) => {
            plan.overridden.push(Overridden {
                place: setting.place,
                yours: (!rule.secret).then(|| setting.words.join(" ")),
                setting: setting.name,
                lab: rule.lab.value(persist).to_owned(),
                why: rule.why.to_owned(),
            });
        }
        Some(_) => {}
        None => {
            if let Some((fault, kind)) = changed_by(&setting.name, faults) {
                plan.overridden.push(Overridden {
                    place: setting.place,
                    yours: Some(setting.words.join(" ")),
                    setting: setting.name,
                    lab: format!("yours until {fault} begins"),
                    why: format!("a fault `{kind}` sets it, and does not set it back to yours"),
                });
            }
            plan.kept.push(setting.line);
        }
    }
}

/// The lab and the user want the same.
fn holds_anyway(rule: &Rule, setting: &Setting, persist: Persist) -> bool {
    let same = match rule.lab {
        Instead::Nothing => false,
        lab => setting.value() == lab.value(persist).trim_matches('"'),
    };
    // How often what is appended reaches the disk matters only where something is appended.
    same || (rule.lab == Instead::Syncs && persist == Persist::None)
}

/// The first fault that gives the server another value of this setting: its name and kind.
fn changed_by(name: &str, all: &[FaultPlan]) -> Option<(String, String)> {
    let sets = |fault: &&FaultPlan| {
        let kind = faults::find(&fault.kind);
        kind.is_some_and(|kind| {
            kind.onset.iter().any(
                |action| matches!(action, Action::Ask(["CONFIG", "SET", asked, ..]) if *asked == name),
            )
        })
    };
    let fault = all.iter().find(sets)?;
    Some((fault.name.clone(), fault.kind.clone()))
}

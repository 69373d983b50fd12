//! `[fault.NAME]`: what is broken on purpose, whom it hits, when it begins and what ends it.

use super::cast::{Cast, Wait, Waiter};
use super::duration::show;
use super::jump;
use super::reading::{Reading, Spot};
use super::refused::quote;
use super::section::Section;
use super::several;
use super::wire::{self, Wire};
use crate::env::deployment;
use crate::faults::{self, FaultKind, Hits};
use crate::plan::{FaultPlan, Heal, LockPlan, Persist, Service, StorePlan, Target};
use crate::store;

/// Targets that are not a worker's name, and what each means.
pub(super) const RESERVED: &[(&str, Target)] = &[
    ("holder", Target::Holder),
    ("everyone", Target::Everyone),
    ("lock-server", Target::Server(Service::Lock)),
    ("store-server", Target::Server(Service::Store)),
];

/// Reads one fault.
pub(super) fn fault(
    reading: &mut Reading,
    cast: &mut Cast,
    (name, section): (&Spot<&str>, &Section<'_>),
    lease_ms: Option<u64>,
) {
    let kind = section.one_of(reading, "kind");
    let kind = kind.and_then(|kind| faults::find(kind.value));
    let target = target(reading, cast, section);
    if let (Some(kind), Some(target)) = (kind, &target) {
        can_hit(reading, kind, target, section);
    }
    let wire = kind.map_or_else(Wire::default, |kind| wire::read(reading, kind, section));
    let by_ms = kind.and_then(|kind| jump::read(reading, kind, section));
    let when = when(reading, cast, (name, section));
    let heal = match kind {
        Some(kind) if !kind.lasts() => never_healed(reading, kind, section),
        Some(kind) if kind.may_stay() && !section.has("heal") && !section.has("for") => Some(None),
        Some(_) | None => heal(reading, cast, (name, section)).map(Some),
    };
    if let (Some(kind), Some(Some(Heal::For(ms)))) = (kind, &heal) {
        let outlasts = kind.must_outlast_lease;
        if let Some(lease_ms) = lease_ms.filter(|lease_ms| outlasts && ms <= lease_ms) {
            let (short, lease) = (show(*ms), show(lease_ms));
            let message = format!("`for` of {short} cannot outlast the lease of {lease}");
            let hint = format!("a `{}` shows something only if it is longer", kind.name);
            reading.hinted(&section.place("for"), message, hint);
        }
    }
    if let (Some(kind), Some(target), Some(when), Some(heal)) = (kind, target, when, heal) {
        cast.faults.push(FaultPlan {
            name: name.value.to_owned(),
            kind: kind.name.to_owned(),
            target,
            edge: wire.edge,
            command: wire.command,
            by_ms,
            when,
            heal,
        });
    }
}

/// The fault can be done to such a target.
fn can_hit(reading: &mut Reading, kind: &FaultKind, target: &Target, section: &Section<'_>) {
    let fits = match target {
        Target::Holder | Target::Worker(_) => kind.hits != Hits::Server,
        Target::Server(Service::Lock) => matches!(kind.hits, Hits::Server | Hits::Process),
        // That server's clock dates the store's log: it would be the lab's clock that jumps.
        Target::Server(Service::Store) => kind.hits == Hits::Server,
        Target::Everyone => kind.hits == Hits::Edge,
        // Whether a process dies or stands still does not depend on what it is there for.
        Target::Member(_) => kind.is_done_to_one_of_several(),
    };
    if fits {
        return;
    }
    let (noun, hint) = match kind.hits {
        Hits::Worker => ("a worker", "name a worker, or `holder`"),
        Hits::Edge => ("edges of workers", "name a worker, `holder`, or `everyone`"),
        Hits::Process => (
            "a worker or the lock server",
            "name a worker, `holder`, or `lock-server`",
        ),
        Hits::Server if matches!(target, Target::Member(_)) => (
            "the server that takes writes",
            "say `lock-server`; one of several can be killed or stopped",
        ),
        Hits::Server => ("a server", "say `lock-server` or `store-server`"),
    };
    let message = format!("`{}` is done to {noun}", kind.name);
    reading.hinted(&section.place("target"), message, hint);
}

/// A fault of the store's server needs a store that has one.
pub(super) fn store_has_server(
    reading: &mut Reading,
    root: &Section<'_>,
    (faults, store): (&[FaultPlan], Option<&StorePlan>),
) {
    let kind = store.and_then(|store| store::find(&store.kind));
    let Some(store) = kind.filter(|kind| kind.server.is_none()) else {
        return;
    };
    let store = store.name;
    let hits = |fault: &&FaultPlan| fault.target == Target::Server(Service::Store);
    let sections = root.named(reading, "fault");
    for fault in faults.iter().filter(hits) {
        let found = sections.iter().find(|(name, _)| name.value == fault.name);
        let at = found.map_or_else(|| root.at.clone(), |(_, section)| section.place("target"));
        let message = format!(
            "the store `{store}` has no server that `{}` could hit",
            fault.name
        );
        let servers = store::ALL.iter().filter(|kind| kind.server.is_some());
        let names: Vec<&str> = servers.map(|kind| kind.name).collect();
        let hint = format!("stores with a server: `{}`", names.join("`, `"));
        reading.hinted(&at, message, hint);
    }
}

/// A disk lags behind only where the server answers before it has flushed.
pub(super) fn disk_can_lag(
    reading: &mut Reading,
    root: &Section<'_>,
    (faults, lock): (&[FaultPlan], Option<&LockPlan>),
) {
    let lags = |fault: &&FaultPlan| fault.kind == faults::lag_disk::KIND.name;
    let (Some(fault), Some(lock)) = (faults.iter().find(lags), lock) else {
        return;
    };
    let of_lock = fault.target == Target::Server(Service::Lock);
    if of_lock && lock.persist == Persist::Everysec {
        return;
    }
    let sections = root.named(reading, "fault");
    let section = sections.iter().find(|(name, _)| name.value == fault.name);
    let at = section.map_or_else(|| root.at.clone(), |(_, section)| section.place("kind"));
    let message = format!("`{}` makes nothing of a disk that never lags", fault.kind);
    let hint = "aim it at `lock-server`, with `persist = \"everysec\"` in [lock]";
    reading.hinted(&at, message, hint);
}

/// What is over as soon as it is done has nothing that could be undone.
#[allow(clippy::option_option)] // none = told as wrong; some none = no heal
fn never_healed(
    reading: &mut Reading,
    kind: &FaultKind,
    section: &Section<'_>,
) -> Option<Option<Heal>> {
    let said = ["heal", "for"].into_iter().find(|key| section.has(key));
    let Some(key) = said else { return Some(None) };
    let message = format!("a `{}` cannot be undone: it has no `{key}`", kind.name);
    reading.problem(&section.place(key), message);
    None
}

fn target(reading: &mut Reading, cast: &Cast, section: &Section<'_>) -> Option<Target> {
    let typed = section.text(reading, "target")?;
    let reserved = RESERVED.iter().find(|(word, _)| *word == typed.value);
    if let Some((_, target)) = reserved {
        return Some(target.clone());
    }
    if cast.worker_names.iter().any(|name| name == typed.value) {
        return Some(Target::Worker(typed.value.to_owned()));
    }
    let mut members = deployment::ALL.iter().flat_map(|kind| kind.members);
    if members.any(|member| *member == typed.value) || several::votes(typed.value) {
        return Some(Target::Member(typed.value.to_owned()));
    }
    let message = format!("unknown target {}", quote(typed.value));
    let names = cast.worker_names.iter().map(String::as_str);
    let names = RESERVED.iter().map(|(word, _)| *word).chain(names);
    reading.unknown(&typed.at, message, typed.value, names);
    None
}

fn when(
    reading: &mut Reading,
    cast: &mut Cast,
    (name, section): (&Spot<&str>, &Section<'_>),
) -> Option<String> {
    let table = section.table(reading, "when")?;
    let at = table.text(reading, "at");
    let after = table.text(reading, "after");
    let fault = name.value.to_owned();
    let (who, event) = match (at, after) {
        (Some(point), None) => (Waiter::At(fault), point),
        (None, Some(event)) => (Waiter::After(fault), event),
        (Some(_), Some(event)) => {
            reading.problem(&event.at, "`when` says both `at` and `after`; one of them");
            return None;
        }
        (None, None) => {
            if !table.has("at") && !table.has("after") {
                let message = "`when` says neither `at` a point nor `after` an event";
                reading.hinted(&table.at, message, "see `lockdrill list events`");
            }
            return None;
        }
    };
    cast.waits.push(Wait {
        who,
        event: event.value.to_owned(),
        at: event.at,
    });
    Some(event.value.to_owned())
}

fn heal(
    reading: &mut Reading,
    cast: &mut Cast,
    (name, section): (&Spot<&str>, &Section<'_>),
) -> Option<Heal> {
    match (section.has("heal"), section.has("for")) {
        (true, true) => {
            let at = section.place("for");
            let message = format!("{} has both `heal` and `for`; one of them", section.label);
            reading.problem(&at, message);
            None
        }
        (false, false) => {
            let message = format!("{} never ends", section.label);
            let hint = "say `heal = { after = EVENT }` or `for = DURATION`";
            reading.hinted(&section.at, message, hint);
            None
        }
        (true, false) => {
            let event = section.table(reading, "heal")?.text(reading, "after")?;
            cast.waits.push(Wait {
                who: Waiter::Heal(name.value.to_owned()),
                event: event.value.to_owned(),
                at: event.at,
            });
            Some(Heal::After(event.value.to_owned()))
        }
        (false, true) => {
            let lasts = section.duration(reading, "for")?;
            if lasts.value == 0 {
                reading.problem(&lasts.at, "`for` no time at all breaks nothing");
                return None;
            }
            Some(Heal::For(lasts.value))
        }
    }
}

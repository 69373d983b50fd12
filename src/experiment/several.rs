//! What can be done to a lock service of several servers, and what only to one of several.

use super::on_keeper;
use super::reading::{Reading, Spot};
use super::registry;
use super::section::Section;
use crate::env::action::Action;
use crate::env::deployment::{self, Kind};
use crate::faults::{self, FaultKind};
use crate::lock::backends::{self, Servers};
use crate::plan::{FaultPlan, LockPlan, Service, Target};

/// Of how many servers a quorum has to agree, if the file does not say.
const VOTERS: u64 = 3;

/// Refuses faults that do not fit the servers of the lock: what means nothing where each has one
/// vote of several, votes that nobody has, and what one of several cannot have.
pub(super) fn fits(
    reading: &mut Reading,
    root: &Section<'_>,
    (all, lock): (&[FaultPlan], Option<&LockPlan>),
) {
    let Some(lock) = lock else { return };
    let deployed = registry::deployed(&lock.backend);
    let sections = root.named(reading, "fault");
    for fault in all {
        let wrong = match lock.voters {
            0 => misfit(fault, deployed),
            _ => no_vote(fault, lock),
        };
        let Some((key, message, hint)) = wrong else {
            continue;
        };
        let found = sections.iter().find(|(name, _)| name.value == fault.name);
        let at = found.map_or_else(|| root.at.clone(), |(_, section)| section.place(key));
        reading.hinted(&at, message, hint);
    }
}

/// Refuses more copies of a grant, or more replicas that never take over, than there can be.
pub(super) fn replicas(
    reading: &mut Reading,
    backend: Option<&Spot<&str>>,
    [copies, backups]: [&Option<Spot<u64>>; 2],
) {
    let Some(backend) = backend.map(|backend| backend.value) else {
        return;
    };
    let kind = deployment::of(backend);
    let most = kind.map_or(0, |kind| kind.replicas);
    let spare = kind.map_or(0, |kind| kind.backups.len() as u64);
    for (count, most, what) in [
        (copies, most, "replicas"),
        (
            backups,
            spare,
            "replicas that need not be able to take over",
        ),
    ] {
        if let Some(count) = count.as_ref().filter(|count| count.value > most) {
            let message = format!("`{backend}` has {most} {what}, not {}", count.value);
            reading.problem(&count.at, message);
        }
    }
}

/// How many servers have a vote; 0 if the back end knows no votes.
pub(super) fn voters(
    reading: &mut Reading,
    backend: Option<&Spot<&str>>,
    section: &Section<'_>,
) -> u64 {
    let asked = section.count(reading, "voters");
    let Some(backend) =
        backend.filter(|backend| !backends::live_on(backend.value, Servers::Voters))
    else {
        return asked.map_or(VOTERS, |asked| asked.value);
    };
    if let Some(asked) = asked {
        let message = format!("the servers of `{}` have no votes", backend.value);
        reading.problem(&asked.at, message);
    }
    0
}

/// So many replicas are as many as a server asks for that refuses writes without them.
const TOO_MANY: u64 = 2;

/// Whether a server that has a vote may be called so.
pub(super) fn votes(name: &str) -> bool {
    let number = name.strip_prefix("redis-");
    number.is_some_and(|number| number.parse::<u64>().is_ok())
}

/// The same of servers with a vote each.
fn no_vote(fault: &FaultPlan, lock: &LockPlan) -> Option<(&'static str, String, &'static str)> {
    let (backend, voters) = (&lock.backend, lock.voters);
    if let Target::Member(name) = &fault.target {
        let message = format!("`{backend}` has no {name}: {voters} servers have a vote");
        let there = lock.voters().contains(name);
        return (!there).then_some(("target", message, "`redis-1` is the first of them"));
    }
    if fault.target == Target::Server(Service::Lock) {
        let message = match faults::find(&fault.kind).is_some_and(FaultKind::moves_clock) {
            true => no_one_clock(backend),
            false => format!("no one server has the lock `{backend}`"),
        };
        return Some(("target", message, "`redis-1` is the first of them"));
    }
    let harm = faults::find(&fault.kind).and_then(FaultKind::harm);
    let chooses = fault.edge == Some(Service::Lock) && harm.is_some_and(|harm| harm.chooses());
    let message = format!("a command of `{backend}` is as many requests as it has voters");
    let hint = "`cut-requests` and `cut-replies` take them all";
    chooses.then_some(("kind", message, hint))
}

fn no_one_clock(backend: &str) -> String {
    format!("no one clock is that of `{backend}`: each of its servers has its own")
}

/// The clock of one of several servers that copy each other: none of them is started with one that
/// can be moved.
fn clock_of_many(fault: &FaultPlan, backend: &str) -> Option<(&'static str, String, &'static str)> {
    let of_a_server = matches!(
        fault.target,
        Target::Server(Service::Lock) | Target::Member(_)
    );
    let moves = faults::find(&fault.kind).is_some_and(FaultKind::moves_clock);
    let hint = "`worker-clock` moves a worker's; a lock on one server has one clock";
    (of_a_server && moves).then(|| ("kind", no_one_clock(backend), hint))
}

/// A server of a Cluster stands still: the nodes themselves are asked which of them has the lock.
fn asks_who_stands_still(fault: &FaultPlan, backend: &str) -> bool {
    on_keeper::stands_still(fault) && backends::live_on(backend, Servers::Cluster)
}

/// The key that is wrong, what is wrong with it, and what would not be.
fn misfit(
    fault: &FaultPlan,
    deployed: Option<&Kind>,
) -> Option<(&'static str, String, &'static str)> {
    let kind = faults::find(&fault.kind)?;
    let member = match &fault.target {
        Target::Member(name) => Some(name.as_str()),
        _other => None,
    };
    let Some(deployed) = deployed else {
        let hint = "the lock's back end lives on one server";
        if let Some(member) = member {
            return Some(("target", format!("there is no {member}"), hint));
        }
        let copied = kind.onset.contains(&Action::AwaitCutOff);
        let message = format!("`{}` needs servers that copy each other", fault.kind);
        return copied.then_some(("kind", message, hint));
    };
    let backend = deployed.backend;
    if fault.edge == Some(Service::Lock) {
        let message = format!("the servers of `{backend}` tell workers their own addresses");
        return Some((
            "edge",
            message,
            "say what is done to a server: its edges are not ours",
        ));
    }
    if let Some(wrong) = clock_of_many(fault, backend) {
        return Some(wrong);
    }
    if kind.onset.contains(&Action::ExpectNoWrites) && deployed.replicas >= TOO_MANY {
        let message = format!("`{}` asks for replicas that `{backend}` has", fault.kind);
        return Some(("kind", message, "a lock on one server has none"));
    }
    if asks_who_stands_still(fault, backend) {
        let message = format!("the servers of `{backend}` are asked which of them has the lock");
        let hint = "one that stands still gives no answer; `lose-server` and `kill-server` end one";
        return Some(("kind", message, hint));
    }
    let none = |name: &&str| !deployed.members.contains(name);
    if let Some(member) = member.filter(none) {
        let message = format!("`{backend}` has no {member}");
        return Some((
            "target",
            message,
            "its members are in the report of any run",
        ));
    }
    None
}

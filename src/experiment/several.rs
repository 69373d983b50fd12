//! What can be done to a lock service of several servers, and what only to one of several.

use super::reading::{Reading, Spot};
use super::registry;
use super::section::Section;
use crate::env::action::Action;
use crate::env::deployment::{self, Kind};
use crate::faults::{self, FaultKind};
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
        let wrong = no_vote(fault, lock).or_else(|| misfit(fault, deployed));
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
    let Some(backend) = backend.filter(|backend| !registry::has_voters(backend.value)) else {
        return asked.map_or(VOTERS, |asked| asked.value);
    };
    if let Some(asked) = asked {
        let message = format!("the servers of `{}` have no votes", backend.value);
        reading.problem(&asked.at, message);
    }
    0
}

/// The same of servers with a vote each, or of a lock that knows none.
fn no_vote(
    fault: &FaultPlan,
    LockPlan {
        backend, voters, ..
    }: &LockPlan,
) -> Option<(&'static str, String, &'static str)> {
    if let Target::Voter(number) = fault.target {
        let message = match voters {
            0 => format!("the servers of `{backend}` have no votes"),
            _ => format!("`{backend}` has {voters} servers with a vote, from `voter-1`"),
        };
        let there = (1..=*voters).contains(&number);
        return (!there).then_some(("target", message, "`lock-server` is any other lock's"));
    }
    if *voters == 0 {
        return None;
    }
    if fault.target == Target::Server(Service::Lock) {
        let message = format!("no one server has the lock `{backend}`");
        return Some(("target", message, "`voter-1` is the first of them"));
    }
    let harm = faults::find(&fault.kind).and_then(FaultKind::harm);
    let chooses = fault.edge == Some(Service::Lock) && harm.is_some_and(|harm| harm.chooses());
    let message = format!("a command of `{backend}` is as many requests as it has voters");
    let hint = "`cut-requests` and `cut-replies` take them all";
    chooses.then_some(("kind", message, hint))
}

/// The key that is wrong, what is wrong with it, and what would not be.
fn misfit(
    fault: &FaultPlan,
    deployed: Option<&Kind>,
) -> Option<(&'static str, String, &'static str)> {
    let kind = faults::find(&fault.kind)?;
    let Some(deployed) = deployed else {
        let copied = kind.onset.contains(&Action::AwaitCutOff);
        let message = format!("`{}` needs servers that copy each other", fault.kind);
        let hint = "the lock's back end lives on one server";
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
    let back = kind.heal.contains(&Action::StartServer);
    if fault.target == Target::Server(Service::Lock) && back {
        let message = format!("a server of `{backend}` that is gone does not come back");
        return Some(("kind", message, "a `lose-server` says so"));
    }
    None
}

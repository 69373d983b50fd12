//! What can be done to a lock service of several servers, and what only to one of several.

use super::reading::{Reading, Spot};
use super::section::Section;
use crate::env::action::Action;
use crate::env::deployment::{self, Kind};
use crate::faults;
use crate::plan::{FaultPlan, Service, Target};

/// Refuses faults that do not fit the servers of the lock.
pub(super) fn fits(
    reading: &mut Reading,
    root: &Section<'_>,
    (all, deployed): (&[FaultPlan], Option<&Kind>),
) {
    let sections = root.named(reading, "fault");
    for fault in all {
        let Some((key, message, hint)) = misfit(fault, deployed) else {
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

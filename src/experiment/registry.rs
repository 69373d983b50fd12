//! Every name that an experiment file may use, and what `lockdrill list` says of it, taken from
//! the registries: a new fault, check, lock or store is named in files and listed without a
//! change here.

use super::embedded;
use super::files::{self, FOLDER};
use super::{Overrides, read};
use crate::env::deployment;
use crate::env::edge;
use crate::lock::backends::{self, Servers};
use crate::lock::flaws;
use crate::plan::{AUTO, Service};
use crate::timeline::names;
use crate::{checks, faults, store};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A name with one line about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The name, or for events its form.
    pub name: String,
    /// One line.
    pub summary: String,
}

impl Listed {
    fn new(name: impl Into<String>, summary: impl Into<String>) -> Self {
        Listed {
            name: name.into(),
            summary: summary.into(),
        }
    }
}

/// What a lost lock costs.
pub(super) fn class_names() -> Vec<&'static str> {
    vec!["correctness", "efficiency"]
}

/// What a worker may ask before a write.
pub(super) fn gate_names() -> Vec<&'static str> {
    vec!["none", "is_locked", "handle"]
}

/// Where a worker's fencing tokens may come from.
pub(super) fn fencing_names() -> Vec<&'static str> {
    vec!["lock", "own-counter"]
}

/// What a worker may do when it is asked to end.
pub(super) fn sigterm_names() -> Vec<&'static str> {
    vec!["end", "finish", "release_first"]
}

/// What renewals may run on.
pub(super) fn renewal_names() -> Vec<&'static str> {
    vec!["own", "script"]
}

/// How a store compares fencing tokens, and how a write `if pending` looks at its job.
pub(super) fn fence_names() -> Vec<&'static str> {
    vec!["atomic", "racy", "off"]
}

/// Which reads a store answers.
pub(super) fn reads_names() -> Vec<&'static str> {
    vec!["open", "fenced"]
}

/// What a lock server keeps over a restart.
pub(super) fn persist_names() -> Vec<&'static str> {
    vec!["none", "everysec", "always"]
}

/// Who can make edges.
pub(super) fn proxy_names() -> Vec<&'static str> {
    let all = edge::ALL.iter().map(|kind| kind.name);
    std::iter::once(AUTO).chain(all).collect()
}

/// What a worker has an edge to.
pub(super) fn service_names() -> Vec<&'static str> {
    vec![Service::Lock.word(), Service::Store.word()]
}

/// What can be asked of a lock service.
pub(super) fn command_names() -> Vec<&'static str> {
    vec!["acquire", "renew", "release"]
}

/// Every fault.
pub(super) fn fault_names() -> Vec<&'static str> {
    faults::ALL.iter().map(|kind| kind.name).collect()
}

/// Every check.
pub(super) fn check_names() -> Vec<&'static str> {
    checks::ALL.iter().map(|check| check.name()).collect()
}

/// A server that keeps all it has answered, and is no Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeper {
    /// A Postgres.
    Postgres,
    /// An etcd.
    Etcd,
    /// A ZooKeeper.
    Zookeeper,
}

/// Every lock back end.
pub(super) fn lock_names() -> Vec<&'static str> {
    backends::ALL.iter().map(|kind| kind.name).collect()
}

/// Whether the locks of a back end exist within one process only: workers, which are processes of
/// their own, would never meet.
pub(super) fn within_one_process(backend: &str) -> bool {
    backends::named(backend).is_some_and(|kind| kind.within_one_process)
}

/// What the locks of a back end live on, where that is a server that keeps all it has answered.
pub(super) fn keeper(backend: &str) -> Option<Keeper> {
    match backends::named(backend)?.servers {
        Servers::Postgres | Servers::PostgresSessions => Some(Keeper::Postgres),
        Servers::Etcd => Some(Keeper::Etcd),
        Servers::Zookeeper => Some(Keeper::Zookeeper),
        Servers::None | Servers::Redis | Servers::Sentinel | Servers::Cluster | Servers::Voters => {
            None
        }
    }
}

/// Whether the lab starts the servers that a back end lives on; why not, if it does not.
pub(super) fn can_be_started(backend: &str) -> Result<(), &'static str> {
    let kind = backends::named(backend);
    match kind.map_or(Servers::None, |kind| kind.servers) {
        Servers::None
        | Servers::Redis
        | Servers::Postgres
        | Servers::Etcd
        | Servers::Zookeeper
        | Servers::Voters => Ok(()),
        Servers::PostgresSessions => Err(
            "no stream of changes tells of the end of a session: shown is what `kill-session` ends, and what the server ends for its silence (`pause`, `cut`)",
        ),
        Servers::Sentinel | Servers::Cluster => deployment::of(backend)
            .map(|_| ())
            .ok_or("the lab starts one server for locks, and no deployment of several"),
    }
}

/// The servers of a back end that lives on several, if the lab starts them.
pub(super) fn deployed(backend: &str) -> Option<&'static deployment::Kind> {
    deployment::of(backend)
}

/// Every flaw.
pub(super) fn flaw_names() -> Vec<&'static str> {
    flaws::ALL.iter().map(|flaw| flaw.name()).collect()
}

/// Every store.
pub(super) fn store_names() -> Vec<&'static str> {
    store::ALL.iter().map(|kind| kind.name).collect()
}

/// Names of the back ends that a flaw can be built into.
pub(super) fn backends_with(flaw: &str) -> Vec<&'static str> {
    flaws::Flaw::named(flaw).map_or_else(Vec::new, |flaw| flaw.backends().collect())
}

/// What can be broken on purpose.
pub fn faults() -> Vec<Listed> {
    let all = faults::ALL.iter();
    all.map(|kind| Listed::new(kind.name, kind.summary))
        .collect()
}

/// What is judged.
pub fn checks() -> Vec<Listed> {
    let all = checks::ALL.iter();
    all.map(|check| Listed::new(check.name(), check.claim()))
        .collect()
}

/// Lock back ends.
pub fn locks() -> Vec<Listed> {
    let all = backends::ALL.iter();
    all.map(|kind| Listed::new(kind.name, kind.summary))
        .collect()
}

/// Protected stores.
pub fn stores() -> Vec<Listed> {
    let all = store::ALL.iter();
    all.map(|kind| Listed::new(kind.name, kind.summary))
        .collect()
}

/// Defects that a lock can be given on purpose, with the back ends that can have them.
pub fn flaws() -> Vec<Listed> {
    let all = flaws::ALL.iter();
    all.map(|flaw| {
        let backends: Vec<&str> = flaw.backends().collect();
        let summary = format!("{} ({})", flaw.summary(), backends.join(", "));
        Listed::new(flaw.name(), summary)
    })
    .collect()
}

/// What a trigger, an `await` or a `hold until` may wait for.
pub fn events() -> Vec<Listed> {
    let all = names::CATALOGUE.iter();
    all.map(|event| Listed::new(event.pattern, event.meaning))
        .collect()
}

/// The drills in `experiments/` under `root`, and the built-in ones that it does not replace.
pub fn drills(root: &Path) -> Vec<Listed> {
    let built_in = embedded::names().into_iter();
    let built_in = built_in.filter_map(|name| {
        let summary = summary(name, embedded::find(name)?);
        Some((name.to_owned(), summary))
    });
    let mut found: BTreeMap<String, String> = built_in.collect();
    for (name, file) in files::stems(&root.join(FOLDER)) {
        let text = fs::read_to_string(file).unwrap_or_default();
        let summary = summary(&name, &text);
        found.insert(name, summary);
    }
    found
        .into_iter()
        .map(|(name, summary)| Listed::new(name, summary))
        .collect()
}

fn summary(name: &str, text: &str) -> String {
    match read(name, name, text, &Overrides::default()) {
        Ok(experiment) => experiment.main.summary,
        Err(_) => format!("(not usable as it stands: `lockdrill validate {name}` says why)"),
    }
}

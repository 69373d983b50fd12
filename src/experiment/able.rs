//! What the back end itself must be able to do for a drill: let workers meet at its locks, be started
//! and followed by the lab, forget what a drill wants forgotten, and tell a fencing token to who asks
//! for one without the lock.

use super::cast::Cast;
use super::reading::Reading;
use super::registry;
use super::section::Section;
use super::sessions;
use crate::lock::backends::{self, Servers};
use crate::plan::{LockPlan, Persist, StepAction};

/// Refuses a back end that cannot.
pub(super) fn fits(reading: &mut Reading, root: &Section<'_>, (lock, cast): (&LockPlan, &Cast)) {
    keeps(reading, root, lock);
    let backend = lock.backend.as_str();
    let Some((message, hint)) = unable(backend, cast) else {
        return;
    };
    let at = root.place_in(reading, "lock", "backend");
    reading.hinted(&at, message, hint);
}

/// Refuses servers that forget where each is followed by what it keeps.
fn keeps(reading: &mut Reading, root: &Section<'_>, lock: &LockPlan) {
    let section = root.table(reading, "lock");
    let said = section.is_some_and(|section| section.has("persist"));
    if said && lock.persist != Persist::Always && registry::deployed(&lock.backend).is_some() {
        let message = format!(
            "each server of `{}` keeps all that it has answered",
            lock.backend
        );
        let at = root.place_in(reading, "lock", "persist");
        reading.hinted(&at, message, "say `persist = \"always\"`");
    }
}

fn unable(backend: &str, cast: &Cast) -> Option<(String, &'static str)> {
    if cast.worker_names.len() > 1 && registry::within_one_process(backend) {
        return Some((
            format!("the lock `{backend}` exists within one process only"),
            "each worker is a process of its own: they would never meet",
        ));
    }
    let faults = &cast.faults;
    let shown = faults.iter().any(sessions::end) || sessions::are_left_to_the_server(faults);
    if let Some(misfit) = sessions::misfit(backend, faults) {
        return Some(misfit);
    }
    if let (Err(why), false) = (registry::can_be_started(backend), shown) {
        return Some((format!("no drill runs on the lock `{backend}`"), why));
    }
    let steps = cast.workers.iter().flat_map(|worker| &worker.script);
    let draws = steps
        .into_iter()
        .any(|step| step.action == StepAction::Refence);
    (draws && !can_be_drawn(backend)).then(|| {
        (
            format!("no fencing token of the lock `{backend}` can be drawn without the lock"),
            "`refence` needs a counter that can be asked by itself, as `redis` has one",
        )
    })
}

/// Where one server alone counts, and its counter is the whole token.
fn can_be_drawn(backend: &str) -> bool {
    match backends::named(backend).map_or(Servers::None, |kind| kind.servers) {
        Servers::Redis | Servers::Postgres | Servers::Etcd | Servers::Zookeeper => true,
        Servers::None
        | Servers::Sentinel
        | Servers::Cluster
        | Servers::Voters
        | Servers::PostgresSessions => false,
    }
}

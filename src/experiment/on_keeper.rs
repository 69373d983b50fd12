//! What cannot be done to a lock that lives on a Postgres server, an etcd or a ZooKeeper, and what
//! would mean nothing there.

use super::reading::Reading;
use super::registry::{self, Keeper};
use super::section::Section;
use crate::env::action::Action;
use crate::faults;
use crate::plan::{FaultPlan, Heal, LockPlan, Persist, Service, Target};

/// Refuses what does not fit.
pub(super) fn fits(
    reading: &mut Reading,
    root: &Section<'_>,
    (all, lock): (&[FaultPlan], Option<&LockPlan>),
) {
    let Some((lock, keeper)) = lock.and_then(|lock| Some((lock, registry::keeper(&lock.backend)?)))
    else {
        return;
    };
    if lock.persist == Persist::Everysec {
        let at = root.place_in(reading, "lock", "persist");
        let message = format!("the lock `{}` keeps all that it has answered", lock.backend);
        reading.hinted(&at, message, "say `persist = \"always\"`");
    }
    let sections = root.named(reading, "fault");
    for fault in all {
        let Some((message, hint)) = misfit(fault, (lock, keeper)) else {
            continue;
        };
        let found = sections.iter().find(|(name, _)| name.value == fault.name);
        let at = found.map_or_else(|| root.at.clone(), |(_, section)| section.place("kind"));
        reading.hinted(&at, message, hint);
    }
}

/// What is wrong with a fault, and what would not be.
fn misfit(
    fault: &FaultPlan,
    (lock, keeper): (&LockPlan, Keeper),
) -> Option<(String, &'static str)> {
    let kind = faults::find(&fault.kind)?;
    let (fault_kind, backend) = (&fault.kind, &lock.backend);
    if kind.harm().is_some_and(|harm| harm.chooses()) {
        let message = format!("no request of the lock `{backend}` can be told from others");
        return Some((message, "`cut-requests` and `cut-replies` take them all"));
    }
    if let Some(kept_ms) = kept_ms(lock, keeper)
        && let Some(Heal::For(lasts_ms)) = fault.heal
        && (lock.lease_ms..kept_ms).contains(&lasts_ms)
    {
        let message = format!(
            "the lock `{backend}` may keep a lease of {} ms for up to {kept_ms} ms: a fault of {lasts_ms} ms can be over before it has ended",
            lock.lease_ms
        );
        return Some((
            message,
            "let it last longer: `for` in its section, or --set",
        ));
    }
    if ends_by_its_own_clock(keeper) && (is_healed_after_an_acquire(fault) || stands_still(fault)) {
        let message = format!("an acquire of the lock `{backend}` begins with a question");
        let hint =
            "while that is not answered nothing is asked for; `partition` and `pause` play on it";
        return Some((message, hint));
    }
    if fault.target != Target::Server(Service::Lock) {
        return None;
    }
    let mut actions = kind.onset.iter().chain(kind.heal);
    if actions.any(|action| matches!(action, Action::Ask(_))) {
        let message = format!("`{fault_kind}` is a command to Redis");
        let hint = match keeper {
            Keeper::Postgres => "the lock's server is a Postgres",
            Keeper::Etcd => "the lock's server is an etcd",
            Keeper::Zookeeper => "the lock's server is a ZooKeeper",
        };
        return Some((message, hint));
    }
    if kind.moves_clock() && ends_by_its_own_clock(keeper) {
        let message = format!("the lock `{backend}` ends leases by a clock that nobody can set");
        return Some((message, "`worker-clock` moves a worker's"));
    }
    let comes_back = kind.heal.contains(&Action::StartServer);
    if comes_back && lock.persist != Persist::Always {
        let message = format!("the lock `{backend}` forgets nothing when its server is killed");
        return Some((message, "say `persist = \"always\"` in [lock]"));
    }
    (comes_back && keeper == Keeper::Zookeeper)
        .then(|| back_late(lock))
        .flatten()
}

/// What is wrong with a lease that is over before the server is back.
fn back_late(lock: &LockPlan) -> Option<(String, &'static str)> {
    let (backend, lease_ms) = (&lock.backend, lock.lease_ms);
    (lease_ms < BACK_MS).then(|| {
        let message = format!(
            "the lock `{backend}` may take {BACK_MS} ms to be back, and a lease of {lease_ms} ms is over by then"
        );
        (message, "let the lease last longer: [lock] `lease`, or --set")
    })
}

/// Longest time that a ZooKeeper takes to start on a busy machine, ms; 1.4 s on an idle one.
const BACK_MS: u64 = 10_000;

/// Leases end by a clock of its own, and an acquire begins with a question.
const fn ends_by_its_own_clock(keeper: Keeper) -> bool {
    matches!(keeper, Keeper::Etcd | Keeper::Zookeeper)
}

/// How long a lease that nobody renews may be kept, where that is longer than its holder asked for.
/// An etcd counts whole seconds, and looks for those that have ended twice a second; a ZooKeeper
/// looks once a tick, which here is short.
fn kept_ms(lock: &LockPlan, keeper: Keeper) -> Option<u64> {
    const LATE_MS: u64 = 1_000;
    const TICKS_MS: u64 = 200;
    match keeper {
        Keeper::Postgres => None,
        Keeper::Etcd => Some(lock.lease_ms.div_ceil(1_000) * 1_000 + LATE_MS),
        Keeper::Zookeeper => Some(lock.lease_ms + TICKS_MS),
    }
}

/// The lock's server takes requests and executes them later: until then it answers nobody.
pub(super) fn stands_still(fault: &FaultPlan) -> bool {
    fault.kind == faults::stop_server::KIND.name && fault.target == Target::Server(Service::Lock)
}

/// It lasts for as long as an acquire waits for its answer.
fn is_healed_after_an_acquire(fault: &FaultPlan) -> bool {
    let Some(Heal::After(event)) = &fault.heal else {
        return false;
    };
    event.contains(".acquire.") && event.ends_with(".after")
}

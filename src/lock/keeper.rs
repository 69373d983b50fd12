//! One timer for all grants of a manager: it says Lost at each deadline and starts each renewal
//! when it is due. A renewal runs on a task of its own, so that a stuck one holds up no deadline.
//!
//! A lock that is taken and given back in time costs one entry in a map and no task. There is one
//! timetable a runtime, because a timer only runs where its runtime does; its task ends when the
//! timetable is empty.

use crate::lock::commands::Renewal;
use crate::lock::holding::{Holding, Phase};
use crate::lock::lease;
use crate::lock::probe::Command;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::runtime::Id;
use tokio::sync::Notify;
use tokio::time::sleep;

/// Longest sleep. Timers do not run while the machine is suspended but leases do: after a resume
/// the loss is told at most this late (a question to the handle sees it at once).
const NAP_MAX: Duration = Duration::from_secs(1);

/// The timetables of a manager, one a runtime: a few at most, and nearly always one.
#[derive(Default)]
pub(super) struct Keeper(Mutex<Tables>);

#[derive(Default)]
struct Tables(Vec<(Id, Timetable)>);

impl Tables {
    fn get_mut(&mut self, id: Id) -> Option<&mut Timetable> {
        let mut tables = self.0.iter_mut();
        tables.find_map(|(of, table)| (*of == id).then_some(table))
    }

    fn remove(&mut self, id: Id) {
        self.0.retain(|(of, _)| *of != id);
    }
}

/// When to look after which grant: by time in ns on the manager's clock, then by address.
#[derive(Default)]
struct Timetable {
    due: BTreeMap<(u64, usize), Weak<Holding>>,
    /// The task looks again by then; 0: it is awake.
    asleep_until_ns: u64,
    sooner: Arc<Notify>,
}

/// What the task does next.
enum Next {
    /// Look after these, then ask again.
    LookAfter(Vec<Arc<Holding>>),
    /// Sleep, unless something becomes due sooner.
    Sleep(Duration, Arc<Notify>),
    /// Nothing is left.
    End,
}

impl Keeper {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a grant, or moves its entry, to what it needs next; nothing once it has ended.
    pub(super) fn schedule(self: &Arc<Self>, holding: &Arc<Holding>) {
        let mut state = holding.state();
        self.forget(holding, state.due_ns);
        if state.phase != Phase::Held || holding.ended.is_told() {
            return;
        }
        let renewal_ns = state.next_renewal_ns.unwrap_or(u64::MAX);
        state.due_ns = holding.told_by_ns(&state).min(renewal_ns);
        let id = holding.runtime.id();
        let mut tables = self.tables();
        let is_new = tables.get_mut(id).is_none();
        if is_new {
            tables.0.push((id, Timetable::default()));
        }
        if let Some(table) = tables.get_mut(id) {
            let entry = (state.due_ns, address(holding));
            table.due.insert(entry, Arc::downgrade(holding));
            if state.due_ns < table.asleep_until_ns {
                table.sooner.notify_one();
            }
        }
        // Spawning on a runtime that is shutting down drops the task, which takes these locks.
        drop((tables, state));
        if is_new {
            let task = keep(
                Keeping {
                    keeper: Arc::clone(self),
                    id,
                    idle: false,
                    ended: false,
                },
                Arc::clone(&holding.context.clock),
            );
            holding.runtime.spawn(task);
        }
    }

    /// Takes a grant's entry away.
    pub(super) fn forget(&self, holding: &Holding, due_ns: u64) {
        if let Some(table) = self.tables().get_mut(holding.runtime.id()) {
            table.due.remove(&(due_ns, address(holding)));
        }
    }

    fn next(&self, keeping: &mut Keeping, now_ns: u64) -> Next {
        let mut tables = self.tables();
        let Some(table) = tables.get_mut(keeping.id) else {
            keeping.ended = true;
            return Next::End;
        };
        let later = table.due.split_off(&(now_ns + 1, 0));
        let due = std::mem::replace(&mut table.due, later);
        table.asleep_until_ns = 0;
        if !due.is_empty() {
            return Next::LookAfter(due.values().filter_map(Weak::upgrade).collect());
        }
        let nap = match table.due.first_key_value() {
            Some(((first_ns, _), _)) => Duration::from_nanos(first_ns - now_ns).min(NAP_MAX),
            // Locks that are taken and given back in turn leave it empty in between: it stays for
            // one more nap, or each of them would start a task.
            None if !keeping.idle => NAP_MAX,
            None => {
                tables.remove(keeping.id);
                keeping.ended = true;
                return Next::End;
            }
        };
        keeping.idle = table.due.is_empty();
        table.asleep_until_ns = now_ns + u64::try_from(nap.as_nanos()).unwrap_or(u64::MAX);
        Next::Sleep(nap, Arc::clone(&table.sooner))
    }
}

/// A place in memory is a name, for as long as somebody points to it.
fn address(holding: &Holding) -> usize {
    std::ptr::from_ref(holding).addr()
}

/// The task's claim on its timetable; given up even if the runtime drops the task.
struct Keeping {
    keeper: Arc<Keeper>,
    id: Id,
    /// Found nothing to do at its last look.
    idle: bool,
    ended: bool,
}

impl Drop for Keeping {
    fn drop(&mut self) {
        if !self.ended {
            self.keeper.tables().remove(self.id);
        }
    }
}

async fn keep(mut keeping: Keeping, clock: Arc<dyn crate::clock::Clock>) {
    let keeper = Arc::clone(&keeping.keeper);
    loop {
        match keeper.next(&mut keeping, clock.now_ns()) {
            Next::LookAfter(due) => {
                for holding in due {
                    look_after(&keeper, &holding);
                }
            }
            Next::Sleep(nap, sooner) => {
                tokio::select! {
                    () = sleep(nap) => {}
                    () = sooner.notified() => {}
                }
            }
            Next::End => return,
        }
    }
}

fn look_after(keeper: &Arc<Keeper>, holding: &Arc<Holding>) {
    if holding.expire_if_due() {
        return;
    }
    let now_ns = holding.now_ns();
    let renews = {
        let mut state = holding.state();
        // Taken out while the renewal is on its way.
        state
            .next_renewal_ns
            .take_if(|due_ns| *due_ns <= now_ns)
            .is_some()
    };
    if renews {
        let renewing = renew(Arc::clone(keeper), Arc::clone(holding));
        holding.runtime.spawn(renewing);
    }
    keeper.schedule(holding);
}

/// One renewal, and when to come again.
async fn renew(keeper: Arc<Keeper>, holding: Arc<Holding>) {
    let renewal = tokio::select! {
        biased;
        () = holding.ended.token().cancelled() => return,
        renewal = holding.renew(Command::AutoRenew) => renewal,
    };
    let Some(interval) = holding.options.renewal_interval() else {
        return;
    };
    let pause = match renewal {
        Renewal::Renewed => lease::renewal_pause(interval, lease::jitter()),
        Renewal::Unknown(_) => lease::retry_pause(interval, lease::jitter()),
        Renewal::Lost(_) => return,
    };
    holding.renew_after(pause);
    keeper.schedule(&holding);
}

#[cfg(test)]
mod tests {
    use crate::lock::backends::{ConnectSpec, memory};
    use crate::lock::{Acquired, LockHandle, LockManager, LockOptions, ManagerOptions};
    use std::time::Duration;
    use tokio::runtime::Runtime;

    async fn manager(address: &str) -> LockManager {
        let service = (memory::KIND.connect)(ConnectSpec::new(address)).await;
        LockManager::new(service.unwrap(), ManagerOptions::new("test", ""))
    }

    async fn acquire(locks: &LockManager, key: &str, lease: Duration) -> LockHandle {
        let options = LockOptions::new(lease, Some(lease / 5)).unwrap();
        match locks.acquire(key, &options).await {
            Ok(Acquired::Granted(lock)) => lock,
            other => panic!("not granted: {other:?}"),
        }
    }

    #[tokio::test]
    async fn what_is_given_back_or_dropped_leaves_no_entry() {
        let locks = manager("keeper-entries").await;
        for n in 0..100 {
            let lock = acquire(&locks, "k", Duration::from_secs(20)).await;
            let entries = |locks: &LockManager| {
                let tables = locks.context.keeper.tables();
                tables
                    .0
                    .iter()
                    .map(|(_, table)| table.due.len())
                    .sum::<usize>()
            };
            assert_eq!(entries(&locks), 1);
            if n % 2 == 0 {
                lock.release().await;
                assert_eq!(entries(&locks), 0, "released");
            } else {
                drop(lock);
                assert_eq!(entries(&locks), 0, "dropped");
                // Given back in the background.
                while locks.remaining("k").await != Ok(None) {
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    #[test]
    fn the_end_of_one_runtime_does_not_stop_the_renewals_of_another() {
        let (first, second) = (Runtime::new().unwrap(), Runtime::new().unwrap());
        let locks = second.block_on(manager("keeper-runtimes"));
        let lease = Duration::from_secs(2);
        let _ended = first.block_on(acquire(&locks, "a", lease));
        let lock = second.block_on(acquire(&locks, "b", lease));
        drop(first);
        second.block_on(async { tokio::time::sleep(2 * lease).await });
        assert!(lock.is_locked(), "renewed beyond its first lease");
        let third = Runtime::new().unwrap();
        let again = third.block_on(acquire(&locks, "c", lease));
        third.block_on(async { tokio::time::sleep(2 * lease).await });
        assert!(again.is_locked() && lock.is_locked());
    }
}

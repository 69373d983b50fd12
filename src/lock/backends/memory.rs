//! Locks within one process: for tests, simulation and as the plainest reading of the contract.
//! Two connections to the same address share their locks. Follows tokio's clock, so that a test
//! may pause it.

use crate::ids::{FencingToken, OwnerToken};
use crate::lock::backends::{
    Armed, ConnectSpec, Connecting, IN_TURN, LockKind, Servers, check_flaw,
};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::service::{
    AcquireAnswer, Ask, Capabilities, LockName, LockService, Promise, ReleaseAnswer, RenewAnswer,
    Wake,
};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Its entry in the registry.
pub const KIND: LockKind = LockKind {
    name: "memory",
    summary: "locks within one process, for tests and simulation",
    capabilities: Capabilities {
        fencing: Promise::Guaranteed,
        exclusion: Promise::Guaranteed,
        fair: IN_TURN,
        wakes: true,
    },
    servers: Servers::None,
    within_one_process: true,
    flaws: &[Flaw::BlindRelease, Flaw::BlindRenew, Flaw::RenewRecreates],
    on_the_wire: |_, _| Vec::new(),
    connect,
};

fn connect(spec: ConnectSpec) -> Connecting {
    Box::pin(async move {
        check_flaw(&KIND, spec.flaw)?;
        let service: Arc<dyn LockService> = Arc::new(Memory {
            space: Space::at(&spec.address),
            flaw: spec.flaw,
            armed: spec.armed,
        });
        Ok(service)
    })
}

struct Memory {
    space: Arc<Space>,
    flaw: Option<Flaw>,
    armed: Option<Armed>,
}

#[derive(Default)]
struct Space(Mutex<Locks>);

#[derive(Default)]
struct Locks {
    held: HashMap<LockName, Held>,
    fences: HashMap<LockName, u64>,
    waiting: HashMap<LockName, Weak<Notify>>,
}

struct Held {
    owner: OwnerToken,
    fencing: FencingToken,
    until: Instant,
}

static SPACES: LazyLock<Mutex<HashMap<String, Weak<Space>>>> = LazyLock::new(Mutex::default);

impl Space {
    fn at(address: &str) -> Arc<Space> {
        let mut spaces = SPACES.lock().unwrap_or_else(PoisonError::into_inner);
        spaces.retain(|_, space| space.strong_count() > 0);
        if let Some(space) = spaces.get(address).and_then(Weak::upgrade) {
            return space;
        }
        let space = Arc::new(Space::default());
        spaces.insert(address.to_owned(), Arc::downgrade(&space));
        space
    }

    fn locks(&self) -> MutexGuard<'_, Locks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Locks {
    /// Who holds it now; a lease that has ended is as good as none.
    fn held(&mut self, name: &LockName) -> Option<&mut Held> {
        if self
            .held
            .get(name)
            .is_some_and(|held| held.until <= Instant::now())
        {
            self.held.remove(name);
        }
        self.held.get_mut(name)
    }

    fn grant(&mut self, ask: &Ask<'_>, fencing: FencingToken) {
        let held = Held {
            owner: ask.owner.clone(),
            fencing,
            until: Instant::now() + ask.lease,
        };
        self.held.insert(ask.name.clone(), held);
    }
}

#[async_trait]
impl LockService for Memory {
    fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }

    async fn acquire(&self, ask: &Ask<'_>) -> Result<AcquireAnswer, CommandError> {
        if let Some(Armed(armed)) = &self.armed {
            armed();
        }
        let mut locks = self.space.locks();
        let lease = ask.lease;
        if let Some(held) = locks.held(ask.name) {
            if held.owner != *ask.owner {
                let remaining = Some(held.until.saturating_duration_since(Instant::now()));
                return Ok(AcquireAnswer::Busy { remaining });
            }
            let fencing = Some(held.fencing);
            return Ok(AcquireAnswer::Granted { fencing, lease });
        }
        let counter = locks.fences.entry(ask.name.clone()).or_default();
        *counter += 1;
        let fencing = FencingToken(*counter);
        locks.grant(ask, fencing);
        let fencing = Some(fencing);
        Ok(AcquireAnswer::Granted { fencing, lease })
    }

    async fn renew(&self, ask: &Ask<'_>) -> Result<RenewAnswer, CommandError> {
        let mut locks = self.space.locks();
        let lease = ask.lease;
        let Some(held) = locks.held(ask.name) else {
            if self.flaw == Some(Flaw::RenewRecreates) {
                locks.grant(ask, ask.fencing.unwrap_or(FencingToken(0)));
                return Ok(RenewAnswer::Renewed { lease });
            }
            return Ok(RenewAnswer::Absent);
        };
        if held.owner != *ask.owner && self.flaw != Some(Flaw::BlindRenew) {
            return Ok(RenewAnswer::Foreign);
        }
        held.until = Instant::now() + lease;
        Ok(RenewAnswer::Renewed { lease })
    }

    async fn release(&self, ask: &Ask<'_>) -> Result<ReleaseAnswer, CommandError> {
        let mut locks = self.space.locks();
        match locks.held(ask.name) {
            Some(held) if held.owner == *ask.owner || self.flaw == Some(Flaw::BlindRelease) => {}
            Some(_) | None => return Ok(ReleaseAnswer::NotOurs),
        }
        locks.held.remove(ask.name);
        if let Some(waiting) = locks.waiting.get(ask.name).and_then(Weak::upgrade) {
            waiting.notify_one();
        }
        Ok(ReleaseAnswer::Released)
    }

    async fn remaining(
        &self,
        name: &LockName,
        _until: Instant,
    ) -> Result<Option<Duration>, CommandError> {
        let mut locks = self.space.locks();
        let held = locks.held(name);
        Ok(held.map(|held| held.until.saturating_duration_since(Instant::now())))
    }

    fn watch(&self, name: &LockName) -> Box<dyn Wake> {
        let mut locks = self.space.locks();
        locks
            .waiting
            .retain(|_, waiting| waiting.strong_count() > 0);
        let waiting = locks
            .waiting
            .get(name)
            .and_then(Weak::upgrade)
            .unwrap_or_default();
        locks.waiting.insert(name.clone(), Arc::downgrade(&waiting));
        Box::new(Ear(waiting))
    }
}

struct Ear(Arc<Notify>);

#[async_trait]
impl Wake for Ear {
    fn listening(&self) -> bool {
        true
    }

    async fn woken(&mut self) {
        self.0.notified().await;
    }
}

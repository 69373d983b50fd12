//! Locks in an etcd (3.4 or later), by the JSON gateway of its members: one key a lock, under a
//! lease of each grant's own, made in one transaction that finds none there.
//!
//! The lease is asked for first, and the key is put under it by the transaction that decides: a
//! grant is never told from a wait, only from that transaction, so that there is no key of one's own
//! to look after once more. A renewal keeps the lease alive and then says the key again, if it is
//! still its owner's: that alone shows that a majority is there, and shows it to whoever watches.
//!
//! The server counts leases in whole seconds and keeps none that is shorter
//! than one and a half times its election timeout. A lease is rounded up to what it takes; the
//! holder believes in no more than it asked for. Others may wait so much longer.

use crate::etcd_link::Link;
use crate::ids::FencingToken;
use crate::lock::backends::etcd_ear::ear;
use crate::lock::backends::etcd_steps::{Etcd, believed};
use crate::lock::backends::etcd_words::{self as words, Key};
use crate::lock::backends::{
    Armed, ConnectSpec, Connecting, IN_TURN, LockKind, Servers, check_flaw, fencing_token, nonsense,
};
use crate::lock::error::{CommandError, LockError};
use crate::lock::flaws::Flaw;
use crate::lock::service::{
    AcquireAnswer, Ask, Capabilities, LockName, LockService, Promise, ReleaseAnswer, RenewAnswer,
    Wake,
};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Longest time to connect in the first place.
const CONNECT_BUDGET: Duration = Duration::from_secs(2);

/// Its entry in the registry.
pub const KIND: LockKind = LockKind {
    name: "etcd",
    summary: "an etcd, one key and one lease a grant, the revision of its making as fencing token",
    capabilities: Capabilities {
        // A revision is agreed on by a majority, and a minority grants nothing.
        fencing: Promise::Guaranteed,
        exclusion: Promise::BestEffort(
            "for as long as a majority keeps its data; leases end by the monotonic clock of the leader, and each new leader begins them anew",
        ),
        fair: IN_TURN,
        wakes: true,
    },
    servers: Servers::Etcd,
    within_one_process: false,
    flaws: &[Flaw::BlindRelease, Flaw::BlindRenew, Flaw::RenewRecreates],
    on_the_wire: |_, _| Vec::new(),
    connect,
};

fn connect(spec: ConnectSpec) -> Connecting {
    Box::pin(async move {
        check_flaw(&KIND, spec.flaw)?;
        let link = Link::new(&spec.address)?;
        let until = Instant::now() + CONNECT_BUDGET;
        let answered = link.call(words::STATUS, &words::nothing(), until).await;
        let answered = answered.map_err(CommandError::from);
        answered.map_err(|why| LockError::Failed(why.to_string()))?;
        let service: Arc<dyn LockService> = Arc::new(Etcd {
            link: Arc::new(link),
            flaw: spec.flaw,
            armed: spec.armed,
        });
        Ok(service)
    })
}

#[async_trait]
impl LockService for Etcd {
    fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }

    async fn acquire(&self, ask: &Ask<'_>) -> Result<AcquireAnswer, CommandError> {
        let key = Key::of(ask.name);
        let busy = AcquireAnswer::Busy { remaining: None };
        // Looks first: who waits writes nothing.
        match self.found(&key, ask.until).await? {
            Some(found) if found.owner == *ask.owner => {
                return Ok(AcquireAnswer::Granted {
                    fencing: Some(fencing_token(found.made)?),
                    lease: ask.lease,
                });
            }
            Some(_) => return Ok(busy),
            None => {}
        }
        let lease = self.leased(ask).await?;
        if let Some(Armed(armed)) = &self.armed {
            armed();
        }
        match self.taken(ask, &key).await? {
            Ok(made) => Ok(AcquireAnswer::Granted {
                fencing: Some(fencing_token(made)?),
                lease,
            }),
            Err(_) => {
                self.revoke(ask).await;
                Ok(busy)
            }
        }
    }

    async fn renew(&self, ask: &Ask<'_>) -> Result<RenewAnswer, CommandError> {
        let key = Key::of(ask.name);
        let lease = self.lease_to_keep(ask, &key).await?;
        // It is ours alone: nobody else's is extended, whatever is found then.
        let keep = words::one(lease);
        let kept = self.call(words::LEASE_KEEP, &keep, ask.until).await?;
        let result = kept.get("result").ok_or_else(nonsense)?;
        // A lease that has ended has no time left; it is not made again.
        let seconds = words::number(result, "/TTL").ok_or_else(nonsense)?;
        let said = match self.flaw {
            Some(Flaw::BlindRenew) => words::say_anybodys_again(&key),
            Some(_) | None => words::say_again(&key, ask.owner, ask.fencing),
        };
        let answer = self.call(words::TXN, &said, ask.until).await?;
        if words::succeeded(&answer) && seconds > 0 {
            let lease = believed(ask, seconds);
            return Ok(RenewAnswer::Renewed { lease });
        }
        match words::found(&answer) {
            Some(found) if found.owner != *ask.owner => Ok(RenewAnswer::Foreign),
            Some(_) | None if self.flaw == Some(Flaw::RenewRecreates) => {
                self.recreated(ask, &key).await
            }
            Some(_) | None => Ok(RenewAnswer::Absent),
        }
    }

    async fn release(&self, ask: &Ask<'_>) -> Result<ReleaseAnswer, CommandError> {
        let key = Key::of(ask.name);
        let give_back = match self.flaw {
            Some(Flaw::BlindRelease) => words::give_back_blindly(&key),
            Some(_) | None => words::give_back(&key, ask.owner, ask.fencing),
        };
        let answer = self.call(words::TXN, &give_back, ask.until).await?;
        self.revoke(ask).await;
        Ok(if words::succeeded(&answer) {
            ReleaseAnswer::Released
        } else {
            ReleaseAnswer::NotOurs
        })
    }

    async fn remaining(
        &self,
        name: &LockName,
        until: Instant,
    ) -> Result<Option<Duration>, CommandError> {
        let found = self.found(&Key::of(name), until).await?;
        let Some(found) = found.filter(|found| found.lease != 0) else {
            return Ok(None);
        };
        let lease = words::one(found.lease);
        let left = self.call(words::LEASE_LEFT, &lease, until).await?;
        let seconds = words::number(&left, "/TTL").ok_or_else(nonsense)?;
        // Less than none: it has ended, and its key goes with it.
        Ok(u64::try_from(seconds).ok().map(Duration::from_secs))
    }

    async fn draw(&self, name: &LockName, until: Instant) -> Result<FencingToken, CommandError> {
        // Whatever is put has a higher revision than whatever was put before; it does not stay.
        let grant = words::grant(0, 1);
        let granted = self.call(words::LEASE_GRANT, &grant, until).await?;
        let lease = words::number(&granted, "/ID").ok_or_else(nonsense)?;
        let put = words::queue(&Key::of(name).waiter(lease), lease);
        let put = self.call(words::TXN, &put, until).await;
        let revoke = words::one(lease);
        let _ = self.link.call(words::LEASE_REVOKE, &revoke, until).await;
        fencing_token(words::revision(&put?).ok_or_else(nonsense)?)
    }

    fn watch(&self, name: &LockName) -> Box<dyn Wake> {
        Box::new(ear(Arc::clone(&self.link), Key::of(name)))
    }
}

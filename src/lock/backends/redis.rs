//! Locks on one Redis server (7.0 or later): one script an operation.
//!
//! Keys, all in one hash slot: `<prefix>{<key>}` is the lock and holds `<owner>:<fencing token>`,
//! so that the replication stream alone tells who was granted what; `…:fence` is the counter and
//! has no lease, or tokens would repeat; `…:wake` is the wake-up list and always has one.
//!
//! Waiting costs a connection each: the server blocks it (`BLPOP`) and wakes the longest waiter.

use crate::ids::FencingToken;
use crate::lock::backends::redis_ear::Ear;
use crate::lock::backends::redis_scripts::{
    Keys, Scripts, Text, fencing_token, milliseconds, needs_two, nonsense,
};
use crate::lock::backends::{Armed, ConnectSpec, Connecting, LockKind, check_flaw};
use crate::lock::error::{CommandError, LockError};
use crate::lock::flaws::Flaw;
use crate::lock::service::{
    AcquireAnswer, Ask, Capabilities, LockName, LockService, Promise, ReleaseAnswer, RenewAnswer,
    Wake,
};
use crate::redis_link::{Link, NoAnswer};
use async_trait::async_trait;
use redis::{ServerErrorKind, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Its entry in the registry.
pub const KIND: LockKind = LockKind {
    name: "redis",
    summary: "one Redis server, one script an operation",
    capabilities: Capabilities {
        fencing: Promise::BestEffort(
            "rises for as long as the server keeps its data; a flush, an eviction, a restart without persistence or a failover can set the counter back",
        ),
        exclusion: Promise::BestEffort(
            "for as long as the server keeps its data and its wall clock does not jump",
        ),
        fair: Promise::BestEffort(
            "waiters are woken in the order of their arrival; a newcomer may overtake",
        ),
        wakes: true,
    },
    within_one_process: false,
    flaws: &[
        Flaw::BlindRelease,
        Flaw::BlindRenew,
        Flaw::RenewRecreates,
        Flaw::SetThenPexpire,
        Flaw::FenceAfterSet,
        Flaw::DeadlineFromReply,
        Flaw::TimeoutMeansBusy,
        Flaw::IgnoresRenewalFailure,
        Flaw::EvalshaOnly,
        Flaw::FailsOpen,
        Flaw::HotPoll,
        Flaw::WallClockDeadline,
    ],
    on_the_wire: |flaw, command| Scripts::new(flaw).marks(command),
    connect,
};

/// Longest time to connect in the first place.
const CONNECT_BUDGET: Duration = Duration::from_secs(2);

fn connect(spec: ConnectSpec) -> Connecting {
    Box::pin(async move {
        check_flaw(&KIND, spec.flaw)?;
        let redis = Redis {
            link: Arc::new(Link::new(&spec.address)?),
            scripts: Scripts::new(spec.flaw),
            flaw: spec.flaw,
            armed: spec.armed,
        };
        let prepared = redis.prepare(Instant::now() + CONNECT_BUDGET).await;
        prepared.map_err(|error| LockError::Failed(error.to_string()))?;
        Ok(Arc::new(redis) as Arc<dyn LockService>)
    })
}

pub(super) struct Redis {
    pub(super) link: Arc<Link>,
    scripts: Scripts,
    flaw: Option<Flaw>,
    armed: Option<Armed>,
}

impl Redis {
    /// The next command is the last of an acquire.
    pub(super) fn arm(&self) {
        if let Some(Armed(armed)) = &self.armed {
            armed();
        }
    }

    /// Connects and makes the scripts known, so that the first lock costs what every lock costs.
    async fn prepare(&self, until: Instant) -> Result<(), CommandError> {
        for script in self.scripts.all() {
            let mut load = redis::cmd("SCRIPT");
            load.arg("LOAD").arg(&script.code);
            self.link.call(&load, until).await?;
        }
        Ok(())
    }

    /// Runs a script by its hash; a server that has forgotten it (restart, flush, failover) is
    /// sent the text. `NOSCRIPT` is a definite answer, so that nothing runs twice.
    async fn run(
        &self,
        script: &Text,
        (keys, args): (&[&str], &[&str]),
        until: Instant,
    ) -> Result<Value, CommandError> {
        let by_hash = script.by_hash(keys, args);
        match self.link.call(&by_hash, until).await {
            Err(NoAnswer::Refused(Some(ServerErrorKind::NoScript), _))
                if self.flaw != Some(Flaw::EvalshaOnly) =>
            {
                let by_text = script.by_text(keys, args);
                Ok(Box::pin(self.link.call(&by_text, until)).await?)
            }
            answer => Ok(answer?),
        }
    }
}

#[async_trait]
impl LockService for Redis {
    fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }

    async fn acquire(&self, ask: &Ask<'_>) -> Result<AcquireAnswer, CommandError> {
        let keys = Keys::of(ask.name);
        let lease_ms = ask.lease_ms().to_string();
        let names = [keys.lock(), keys.fence(), keys.wake()];
        let args = [ask.owner.expose(), &lease_ms];
        if !self.flaw.is_some_and(needs_two) {
            self.arm();
        }
        let answer = self
            .run(&self.scripts.acquire, (&names, &args), ask.until)
            .await?;
        match answer {
            Value::Array(fields) => match fields.as_slice() {
                [Value::Int(1), minted @ ..] => {
                    let fencing = minted.first().map_or(Ok(None), fencing_token)?;
                    let fencing = match self.flaw {
                        Some(flaw) => {
                            Box::pin(self.second_command(flaw, &keys, ask, fencing)).await?
                        }
                        None => fencing,
                    };
                    let lease = ask.lease;
                    Ok(AcquireAnswer::Granted { fencing, lease })
                }
                [Value::Int(0), Value::Int(left)] => Ok(AcquireAnswer::Busy {
                    remaining: milliseconds(*left),
                }),
                _ => Err(nonsense()),
            },
            _ => Err(nonsense()),
        }
    }

    async fn renew(&self, ask: &Ask<'_>) -> Result<RenewAnswer, CommandError> {
        let keys = Keys::of(ask.name);
        let lease_ms = ask.lease_ms().to_string();
        let fencing = ask
            .fencing
            .map_or_else(String::new, |token| token.to_string());
        let args = [ask.owner.expose(), &lease_ms, &fencing];
        let answer = self
            .run(&self.scripts.renew, (&[keys.lock()], &args), ask.until)
            .await?;
        match answer {
            Value::Int(1) => Ok(RenewAnswer::Renewed { lease: ask.lease }),
            Value::Int(0) => Ok(RenewAnswer::Absent),
            Value::Int(-1) => Ok(RenewAnswer::Foreign),
            _ => Err(nonsense()),
        }
    }

    async fn release(&self, ask: &Ask<'_>) -> Result<ReleaseAnswer, CommandError> {
        let keys = Keys::of(ask.name);
        let wake_ms = ask.lease_ms().to_string();
        let names = [keys.lock(), keys.wake()];
        let args = [ask.owner.expose(), &wake_ms];
        match self
            .run(&self.scripts.release, (&names, &args), ask.until)
            .await?
        {
            Value::Int(1) => Ok(ReleaseAnswer::Released),
            Value::Int(0) => Ok(ReleaseAnswer::NotOurs),
            _ => Err(nonsense()),
        }
    }

    async fn remaining(
        &self,
        name: &LockName,
        until: Instant,
    ) -> Result<Option<Duration>, CommandError> {
        let mut pttl = redis::cmd("PTTL");
        pttl.arg(Keys::of(name).lock());
        match self.link.call(&pttl, until).await? {
            Value::Int(left) => Ok(milliseconds(left)),
            _ => Err(nonsense()),
        }
    }

    async fn draw(&self, name: &LockName, until: Instant) -> Result<FencingToken, CommandError> {
        let mut incr = redis::cmd("INCR");
        incr.arg(Keys::of(name).fence());
        let drawn = self.link.call(&incr, until).await?;
        fencing_token(&drawn)?.ok_or_else(nonsense)
    }

    fn watch(&self, name: &LockName) -> Box<dyn Wake> {
        Box::new(Ear::new(
            Arc::clone(&self.link),
            Keys::of(name).wake().to_owned(),
        ))
    }
}

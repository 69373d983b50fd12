//! The lock on Redis, on whichever node it lives: one script an operation, and where the server has
//! it, one plain command a renewal (`redis_renewal.rs`).
//!
//! Keys, all in one hash slot: `<prefix>{<key>}` is the lock and holds `<owner>:<fencing token>`,
//! so that the replication stream alone tells who was granted what; `…:fence` is the counter and
//! has no lease, or tokens would repeat; `…:wake` is the wake-up list and always has one.
//!
//! Waiting costs a connection each: the server blocks it (`BLPOP`) and wakes the longest waiter.

use crate::ids::FencingToken;
use crate::lock::backends::redis_ear::Ear;
use crate::lock::backends::redis_found::Seeker;
use crate::lock::backends::redis_route::{Call, Route, What};
use crate::lock::backends::redis_scripts::{
    Keys, Scripts, Text, milliseconds, needs_two, token_of,
};
use crate::lock::backends::{Armed, ConnectSpec, LockKind, check_flaw, nonsense};
use crate::lock::error::{CommandError, LockError};
use crate::lock::flaws::Flaw;
use crate::lock::service::{
    AcquireAnswer, Ask, LockName, LockService, ReleaseAnswer, RenewAnswer, Wake,
};
use crate::redis_link::{Link, NoAnswer};
use async_trait::async_trait;
use redis::{Cmd, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Longest time to connect in the first place.
const CONNECT_BUDGET: Duration = Duration::from_secs(2);

pub(super) struct Redis {
    pub(super) route: Route,
    scripts: Scripts,
    pub(super) flaw: Option<Flaw>,
    armed: Option<Armed>,
}

impl Redis {
    fn new(route: Route, spec: ConnectSpec) -> Redis {
        Redis {
            route,
            scripts: Scripts::new(spec.flaw),
            flaw: spec.flaw,
            armed: spec.armed,
        }
    }

    /// On one server: it is connected, so that a wrong address shows.
    pub(super) async fn on_server(
        link: Link,
        spec: ConnectSpec,
    ) -> Result<Arc<dyn LockService>, LockError> {
        let link = Arc::new(link);
        let redis = Redis::new(Route::Server(Arc::clone(&link)), spec);
        let until = Instant::now() + CONNECT_BUDGET;
        for load in redis.loads() {
            link.call(&load, until).await.map_err(failed)?;
        }
        let live = link.live(until).await.map_err(failed)?;
        redis.learn(&live, until).await;
        Ok(Arc::new(redis))
    }

    /// Where the node has to be looked for: it is found once, so that a wrong address shows.
    pub(super) async fn found(
        kind: &'static LockKind,
        seeker: Seeker,
        spec: ConnectSpec,
    ) -> Result<Arc<dyn LockService>, LockError> {
        check_flaw(kind, spec.flaw)?;
        let seeker = Arc::new(seeker);
        let redis = Redis::new(Route::Found(Arc::clone(&seeker)), spec);
        let until = Instant::now() + CONNECT_BUDGET;
        for node in seeker.all(until).await.map_err(failed)? {
            for load in redis.loads() {
                node.live.call(&load, until).await.map_err(failed)?;
            }
            redis.learn(&node.live, until).await;
        }
        Ok(Arc::new(redis))
    }

    /// The next command is the last of an acquire.
    pub(super) fn arm(&self) {
        if let Some(Armed(armed)) = &self.armed {
            armed();
        }
    }

    /// Make the scripts known, so that the first lock costs what every lock costs.
    fn loads(&self) -> [Cmd; 3] {
        self.scripts.all().map(|script| {
            let mut load = redis::cmd("SCRIPT");
            load.arg("LOAD").arg(&script.code);
            load
        })
    }

    /// A plain command on a lock's key.
    pub(super) async fn plain(
        &self,
        key: &str,
        command: &Cmd,
        until: Instant,
    ) -> Result<Value, CommandError> {
        let what = What::Plain(command);
        Ok(self.route.ask(&Call { key, what }, until).await?)
    }

    /// Runs a script.
    async fn run(
        &self,
        script: &Text,
        (keys, args): (&[&str], &[&str]),
        until: Instant,
    ) -> Result<Value, CommandError> {
        let key = keys.first().copied().unwrap_or_default();
        let mints = std::ptr::eq(script, &self.scripts.acquire);
        let again = self.flaw != Some(Flaw::EvalshaOnly);
        let what = What::Script {
            script,
            keys,
            args,
            mints,
            again,
        };
        Ok(self.route.ask(&Call { key, what }, until).await?)
    }
}

fn failed(why: NoAnswer) -> LockError {
    LockError::Failed(CommandError::from(why).to_string())
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
                    let fencing = minted.first().map_or(Ok(None), token_of)?;
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
        if let Some(answer) = self.renewed_in_one(&keys, ask).await? {
            return Ok(answer);
        }
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

    async fn copies(&self, ask: &Ask<'_>, wanted: u64) -> Result<u64, CommandError> {
        self.count_copies(ask, wanted).await
    }

    async fn remaining(
        &self,
        name: &LockName,
        until: Instant,
    ) -> Result<Option<Duration>, CommandError> {
        let mut pttl = redis::cmd("PTTL");
        let keys = Keys::of(name);
        pttl.arg(keys.lock());
        match self.plain(keys.lock(), &pttl, until).await? {
            Value::Int(left) => Ok(milliseconds(left)),
            _ => Err(nonsense()),
        }
    }

    async fn draw(&self, name: &LockName, until: Instant) -> Result<FencingToken, CommandError> {
        if matches!(self.route, Route::Found(_)) {
            let why = "the counter alone is no fencing token: an epoch stands in front of it";
            return Err(CommandError::Failed(why.to_owned()));
        }
        let mut incr = redis::cmd("INCR");
        let keys = Keys::of(name);
        incr.arg(keys.fence());
        let drawn = self.plain(keys.fence(), &incr, until).await?;
        token_of(&drawn)?.ok_or_else(nonsense)
    }

    fn watch(&self, name: &LockName) -> Box<dyn Wake> {
        Box::new(Ear::new(
            self.route.clone(),
            Keys::of(name).wake().to_owned(),
        ))
    }
}

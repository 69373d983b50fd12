//! A Redis server as the store: one script an attempt, which compares, writes and logs in one step.
//!
//! It is a server of its own, never the one that keeps the locks: a lost lock server would
//! take with it what is to show the damage. A stop point holds nothing open: `racy` is a read and
//! a later, unconditional script, and no transaction spans the two.
//!
//! The log's times are the server's `TIME` inside the script, which is wall clock in whole µs; they
//! become lab time as [`wall_time`](super::wall_time) says.

use super::rule::{Mark, Ruling};
use super::wall_time::WallAhead;
use super::{
    Armed, Attempt, AttemptKind, Logged, ProtectedStore, Standing, StoreAnswer, StoreError,
    StoreKind, StoreServer, StoreSpec,
};
use crate::redis_link::{Link, NoAnswer};
use redis::{Cmd, FromRedisValue, Value};
use std::time::Duration;
use tokio::time::Instant;

mod words;

/// The registry entry.
pub const KIND: StoreKind = StoreKind {
    name: "redis",
    summary: "a Redis server of its own, never the lock's; one script an attempt",
    server: Some(StoreServer::Redis),
    create: |spec| {
        let spec = spec.clone();
        Box::pin(async move { Redis::create(spec).await.map(boxed) })
    },
    open: |spec| {
        let spec = spec.clone();
        Box::pin(async move { Redis::open(spec).await.map(boxed) })
    },
};

/// How long one command may take, connecting included.
const BUDGET: Duration = Duration::from_secs(5);

/// One process's connection to the store.
struct Redis {
    link: Link,
    spec: StoreSpec,
    birth: words::Birth,
}

fn boxed(store: Redis) -> Box<dyn ProtectedStore> {
    Box::new(store)
}

impl Redis {
    /// Marks an empty server as the store of this arm.
    async fn create(spec: StoreSpec) -> Result<Self, StoreError> {
        let birth = words::Birth {
            version: words::VERSION,
            ahead: WallAhead::now(),
        };
        let store = Redis::at(spec, birth)?;
        let keys: u64 = store.ask(&redis::cmd("DBSIZE")).await?;
        if keys > 0 {
            return Err(store.error("the server is in use; a store belongs to one arm"));
        }
        let born: Option<String> = store.ask(&words::give_birth(&birth)).await?;
        match born {
            Some(_) => Ok(store),
            None => Err(store.error("created twice; a store belongs to one arm")),
        }
    }

    async fn open(spec: StoreSpec) -> Result<Self, StoreError> {
        let unknown = words::Birth {
            version: 0,
            ahead: WallAhead::default(),
        };
        let mut store = Redis::at(spec, unknown)?;
        let found: Option<String> = store.ask(&words::read_birth()).await?;
        let found = found.ok_or_else(|| store.error("no store has been created there"))?;
        store.birth = words::birth(&found)
            .filter(|birth| birth.version == words::VERSION)
            .ok_or_else(|| {
                let expected = words::VERSION;
                store.error(format!("keys of version `{found}`, expected {expected}"))
            })?;
        Ok(store)
    }

    /// Connects to nothing yet.
    fn at(spec: StoreSpec, birth: words::Birth) -> Result<Self, StoreError> {
        let wrong = |message: String| StoreError {
            location: spec.location.clone(),
            message,
        };
        let address = spec.location.strip_prefix(words::SCHEME);
        let address =
            address.ok_or_else(|| wrong(format!("it does not start with `{}`", words::SCHEME)))?;
        let link = Link::new(address).map_err(|error| wrong(error.why))?;
        Ok(Redis { link, spec, birth })
    }

    fn error(&self, message: impl Into<String>) -> StoreError {
        StoreError {
            location: self.spec.location.clone(),
            message: message.into(),
        }
    }

    async fn call(&self, command: &Cmd) -> Result<Value, NoAnswer> {
        self.link.call(command, Instant::now() + BUDGET).await
    }

    /// A question: whether it was executed does not matter.
    async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        let answer = self.call(command).await;
        let value = answer.map_err(|none| self.error(why(none)))?;
        T::from_redis_value(value).map_err(|error| self.error(error.to_string()))
    }
}

#[async_trait::async_trait]
impl ProtectedStore for Redis {
    fn spec(&self) -> &StoreSpec {
        &self.spec
    }

    async fn mark(&mut self, resource: &str) -> Result<Mark, StoreError> {
        self.ask(&words::read_mark(resource)).await.map(words::mark)
    }

    async fn times_done(&mut self, resource: &str, job: &str) -> Result<u64, StoreError> {
        let times: Option<u64> = self.ask(&words::read_times_done(resource, job)).await?;
        Ok(times.unwrap_or(0))
    }

    async fn put(
        &mut self,
        attempt: &Attempt,
        ruled: (AttemptKind, Ruling),
        armed: Armed<'_>,
    ) -> (StoreAnswer, Option<String>) {
        let command = match words::attempt(attempt, ruled, &self.spec) {
            Ok(command) => command,
            Err(error) => return (StoreAnswer::Failed(error.to_string()), None),
        };
        armed();
        match self.call(&command).await {
            Ok(value) => words::answer(value),
            Err(NoAnswer::NotSent(why) | NoAnswer::Refused(_, why)) => {
                (StoreAnswer::Failed(why), None)
            }
            Err(NoAnswer::Unknown(why)) => (StoreAnswer::Unknown(why), None),
        }
    }

    async fn outbox(&mut self, resource: &str) -> Result<Vec<String>, StoreError> {
        self.ask(&words::read_outbox(resource)).await
    }

    async fn published(&mut self, resource: &str, jobs: &[String]) -> Result<(), StoreError> {
        for job in jobs {
            let _: u64 = self.ask(&words::take_out(resource, job)).await?;
        }
        Ok(())
    }

    async fn read(&mut self, resource: &str) -> Result<Standing, StoreError> {
        let standing = self.ask(&words::read_standing(resource)).await?;
        let jobs = self.ask(&words::read_jobs(resource)).await?;
        Ok(words::standing(standing, jobs))
    }

    async fn log(&mut self) -> Result<Vec<Logged>, StoreError> {
        let lines: Vec<String> = self.ask(&words::read_log()).await?;
        let ahead = self.birth.ahead;
        ahead.holds().map_err(|why| self.error(why))?;
        let lines = lines.iter().zip(1..);
        lines
            .map(|(line, n)| {
                let mut line = words::logged(n, line)
                    .ok_or_else(|| self.error(format!("line {n} of its log makes no sense")))?;
                line.applied_ns = ahead.lab_ns(line.applied_ns, self.spec.lab_zero_ns);
                Ok(line)
            })
            .collect()
    }
}

fn why(none: NoAnswer) -> String {
    match none {
        NoAnswer::NotSent(why) | NoAnswer::Refused(_, why) | NoAnswer::Unknown(why) => why,
    }
}

//! A Postgres server as the store: one statement an attempt, whose conditional `UPDATE` compares and
//! writes, and which logs in the same transaction.
//!
//! It is a server of its own, never the one that keeps the locks. A stop point holds nothing open:
//! `racy` is a read and a later, unconditional statement, and no transaction spans the two.
//!
//! The log's times are the server's `clock_timestamp()`, wall clock in whole µs; they become lab
//! time as [`wall_time`](super::wall_time) says.

use super::rule::{Mark, Ruling};
use super::wall_time::WallAhead;
use super::{
    Armed, Attempt, AttemptKind, Logged, Opening, ProtectedStore, Standing, StoreAnswer,
    StoreError, StoreKind, StoreServer, StoreSpec,
};
use crate::postgres_link::{Link, NoAnswer, Param};
use std::time::Duration;
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

mod words;

/// The registry entry.
pub const KIND: StoreKind = StoreKind {
    name: "postgres",
    summary: "a Postgres server of its own, never the lock's; one conditional UPDATE an attempt",
    server: Some(StoreServer::Postgres),
    create: |spec| opened(spec, true),
    open: |spec| opened(spec, false),
};

/// How long one statement may take, connecting included.
const BUDGET: Duration = Duration::from_secs(5);

/// One process's connection to the store.
struct Postgres {
    link: Link,
    spec: StoreSpec,
    ahead: WallAhead,
}

fn opened(spec: &StoreSpec, new: bool) -> Opening {
    let spec = spec.clone();
    Box::pin(async move {
        let store = match new {
            true => Postgres::create(spec).await?,
            false => Postgres::open(spec).await?,
        };
        Ok(Box::new(store) as Box<dyn ProtectedStore>)
    })
}

impl Postgres {
    /// Makes the tables; an error if they exist, because a store belongs to one arm of one run.
    async fn create(spec: StoreSpec) -> Result<Self, StoreError> {
        let store = Postgres::at(spec, WallAhead::now())?;
        let made = store.link.run(words::TABLES, Instant::now() + BUDGET);
        made.await.map_err(|none| store.error(none.why()))?;
        let ahead = i64::try_from(store.ahead.0).unwrap_or(i64::MAX);
        let born: [Param<'_>; 2] = [(&words::VERSION, Type::INT8), (&ahead, Type::INT8)];
        store.ask(words::BORN, &born).await?;
        Ok(store)
    }

    async fn open(spec: StoreSpec) -> Result<Self, StoreError> {
        let mut store = Postgres::at(spec, WallAhead::default())?;
        let there = store.ask(words::IS_THERE, &[]).await?;
        if !store.only(&there, words::flag)? {
            return Err(store.error("no store has been created there"));
        }
        let birth = store.ask(words::BIRTH, &[]).await?;
        let (version, ahead) = store.only(&birth, words::birth)?;
        if version != words::VERSION {
            let expected = words::VERSION;
            return Err(store.error(format!("tables of version {version}, expected {expected}")));
        }
        store.ahead = WallAhead(ahead);
        Ok(store)
    }

    /// Connects to nothing yet.
    fn at(spec: StoreSpec, ahead: WallAhead) -> Result<Self, StoreError> {
        let link = match spec.location.starts_with(words::SCHEME) {
            true => Link::new(&spec.location, words::GREETING).map_err(|wrong| wrong.why),
            false => Err(format!("it does not start with `{}`", words::SCHEME)),
        };
        match link {
            Ok(link) => Ok(Postgres { link, spec, ahead }),
            Err(message) => Err(StoreError {
                location: spec.location,
                message,
            }),
        }
    }

    fn error(&self, message: impl Into<String>) -> StoreError {
        StoreError {
            location: self.spec.location.clone(),
            message: message.into(),
        }
    }

    /// A question: whether it was executed does not matter.
    async fn ask(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        let answer = self.link.call(sql, params, Instant::now() + BUDGET).await;
        answer.map_err(|none| self.error(none.why()))
    }

    /// A question about one resource.
    async fn about(&self, sql: &str, resource: &str) -> Result<Vec<Row>, StoreError> {
        self.ask(sql, &[(&resource, Type::TEXT)]).await
    }

    /// Rows as what they say.
    fn each<T>(&self, rows: &[Row], read: words::Reading<T>) -> Result<Vec<T>, StoreError> {
        let read = rows.iter().map(read).collect::<Option<_>>();
        read.ok_or_else(|| self.error("its answer makes no sense"))
    }

    /// The only row as what it says.
    fn only<T>(&self, rows: &[Row], read: words::Reading<T>) -> Result<T, StoreError> {
        let only = self.each(rows, read)?.pop();
        only.ok_or_else(|| self.error("its answer is empty"))
    }
}

#[async_trait::async_trait]
impl ProtectedStore for Postgres {
    fn spec(&self) -> &StoreSpec {
        &self.spec
    }

    async fn mark(&mut self, resource: &str) -> Result<Mark, StoreError> {
        let marks = self.about(words::MARK, resource).await?;
        Ok(self.each(&marks, words::mark)?.pop().unwrap_or_default())
    }

    async fn times_done(&mut self, resource: &str, job: &str) -> Result<u64, StoreError> {
        let of: [Param<'_>; 2] = [(&resource, Type::TEXT), (&job, Type::TEXT)];
        let rows = self.ask(words::TIMES_DONE, &of).await?;
        self.only(&rows, words::times)
    }

    async fn put(
        &mut self,
        attempt: &Attempt,
        ruled: (AttemptKind, Ruling),
        armed: Armed<'_>,
    ) -> (StoreAnswer, Option<String>) {
        let put = match words::Put::new(attempt, ruled, &self.spec) {
            Ok(put) => put,
            Err(why) => return (StoreAnswer::Failed(why.to_owned()), None),
        };
        armed();
        let until = Instant::now() + BUDGET;
        match self.link.call(words::ATTEMPT, &put.params(), until).await {
            Ok(rows) => words::answer(&rows),
            Err(NoAnswer::NotSent(why) | NoAnswer::Refused(_, why)) => {
                (StoreAnswer::Failed(why), None)
            }
            Err(NoAnswer::Unknown(why)) => (StoreAnswer::Unknown(why), None),
        }
    }

    async fn outbox(&mut self, resource: &str) -> Result<Vec<String>, StoreError> {
        let jobs = self.about(words::OUTBOX, resource).await?;
        self.each(&jobs, words::text)
    }

    async fn published(&mut self, resource: &str, jobs: &[String]) -> Result<(), StoreError> {
        let params: [Param<'_>; 2] = [(&resource, Type::TEXT), (&jobs, Type::TEXT_ARRAY)];
        self.ask(words::TAKE_OUT, &params).await.map(drop)
    }

    async fn read(&mut self, resource: &str) -> Result<Standing, StoreError> {
        let standing = self.about(words::STANDING, resource).await?;
        let jobs = self.about(words::JOBS, resource).await?;
        let (write, highest) = self
            .each(&standing, words::standing)?
            .pop()
            .unwrap_or_default();
        Ok(Standing {
            write,
            highest,
            jobs: self.each(&jobs, words::job)?.into_iter().collect(),
        })
    }

    async fn log(&mut self) -> Result<Vec<Logged>, StoreError> {
        let lines = self.ask(words::LOG, &[]).await?;
        self.ahead.holds().map_err(|why| self.error(why))?;
        let mut lines = self.each(&lines, words::logged)?;
        for line in &mut lines {
            line.applied_ns = self.ahead.lab_ns(line.applied_ns, self.spec.lab_zero_ns);
        }
        Ok(lines)
    }
}

//! Locks on one Postgres server (10 or later): one row a lock, one conditional statement an
//! operation, on the database's clock.

use crate::ids::FencingToken;
use crate::lock::backends::postgres_ear::{self, ear};
use crate::lock::backends::postgres_words::{DRAW, Digested, REMAINING, Words, greeting};
pub use crate::lock::backends::postgres_words::{TABLE, shown};
use crate::lock::backends::{
    Armed, ConnectSpec, Connecting, IN_TURN, LockKind, Servers, check_flaw, fencing_token, nonsense,
};
use crate::lock::error::{CommandError, LockError};
use crate::lock::flaws::Flaw;
use crate::lock::service::{
    AcquireAnswer, Ask, Capabilities, LockName, LockService, Promise, ReleaseAnswer, RenewAnswer,
    Wake,
};
use crate::postgres_link::{Link, NoAnswer, Param};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSqlOwned, Type};

/// Longest time to connect in the first place.
pub(super) const CONNECT_BUDGET: Duration = Duration::from_secs(2);

/// What a row that stays promises of its fencing token.
pub(super) const STAYS: Promise = Promise::BestEffort(
    "rises for as long as the server keeps its rows, a crash included; a failover to a standby that lagged or a restored backup can set it back",
);

/// Its entry in the registry.
pub const KIND: LockKind = LockKind {
    name: "postgres",
    summary: "one Postgres server, one row a lock, one statement an operation",
    capabilities: Capabilities {
        fencing: STAYS,
        exclusion: Promise::BestEffort(
            "for as long as the server keeps its rows and its wall clock does not jump",
        ),
        fair: IN_TURN,
        wakes: true,
    },
    servers: Servers::Postgres,
    within_one_process: false,
    flaws: &[Flaw::BlindRelease, Flaw::BlindRenew, Flaw::RenewRecreates],
    on_the_wire: |_, _| Vec::new(),
    connect,
};

fn connect(spec: ConnectSpec) -> Connecting {
    Box::pin(async move {
        check_flaw(&KIND, spec.flaw)?;
        let (link, ears) = reach(&spec, TABLE, Instant::now() + CONNECT_BUDGET).await?;
        let service: Arc<dyn LockService> = Arc::new(Postgres {
            link,
            ears,
            words: Words::new(spec.flaw),
            flaw: spec.flaw,
            armed: spec.armed,
        });
        Ok(service)
    })
}

/// A connection that has been answered on and the table is there for, and one for those who wait,
/// which never connects itself.
pub(super) async fn reach(
    spec: &ConnectSpec,
    table: &str,
    until: Instant,
) -> Result<(Link, Arc<Link>), LockError> {
    let greeting = greeting(spec.client.as_deref());
    let link = Link::new(&spec.address, &format!("{greeting};{table}"))?;
    let ears = Link::new(&spec.address, postgres_ear::GREETING)?;
    link.call("SELECT 1", &[], until).await.map_err(failed)?;
    Ok((link, Arc::new(ears)))
}

/// Why nobody can be reached.
pub(super) fn failed(why: NoAnswer) -> LockError {
    LockError::Failed(CommandError::from(why).to_string())
}

struct Postgres {
    link: Link,
    /// Never connected itself: each waiter makes a connection of its own.
    ears: Arc<Link>,
    words: Words,
    flaw: Option<Flaw>,
    armed: Option<Armed>,
}

impl From<NoAnswer> for CommandError {
    fn from(no_answer: NoAnswer) -> CommandError {
        match no_answer {
            NoAnswer::NotSent(why) | NoAnswer::Refused(_, why) => CommandError::Failed(why),
            NoAnswer::Unknown(why) => CommandError::Unknown(why),
        }
    }
}

/// A column of a row.
pub(super) fn column<T: FromSqlOwned>(row: &Row, index: usize) -> Result<T, CommandError> {
    row.try_get(index).map_err(|_| nonsense())
}

/// A lease that has ended meanwhile has nothing left.
pub(super) fn milliseconds(left: i64) -> Duration {
    Duration::from_millis(u64::try_from(left).unwrap_or(0))
}

/// A lease as the server takes it; the longest that there is fits.
pub(super) fn lease_ms(ask: &Ask<'_>) -> i64 {
    i64::try_from(ask.lease_ms()).unwrap_or(i64::MAX)
}

impl Postgres {
    /// A statement on one lock, with a third and a fourth parameter.
    async fn ask(
        &self,
        sql: &str,
        name: &LockName,
        (more, until): (&[Param<'_>], Instant),
    ) -> Result<Vec<Row>, CommandError> {
        let mut params: Vec<Param<'_>> = vec![(&name.prefix, Type::TEXT), (&name.key, Type::TEXT)];
        params.extend(more.iter().map(|(value, kind)| (*value, kind.clone())));
        Ok(self.link.call(sql, &params, until).await?)
    }
}

#[async_trait]
impl LockService for Postgres {
    fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }

    async fn acquire(&self, ask: &Ask<'_>) -> Result<AcquireAnswer, CommandError> {
        let (owner, lease_ms) = (ask.owner.expose(), lease_ms(ask));
        let params: [Param<'_>; 2] = [(&owner, Type::TEXT), (&lease_ms, Type::INT8)];
        if let Some(Armed(armed)) = &self.armed {
            armed();
        }
        let rows = self
            .ask(&self.words.acquire, ask.name, (&params, ask.until))
            .await?;
        let Some(row) = rows.first() else {
            // Another took it while this statement was under way, and was not yet to be seen.
            return Ok(AcquireAnswer::Busy { remaining: None });
        };
        match column::<Option<i64>>(row, 0)? {
            Some(fencing) => Ok(AcquireAnswer::Granted {
                fencing: Some(fencing_token(fencing)?),
                lease: ask.lease,
            }),
            None => Ok(AcquireAnswer::Busy {
                remaining: column::<Option<i64>>(row, 1)?.map(milliseconds),
            }),
        }
    }

    async fn renew(&self, ask: &Ask<'_>) -> Result<RenewAnswer, CommandError> {
        let (owner, lease_ms) = (ask.owner.expose(), lease_ms(ask));
        let params: [Param<'_>; 2] = [(&owner, Type::TEXT), (&lease_ms, Type::INT8)];
        let rows = self
            .ask(&self.words.renew, ask.name, (&params, ask.until))
            .await?;
        let row = rows.first().ok_or_else(nonsense)?;
        match (column(row, 0)?, column(row, 1)?) {
            (true, _) => Ok(RenewAnswer::Renewed { lease: ask.lease }),
            (false, true) => Ok(RenewAnswer::Foreign),
            (false, false) => Ok(RenewAnswer::Absent),
        }
    }

    async fn release(&self, ask: &Ask<'_>) -> Result<ReleaseAnswer, CommandError> {
        let (owner, channel) = (ask.owner.expose(), Digested::of(ask.name).channel());
        let params: [Param<'_>; 2] = [(&owner, Type::TEXT), (&channel, Type::TEXT)];
        let rows = self
            .ask(&self.words.release, ask.name, (&params, ask.until))
            .await?;
        Ok(match rows.as_slice() {
            [] => ReleaseAnswer::NotOurs,
            [_, ..] => ReleaseAnswer::Released,
        })
    }

    async fn remaining(
        &self,
        name: &LockName,
        until: Instant,
    ) -> Result<Option<Duration>, CommandError> {
        let rows = self.ask(REMAINING, name, (&[], until)).await?;
        let left = rows.first().map(|row| column(row, 0)).transpose()?;
        Ok(left.map(milliseconds))
    }

    async fn draw(&self, name: &LockName, until: Instant) -> Result<FencingToken, CommandError> {
        let rows = self.ask(DRAW, name, (&[], until)).await?;
        let row = rows.first().ok_or_else(nonsense)?;
        fencing_token(column(row, 0)?)
    }

    fn watch(&self, name: &LockName) -> Box<dyn Wake> {
        Box::new(ear(Arc::clone(&self.ears), "lockdrill_lock", name))
    }
}

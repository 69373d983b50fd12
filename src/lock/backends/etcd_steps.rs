//! The requests that the operations of the etcd back end are made of.

use crate::etcd_link::{Code, Link, NoAnswer};
use crate::lock::backends::etcd_words::{self as words, Found, Key};
use crate::lock::backends::{Armed, nonsense};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::service::{Ask, RenewAnswer};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The service.
pub(super) struct Etcd {
    pub(super) link: Arc<Link>,
    pub(super) flaw: Option<Flaw>,
    pub(super) armed: Option<Armed>,
}

impl From<NoAnswer> for CommandError {
    fn from(no_answer: NoAnswer) -> CommandError {
        match no_answer {
            NoAnswer::NotSent(why) | NoAnswer::Refused(_, why) => CommandError::Failed(why),
            NoAnswer::Unknown(why) => CommandError::Unknown(why),
        }
    }
}

/// What the server keeps may be longer than what was asked for; it is not believed in.
pub(super) fn believed(ask: &Ask<'_>, seconds: i64) -> Duration {
    let kept = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    ask.lease.min(kept)
}

impl Etcd {
    pub(super) async fn call(
        &self,
        path: &str,
        body: &Value,
        until: Instant,
    ) -> Result<Value, CommandError> {
        Ok(self.link.call(path, body, until).await?)
    }

    pub(super) async fn found(
        &self,
        key: &Key,
        until: Instant,
    ) -> Result<Option<Found>, CommandError> {
        let answer = self.call(words::RANGE, &words::look(key), until).await?;
        Ok(words::found(&answer))
    }

    /// The lease of this attempt, and how long the server keeps it.
    pub(super) async fn leased(&self, ask: &Ask<'_>) -> Result<Duration, CommandError> {
        let lease = words::lease_of(ask.owner);
        let body = words::grant(lease, words::whole_seconds(ask.lease));
        match self.link.call(words::LEASE_GRANT, &body, ask.until).await {
            Ok(answer) => {
                let seconds = words::number(&answer, "/TTL").ok_or_else(nonsense)?;
                Ok(believed(ask, seconds))
            }
            // An earlier send of this attempt has been executed. It began later than we count from.
            Err(NoAnswer::Refused(Code::FAILED_PRECONDITION, _)) => Ok(ask.lease),
            Err(error) => Err(error.into()),
        }
    }

    /// Whoever has the key, or the fencing token of the one that was made.
    pub(super) async fn taken(
        &self,
        ask: &Ask<'_>,
        key: &Key,
    ) -> Result<Result<i64, Found>, CommandError> {
        let take = words::take(key, ask.owner, words::lease_of(ask.owner));
        let answer = self.call(words::TXN, &take, ask.until).await?;
        if words::succeeded(&answer) {
            return Ok(Ok(words::revision(&answer).ok_or_else(nonsense)?));
        }
        let found = words::found(&answer).ok_or_else(nonsense)?;
        Ok(if found.owner == *ask.owner {
            Ok(found.made)
        } else {
            Err(found)
        })
    }

    /// Gives the lease of an attempt back, and with it whatever a request of it that is still on
    /// its way would make. If this fails, it ends by itself.
    pub(super) async fn revoke(&self, ask: &Ask<'_>) {
        let body = words::one(words::lease_of(ask.owner));
        let _ = self.link.call(words::LEASE_REVOKE, &body, ask.until).await;
    }

    /// The flaw: a lock that is gone is taken again by whoever renews it.
    pub(super) async fn recreated(
        &self,
        ask: &Ask<'_>,
        key: &Key,
    ) -> Result<RenewAnswer, CommandError> {
        let lease = self.leased(ask).await?;
        Ok(match self.taken(ask, key).await? {
            Ok(_) => RenewAnswer::Renewed { lease },
            Err(_) => RenewAnswer::Foreign,
        })
    }

    /// The flaw: the lease that is extended is that of the key, whosever it is.
    pub(super) async fn lease_to_keep(
        &self,
        ask: &Ask<'_>,
        key: &Key,
    ) -> Result<i64, CommandError> {
        let own = words::lease_of(ask.owner);
        if self.flaw != Some(Flaw::BlindRenew) {
            return Ok(own);
        }
        Ok(self
            .found(key, ask.until)
            .await?
            .map_or(own, |found| found.lease))
    }
}

//! Asking the nodes of a deployment whether it is ready, over their ports: whatever a probe asks
//! is asked anew until it holds, and at the limit the last thing that was missing is told.

use crate::env::error::EnvError;
use crate::redis_link::{Link, Live};
use redis::{Cmd, FromRedisValue, Value};
use std::collections::HashMap;
use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::Instant;

/// Longest wait for one answer.
const ANSWER_MAX: Duration = Duration::from_secs(1);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Looks until nothing is missing.
///
/// # Errors
/// When something still is at the limit; the message says what.
pub(super) async fn until<F>(limit: Duration, look: impl Fn() -> F) -> Result<(), EnvError>
where
    F: Future<Output = Result<(), String>>,
{
    let deadline = Instant::now() + limit;
    loop {
        let Err(missing) = look().await else {
            return Ok(());
        };
        if Instant::now() >= deadline {
            return Err(EnvError::new(
                format!("the servers are not ready after {limit:?}: {missing}"),
                "see their logs in the run directory",
            ));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// A connection of its own to one node.
pub(super) struct Node {
    address: SocketAddr,
    live: Live,
}

impl Node {
    pub(super) async fn at(address: SocketAddr) -> Result<Node, String> {
        let link = Link::new(&address.to_string()).map_err(|wrong| wrong.why)?;
        match link.connect(Instant::now() + ANSWER_MAX).await {
            Ok(live) => Ok(Node { address, live }),
            Err(why) => Err(format!("{address}: {why:?}")),
        }
    }

    async fn ask<T: FromRedisValue>(&self, words: &[&str]) -> Result<T, String> {
        let mut command = Cmd::new();
        command.arg(words);
        let answer = self.live.call(&command, Instant::now() + ANSWER_MAX).await;
        let told = |why: String| format!("{}: {}: {why}", self.address, words.join(" "));
        let value: Value = answer.map_err(|why| told(format!("{why:?}")))?;
        redis::from_redis_value(value).map_err(|why| told(why.to_string()))
    }

    /// An answer in text.
    pub(super) async fn text(&self, words: &[&str]) -> Result<String, String> {
        self.ask(words).await
    }

    /// An answer of names and values.
    pub(super) async fn fields(&self, words: &[&str]) -> Result<HashMap<String, String>, String> {
        self.ask(words).await
    }

    /// Several of these.
    pub(super) async fn table(
        &self,
        words: &[&str],
    ) -> Result<Vec<HashMap<String, String>>, String> {
        self.ask(words).await
    }

    /// Fails unless a field is what it has to be.
    pub(super) fn expect(&self, what: &str, is: &str, ought: &str) -> Result<(), String> {
        if is == ought {
            return Ok(());
        }
        Err(format!("{}: {what} is `{is}`, not `{ought}`", self.address))
    }
}

/// A field of an `INFO` answer; empty if it is not there.
pub(super) fn field<'a>(info: &'a str, name: &str) -> &'a str {
    info.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .unwrap_or_default()
}

/// How many replicas a primary counts as fed. The replica's own word (`master_link_status`) comes
/// up to a second too early: until then the primary counts it neither for `WAIT` nor for anything.
pub(super) fn replicas_online(info: &str) -> usize {
    let is_replica = |line: &&str| {
        let number = line
            .strip_prefix("slave")
            .and_then(|rest| rest.split(':').next());
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let lines = info.lines().filter(is_replica);
    lines.filter(|line| line.contains("state=online")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_replica_that_the_primary_feeds_counts() {
        let info = "role:master\r\nconnected_slaves:2\r\nslave_repl_offset:1\r\n\
            slave0:ip=127.0.0.1,port=1,state=online,offset=1,lag=0\r\n\
            slave1:ip=127.0.0.1,port=2,state=wait_bgsave,offset=0,lag=0\r\n";
        assert_eq!(replicas_online(info), 1);
        assert_eq!(field(info, "role"), "master");
        assert_eq!(field(info, "none"), "");
    }
}

//! Locks on the primary of a Redis deployment that Sentinel looks after: the same scripts as on
//! one server, and the failover's epoch in front of every fencing token.
//!
//! Address: the sentinels, `host:port,host:port,host:port`, and `/name` behind it if the primary
//! has another name than [`DEFAULT_NAME`]. The primary is whom the sentinel with the latest
//! failover names, if that node itself says that it is one.

use crate::lock::backends::redis_asked::{address_of, ask_all, link_via, links, nothing_sent};
use crate::lock::backends::redis_found::{FOUND_FLAWS, Find, Node, Seeker, Via};
use crate::lock::backends::redis_lock::Redis;
use crate::lock::backends::redis_renewal::marks;
use crate::lock::backends::{ConnectSpec, Connecting, LockKind, Servers};
use crate::lock::error::LockError;
use crate::lock::service::{Capabilities, Promise};
use crate::redis_link::{Link, NoAnswer};
use async_trait::async_trait;
use redis::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// What sentinels call their primary if nothing else is said.
pub const DEFAULT_NAME: &str = "mymaster";

/// Longest time for a node that a sentinel named to say what it is.
const ROLE_MAX: Duration = Duration::from_secs(1);

/// Its entry in the registry.
pub const KIND: LockKind = LockKind {
    name: "redis-sentinel",
    summary: "the primary of a Redis deployment under Sentinel, with the failover's epoch in the fencing token",
    capabilities: Capabilities {
        fencing: Promise::BestEffort(
            "rises across a failover, also one that loses the counter; a flush, an eviction, a primary that comes back empty before it is replaced, or a former primary that still answers can give a lower one",
        ),
        exclusion: Promise::BestEffort(
            "for as long as no failover loses a grant: replicas may lag, and a former primary may still answer",
        ),
        fair: Promise::BestEffort(
            "waiters are woken in the order of their arrival, until a failover; a newcomer may overtake",
        ),
        wakes: true,
    },
    servers: Servers::Sentinel,
    within_one_process: false,
    flaws: FOUND_FLAWS,
    on_the_wire: marks,
    connect,
};

fn connect(spec: ConnectSpec) -> Connecting {
    Box::pin(async move {
        let sentinels = Sentinels::new(&spec.address, spec.via.clone())?;
        let seeker = Seeker::new(Box::new(sentinels));
        Redis::found(&KIND, seeker, spec).await
    })
}

struct Sentinels {
    links: Vec<Arc<Link>>,
    name: String,
    via: Via,
}

/// What a sentinel says of the primary.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    address: String,
    /// Counts failovers.
    epoch: u64,
    /// It does not answer the sentinel.
    down: bool,
}

impl Sentinels {
    fn new(address: &str, via: Via) -> Result<Sentinels, LockError> {
        let (hosts, name) = address.split_once('/').unwrap_or((address, DEFAULT_NAME));
        if name.is_empty() {
            return Err(LockError::Address {
                address: address.to_owned(),
                why: "the primary's name behind `/` is empty".to_owned(),
            });
        }
        let links = links(hosts)?;
        Ok(Sentinels {
            links,
            name: name.to_owned(),
            via,
        })
    }

    /// Whom the sentinel names that knows of the latest failover; none while one is under way.
    async fn named(&self, until: Instant) -> Result<Option<Named>, NoAnswer> {
        let mut question = redis::cmd("SENTINEL");
        question.arg("MASTER").arg(&self.name);
        let answers = ask_all(&self.links, &question, until).await?;
        let settled = answers.iter().filter_map(|(_, answer)| named(answer));
        // Of those who know the same, one that it answers knows more.
        Ok(settled.max_by_key(|named| (named.epoch, !named.down)))
    }
}

#[async_trait]
impl Find for Sentinels {
    fn group(&self, _key: &str) -> u16 {
        0
    }

    async fn find(&self, _group: u16, until: Instant) -> Result<Node, NoAnswer> {
        let why = || NoAnswer::NotSent("no sentinel names a settled primary".into());
        let named = self.named(until).await?.ok_or_else(why)?;
        let link = self.link_to(&named.address)?;
        let until = until.min(Instant::now() + ROLE_MAX);
        let live = link.live(until).await?;
        let role = live.call(&redis::cmd("ROLE"), until).await;
        if is_primary(&role.map_err(nothing_sent)?) {
            return Node::new(link, live, named.epoch);
        }
        let why = format!(
            "{} is not a primary, though a sentinel says so",
            named.address
        );
        Err(NoAnswer::NotSent(why))
    }

    async fn still(&self, _group: u16, node: &Node, until: Instant) -> bool {
        match self.named(until).await {
            // Nobody says anything: nothing better is known.
            Err(_) => true,
            // In the middle of a failover.
            Ok(None) => false,
            Ok(Some(named)) => self
                .link_to(&named.address)
                .is_ok_and(|link| !named.down && node.is_named(link.address(), named.epoch)),
        }
    }

    async fn groups(&self, _until: Instant) -> Result<Vec<u16>, NoAnswer> {
        Ok(vec![0])
    }

    fn link_to(&self, address: &str) -> Result<Arc<Link>, NoAnswer> {
        link_via(address, &self.via)
    }
}

/// What an answer to `SENTINEL MASTER` says; nothing while a failover is under way: the sentinel
/// that leads it then tells the old address with the new epoch, and tokens of that epoch must not
/// come from there.
fn named(answer: &Value) -> Option<Named> {
    let fields: HashMap<String, String> = redis::from_redis_value(answer.clone()).ok()?;
    let field = |name: &str| fields.get(name).map(String::as_str);
    let flags = field("flags")?;
    let flag = |name: &str| flags.split(',').any(|flag| flag == name);
    if flag("failover_in_progress") {
        return None;
    }
    Some(Named {
        address: address_of(field("ip")?, field("port")?),
        epoch: field("config-epoch")?.parse().ok()?,
        down: flag("s_down"),
    })
}

fn is_primary(role: &Value) -> bool {
    let Value::Array(fields) = role else {
        return false;
    };
    let word = fields
        .first()
        .and_then(|word| redis::from_redis_value_ref::<String>(word).ok());
    word.as_deref() == Some("master")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(flags: &str) -> Value {
        let fields = [
            "ip",
            "127.0.0.1",
            "port",
            "7",
            "flags",
            flags,
            "config-epoch",
            "3",
        ];
        let field = |word: &&str| Value::BulkString(word.as_bytes().to_vec());
        Value::Array(fields.iter().map(field).collect())
    }

    #[test]
    fn an_address_lists_sentinels_and_may_name_the_primary() {
        let read = |address| Sentinels::new(address, Via::new());
        let plain = read("a:1,b:2").unwrap();
        assert_eq!((plain.links.len(), plain.name.as_str()), (2, DEFAULT_NAME));
        assert_eq!(read("a:1/orders").unwrap().name, "orders");
        for wrong in ["", "a", "a:1,", "a:1/", "a:1,b:x"] {
            assert!(
                matches!(read(wrong), Err(LockError::Address { .. })),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_sentinel_in_the_middle_of_a_failover_is_not_believed() {
        let settled = Named {
            address: "127.0.0.1:7".into(),
            epoch: 3,
            down: false,
        };
        assert_eq!(named(&answer("master")), Some(settled));
        assert_eq!(named(&answer("master,failover_in_progress")), None);
        assert_eq!(named(&Value::Nil), None);
    }
}

//! Locks on a Redis Cluster: the same scripts as on one server, each lock's keys in one slot, and
//! the epoch of the slot's primary in front of every fencing token.
//!
//! Address: some of the nodes, `host:port,host:port,…`; the others are learned from them. The node
//! of a slot is whom the latest epoch gives it to, if that node itself says that it has it, and
//! the epoch is what it says of itself. While a slot is being moved its locks cannot be taken: the
//! server refuses commands on keys of which some may be here and some there.

use crate::lock::backends::redis_asked::{ask_all, link_via, links, nothing_sent};
use crate::lock::backends::redis_found::{FOUND_FLAWS, Find, Node, Seeker, Via};
use crate::lock::backends::redis_lock::Redis;
use crate::lock::backends::redis_renewal::marks;
use crate::lock::backends::redis_slots::{Told, read, slot_of};
use crate::lock::backends::{ConnectSpec, Connecting, LockKind, Servers};
use crate::lock::service::{Capabilities, Promise};
use crate::redis_link::{Link, NoAnswer};
use async_trait::async_trait;
use redis::{Cmd, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Longest time for a node that another one named to say what it has.
const SAY_MAX: Duration = Duration::from_secs(1);
/// How many nodes are remembered.
const NODES_MAX: usize = 64;

/// Its entry in the registry.
pub const KIND: LockKind = LockKind {
    name: "redis-cluster",
    summary: "a Redis Cluster, with the epoch of the slot's primary in the fencing token",
    capabilities: Capabilities {
        fencing: Promise::BestEffort(
            "rises across a failover, also one that loses the counter; a flush, an eviction, a primary that comes back empty before it is replaced, or a former primary that still answers can give a lower one",
        ),
        exclusion: Promise::BestEffort(
            "for as long as no failover loses a grant: replicas may lag, and a former primary answers until it notices",
        ),
        fair: Promise::BestEffort(
            "waiters are woken in the order of their arrival, until a failover; a newcomer may overtake",
        ),
        wakes: true,
    },
    servers: Servers::Cluster,
    within_one_process: false,
    flaws: FOUND_FLAWS,
    on_the_wire: marks,
    connect,
};

fn connect(spec: ConnectSpec) -> Connecting {
    Box::pin(async move {
        let seeds = links(&spec.address)?;
        let known = seeds
            .into_iter()
            .map(|link| (link.address().to_owned(), link));
        let cluster = Cluster {
            known: Mutex::new(known.collect()),
            via: spec.via.clone(),
        };
        Redis::found(&KIND, Seeker::new(Box::new(cluster)), spec).await
    })
}

struct Cluster {
    /// Every node that has been heard of, by the address that we reach it at.
    known: Mutex<BTreeMap<String, Arc<Link>>>,
    via: Via,
}

fn question() -> Cmd {
    let mut question = redis::cmd("CLUSTER");
    question.arg("NODES");
    question
}

fn in_words(answer: &Value) -> Vec<Told> {
    let text = redis::from_redis_value_ref::<String>(answer);
    text.map_or_else(|_| Vec::new(), |text| read(&text))
}

impl Cluster {
    /// What the nodes that answer say of the primaries, the latest epoch of each in front.
    async fn primaries(&self, until: Instant) -> Result<Vec<Told>, NoAnswer> {
        let known: Vec<_> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.values().cloned().collect()
        };
        let answers = ask_all(&known, &question(), until).await?;
        let mut told = Vec::new();
        for (asked, answer) in &answers {
            for mut node in in_words(answer) {
                if node.myself {
                    // Whom we asked need not know how it is reached.
                    node.address.get_or_insert_with(|| asked.clone());
                }
                told.push(node);
            }
        }
        for address in told.iter().filter_map(|node| node.address.as_deref()) {
            self.link_to(address)?;
        }
        told.retain(|node| node.primary);
        told.sort_by_key(|node| std::cmp::Reverse(node.epoch));
        Ok(told)
    }
}

#[async_trait]
impl Find for Cluster {
    fn group(&self, key: &str) -> u16 {
        slot_of(key)
    }

    async fn find(&self, slot: u16, until: Instant) -> Result<Node, NoAnswer> {
        let primaries = self.primaries(until).await?;
        let has = primaries.iter().find(|node| node.has(slot));
        let address = has.and_then(|node| node.address.as_deref());
        let nobody = || NoAnswer::NotSent(format!("no node has slot {slot}"));
        let address = address.ok_or_else(nobody)?;
        let link = self.link_to(address)?;
        let until = until.min(Instant::now() + SAY_MAX);
        let live = link.live(until).await?;
        let said = live.call(&question(), until).await.map_err(nothing_sent)?;
        let itself = in_words(&said).into_iter().find(|node| node.myself);
        match itself.filter(|node| node.has(slot)) {
            Some(itself) => Node::new(link, live, itself.epoch),
            None => {
                let why = format!("{address} does not have slot {slot}, though another says so");
                Err(NoAnswer::NotSent(why))
            }
        }
    }

    async fn still(&self, slot: u16, node: &Node, until: Instant) -> bool {
        let Ok(primaries) = self.primaries(until).await else {
            return true;
        };
        let has = primaries.iter().find(|node| node.has(slot));
        let Some(named) = has else { return true };
        let address = named
            .address
            .as_deref()
            .map(|address| self.link_to(address));
        let Some(Ok(link)) = address else { return true };
        node.is_named(link.address(), named.epoch)
    }

    async fn groups(&self, until: Instant) -> Result<Vec<u16>, NoAnswer> {
        let mut groups = Vec::new();
        for node in self.primaries(until).await? {
            if !groups.iter().any(|group| node.has(*group)) {
                groups.extend(node.slots.first().map(|range| *range.start()));
            }
        }
        if groups.is_empty() {
            return Err(NoAnswer::NotSent("no node has any slot".into()));
        }
        Ok(groups)
    }

    fn link_to(&self, address: &str) -> Result<Arc<Link>, NoAnswer> {
        let link = link_via(address, &self.via)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = known.get(link.address()) {
            return Ok(Arc::clone(link));
        }
        if known.len() < NODES_MAX {
            known.insert(link.address().to_owned(), Arc::clone(&link));
        }
        Ok(link)
    }
}

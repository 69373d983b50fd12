//! The node that may change a lock, where it has to be looked for: found by asking those who know,
//! verified by asking the node itself, remembered until it refuses, its connection breaks, or those
//! who know name another one: they are asked again before a command that comes later than that, so
//! that nobody stays for long with a node that was replaced and does not know it. A connection is
//! never made anew behind the back of whoever found it: what answers at the same address a moment
//! later may be another server.

use crate::kept::Usable;
use crate::lock::flaws::Flaw;
use crate::redis_link::{Link, Live, NoAnswer};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// How many fencing tokens an epoch has room for: the digits below the epoch's.
const EPOCH: u64 = 10_000_000_000;
/// The highest epoch: every fencing token stays below 2^53.
const EPOCH_MAX: u64 = (1 << 53) / EPOCH - 1;
/// For so long after it was named a node is taken to be the one.
const FRESH: Duration = Duration::from_millis(500);
/// Longest wait for those who may know whether it still is: who is slow to say must not keep a
/// lease from being renewed.
const STILL_MAX: Duration = Duration::from_millis(200);
/// The defects of those that look for their node. Not [`Flaw::FenceAfterSet`]: its second command
/// knows of no epoch, so that it would be two defects in one.
pub(super) const FOUND_FLAWS: &[Flaw] = &[
    Flaw::BlindRelease,
    Flaw::BlindRenew,
    Flaw::RenewRecreates,
    Flaw::SetThenPexpire,
    Flaw::EvalshaOnly,
    Flaw::PlainCounter,
];

/// Addresses as the servers know them, and how we reach them where that is another way.
pub type Via = HashMap<String, String>;

/// A node that may change some locks.
pub(super) struct Node {
    /// Leads to it, for connections of one's own.
    pub(super) link: Arc<Link>,
    /// The connection on which it was verified.
    pub(super) live: Arc<Live>,
    /// Of the failover that made it the one.
    pub(super) epoch: u64,
    /// What the fencing tokens of its epoch are above, in digits.
    pub(super) floor: String,
    /// When it was last named as the one.
    named: Mutex<Instant>,
}

impl Node {
    /// After the node itself has said that it is the one.
    pub(super) fn new(link: Arc<Link>, live: Arc<Live>, epoch: u64) -> Result<Node, NoAnswer> {
        if epoch > EPOCH_MAX {
            let why = format!("epoch {epoch} leaves no room for fencing tokens below 2^53");
            return Err(NoAnswer::NotSent(why));
        }
        Ok(Node {
            link,
            live,
            epoch,
            floor: (epoch * EPOCH).to_string(),
            named: Mutex::new(Instant::now()),
        })
    }

    /// Whether it has to be asked for again; whoever is told so does it, for all.
    fn is_due(&self) -> bool {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let due = named.elapsed() >= FRESH;
        if due {
            *named = Instant::now();
        }
        due
    }

    /// Whether it is whom somebody names, or that one is behind the times.
    pub(super) fn is_named(&self, address: &str, epoch: u64) -> bool {
        epoch < self.epoch || (epoch == self.epoch && address == self.link.address())
    }
}

/// Looks for nodes. Whatever fails in it, the lock's command has not been sent.
#[async_trait]
pub(super) trait Find: Send + Sync {
    /// Keys with the same number are always on the same node.
    fn group(&self, key: &str) -> u16;

    /// Looks for the node of a group, and lets it say itself that it is the one.
    async fn find(&self, group: u16, until: Instant) -> Result<Node, NoAnswer>;

    /// Whether those who know still name this node, or say nothing of any.
    async fn still(&self, group: u16, node: &Node, until: Instant) -> bool;

    /// One group of each node that may change locks.
    async fn groups(&self, until: Instant) -> Result<Vec<u16>, NoAnswer>;

    /// The link to an address that a server named.
    fn link_to(&self, address: &str) -> Result<Arc<Link>, NoAnswer>;
}

/// Finds nodes and remembers them.
pub(super) struct Seeker {
    find: Box<dyn Find>,
    groups: Mutex<HashMap<u16, Arc<Group>>>,
    /// Counts what was found.
    found: watch::Sender<u64>,
}

#[derive(Default)]
struct Group {
    node: Mutex<Option<Arc<Node>>>,
    /// Where it was found last, for those who wait there.
    last: Mutex<Option<String>>,
    /// Held by the one who looks.
    seeking: tokio::sync::Mutex<()>,
}

impl Group {
    fn known(&self) -> Option<Arc<Node>> {
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
        node.as_ref().filter(|node| node.live.is_good()).cloned()
    }

    fn forget(&self, node: &Arc<Node>) {
        let mut known = self.node.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_some_and(|known| Arc::ptr_eq(known, node)) {
            *known = None;
        }
    }
}

impl Seeker {
    pub(super) fn new(find: Box<dyn Find>) -> Seeker {
        Seeker {
            find,
            groups: Mutex::default(),
            found: watch::Sender::new(0),
        }
    }

    fn group(&self, number: u16) -> Arc<Group> {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(groups.entry(number).or_default())
    }

    fn group_of(&self, key: &str) -> Arc<Group> {
        self.group(self.find.group(key))
    }

    /// The node that may change this key, by its own word.
    pub(super) async fn node(&self, key: &str, until: Instant) -> Result<Arc<Node>, NoAnswer> {
        self.node_of(self.find.group(key), until).await
    }

    async fn node_of(&self, number: u16, until: Instant) -> Result<Arc<Node>, NoAnswer> {
        let group = self.group(number);
        if let Some(node) = group.known() {
            let soon = until.min(Instant::now() + STILL_MAX);
            if !node.is_due() || self.find.still(number, &node, soon).await {
                return Ok(node);
            }
            group.forget(&node);
        }
        let late = |_| NoAnswer::NotSent("no node found in time".into());
        let turn = timeout_at(until, group.seeking.lock()).await;
        let _turn = turn.map_err(late)?;
        if let Some(node) = group.known() {
            return Ok(node);
        }
        let found = timeout_at(until, self.find.find(number, until)).await;
        let node = Arc::new(found.map_err(late)??);
        let address = Some(node.link.address().to_owned());
        *group.last.lock().unwrap_or_else(PoisonError::into_inner) = address;
        *group.node.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&node));
        self.found.send_modify(|count| *count += 1);
        Ok(node)
    }

    /// This node is not to be asked again without being looked for.
    pub(super) fn forget(&self, key: &str, node: &Arc<Node>) {
        self.group_of(key).forget(node);
    }

    pub(super) fn last_found(&self, key: &str) -> Option<String> {
        let group = self.group_of(key);
        let last = group.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone()
    }

    pub(super) async fn moved(&self, key: &str, from: Option<&str>) {
        let mut found = self.found.subscribe();
        // The sender lives as long as we do.
        while self.last_found(key).as_deref() == from && found.changed().await.is_ok() {}
    }

    /// Every node that may change locks and can be reached; at least one.
    pub(super) async fn all(&self, until: Instant) -> Result<Vec<Arc<Node>>, NoAnswer> {
        let (mut nodes, mut why) = (Vec::new(), None);
        for group in self.find.groups(until).await? {
            match self.node_of(group, until).await {
                Ok(node) => nodes.push(node),
                Err(not_found) => why = Some(not_found),
            }
        }
        match why {
            Some(why) if nodes.is_empty() => Err(why),
            Some(_) | None => Ok(nodes),
        }
    }

    pub(super) fn link_to(&self, address: &str) -> Result<Arc<Link>, NoAnswer> {
        self.find.link_to(address)
    }
}

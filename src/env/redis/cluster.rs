//! A whole Redis Cluster on loopback: primaries that share the slots, a replica for each, or
//! more. Arguments, what each node knows of the others before its first start, and when all of it
//! is ready.
//!
//! Nothing is introduced or assigned by commands: each node finds a prepared `nodes.conf` in its
//! folder, so that the names, the slots and the epochs are the same in every run. A primary takes
//! two seconds after its start before it says that all is well; there is no setting for that.

use super::probe::{self, Node, replicas_online};
use super::replicated;
use crate::env::error::EnvError;
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

/// File in a node's folder that holds what it knows of the cluster. The node rewrites it.
pub const NODES_FILE: &str = "nodes.conf";

/// How many slots there are.
const SLOTS: usize = 16_384;

/// Where a node listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    /// For clients.
    pub client: u16,
    /// For the other nodes.
    pub bus: u16,
}

/// Who listens where, and how impatient they are.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// Where all of them listen.
    pub host: IpAddr,
    /// How many of the nodes begin as primaries; ≥ 1.
    pub primaries: usize,
    /// All nodes, the primaries in front; then the replicas, one primary's after the other's:
    /// with three primaries, node 3 begins as a replica of node 0.
    pub nodes: Vec<Ports>,
    /// A node that is silent for so long is suspected.
    pub node_timeout: Duration,
}

impl Deployment {
    /// With a short time-out.
    pub fn new(host: IpAddr, primaries: usize, nodes: Vec<Ports>) -> Deployment {
        Deployment {
            host,
            primaries: primaries.max(1),
            nodes,
            node_timeout: Duration::from_millis(500),
        }
    }

    /// The address of the lock service: `host:port` of every node, with commas between.
    pub fn address(&self) -> String {
        let all: Vec<String> = self
            .nodes
            .iter()
            .map(|node| self.at(*node).to_string())
            .collect();
        all.join(",")
    }

    fn at(&self, node: Ports) -> SocketAddr {
        SocketAddr::new(self.host, node.client)
    }

    /// Arguments of a node.
    ///
    /// # Errors
    /// When there is no such node, or its folder's path is too long for a socket.
    pub fn args(&self, index: usize, folder: &Path) -> Result<Vec<String>, String> {
        let ports = self
            .nodes
            .get(index)
            .ok_or_else(|| format!("no node {index}"))?;
        let mut args = replicated::args(self.host, ports.client, folder)?;
        let (bus, timeout) = (
            ports.bus.to_string(),
            self.node_timeout.as_millis().to_string(),
        );
        for (name, value) in [
            ("--cluster-enabled", "yes"),
            ("--cluster-config-file", NODES_FILE),
            ("--cluster-port", bus.as_str()),
            ("--cluster-node-timeout", timeout.as_str()),
            // A replica that was cut off for long may take over all the same: what was lost
            // with it is what a drill is there to show.
            ("--cluster-replica-validity-factor", "0"),
            // The slots of the primaries that are left stay in use.
            ("--cluster-require-full-coverage", "no"),
            // A primary keeps the replicas that it has.
            ("--cluster-allow-replica-migration", "no"),
        ] {
            args.extend([name.to_owned(), value.to_owned()]);
        }
        Ok(args)
    }

    /// What [`NODES_FILE`] of a node has to say before its first start.
    pub fn nodes_file(&self, index: usize) -> String {
        let mut text = String::new();
        for (other, ports) in self.nodes.iter().enumerate() {
            let myself = if other == index { "myself," } else { "" };
            let (role, primary, epoch) = match self.primary_of(other) {
                Some(primary) => ("slave", id(primary), 0),
                None => ("master", "-".to_owned(), other + 1),
            };
            let _ = write!(
                text,
                "{} {}:{}@{} {myself}{role} {primary} 0 0 {epoch} connected",
                id(other),
                self.host,
                ports.client,
                ports.bus,
            );
            if let Some(slots) = self.slots(other) {
                let _ = write!(text, " {}-{}", slots.start(), slots.end());
            }
            text.push('\n');
        }
        let epoch = self.primaries;
        let _ = writeln!(text, "vars currentEpoch {epoch} lastVoteEpoch 0");
        text
    }

    /// Which primary a node begins as a replica of; none if it begins as a primary.
    pub fn primary_of(&self, index: usize) -> Option<usize> {
        let replica = index.checked_sub(self.primaries)?;
        Some(replica % self.primaries)
    }

    /// The slots that a node begins with; none if it begins as a replica.
    pub fn slots(&self, index: usize) -> Option<RangeInclusive<usize>> {
        let share = |index: usize| index * SLOTS / self.primaries;
        (index < self.primaries).then(|| share(index)..=share(index + 1) - 1)
    }

    /// Waits until every node says that all is well and sees everybody, and every primary feeds
    /// its replicas. On a busy machine a replica may have replaced its primary before anybody
    /// came: then it is as good.
    ///
    /// # Errors
    /// When it does not within the limit; the message says what was missing.
    pub async fn ready(&self, limit: Duration) -> Result<(), EnvError> {
        probe::until(limit, || self.look()).await
    }

    async fn look(&self) -> Result<(), String> {
        let mut fed = vec![0; self.primaries];
        for (index, ports) in self.nodes.iter().enumerate() {
            let node = Node::at(self.at(*ports)).await?;
            let info = node.text(&["CLUSTER", "INFO"]).await?;
            let known = self.nodes.len().to_string();
            for (name, ought) in [
                ("cluster_state", "ok"),
                ("cluster_slots_ok", "16384"),
                ("cluster_known_nodes", known.as_str()),
            ] {
                node.expect(name, probe::field(&info, name), ought)?;
            }
            let nodes = node.text(&["CLUSTER", "NODES"]).await?;
            let unwell = nodes.lines().find(|line| !is_well(line));
            node.expect("a node that it sees", unwell.unwrap_or_default(), "")?;
            let info = node.text(&["INFO", "replication"]).await?;
            // Only a primary has any.
            let online = replicas_online(&info);
            match probe::field(&info, "role") {
                "master" => fed[self.primary_of(index).unwrap_or(index)] += online,
                role => {
                    node.expect("its role", role, "slave")?;
                    let link = probe::field(&info, "master_link_status");
                    node.expect("its link", link, "up")?;
                }
            }
        }
        for (primary, fed) in fed.into_iter().enumerate() {
            let ought = self.replicas_of(primary);
            if fed != ought {
                return Err(format!(
                    "{fed} of {ought} replicas of node {primary} are fed"
                ));
            }
        }
        Ok(())
    }

    fn replicas_of(&self, primary: usize) -> usize {
        let all = 0..self.nodes.len();
        all.filter(|other| self.primary_of(*other) == Some(primary))
            .count()
    }
}

/// Whether a line of `CLUSTER NODES` tells of a node that is reached and not suspected.
fn is_well(line: &str) -> bool {
    let mut words = line.split(' ').skip(2);
    let flags = words.next().unwrap_or_default();
    let good = |flag: &str| ["myself", "master", "slave", "nofailover"].contains(&flag);
    flags.split(',').all(good) && words.nth(4) == Some("connected")
}

/// The name of a node among nodes: forty digits.
pub fn id(index: usize) -> String {
    format!("{:040x}", index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn six() -> Deployment {
        let ports = |client| Ports {
            client,
            bus: client + 100,
        };
        Deployment::new(
            IpAddr::V4(Ipv4Addr::LOCALHOST),
            3,
            (1..=6).map(ports).collect(),
        )
    }

    #[test]
    fn the_primaries_share_all_slots() {
        let all = six();
        let shares: Vec<_> = (0..6).filter_map(|index| all.slots(index)).collect();
        assert_eq!(shares, [0..=5460, 5461..=10921, 10922..=16383]);
        let primaries: Vec<_> = (0..6).map(|index| all.primary_of(index)).collect();
        assert_eq!(primaries, [None, None, None, Some(0), Some(1), Some(2)]);
        assert_eq!(all.replicas_of(1), 1);
    }

    #[test]
    fn a_node_is_told_who_it_is() {
        let text = six().nodes_file(3);
        assert_eq!(text.matches("myself").count(), 1);
        let mine = format!(
            "{} 127.0.0.1:4@104 myself,slave {} 0 0 0 connected\n",
            id(3),
            id(0)
        );
        assert!(text.contains(&mine), "{text}");
        assert!(
            text.contains("master - 0 0 2 connected 5461-10921\n"),
            "{text}"
        );
    }

    #[test]
    fn a_node_that_is_suspected_or_not_reached_is_not_well() {
        assert!(is_well(
            "a 127.0.0.1:1@2 myself,master - 0 0 1 connected 0-5460"
        ));
        assert!(!is_well(
            "a 127.0.0.1:1@2 master,fail? - 0 0 1 connected 0-5460"
        ));
        assert!(!is_well("a 127.0.0.1:1@2 slave b 0 0 1 disconnected"));
        assert!(!is_well(""));
    }
}

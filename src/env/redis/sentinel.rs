//! A whole deployment under Sentinel, on loopback: one primary, its replicas, and the sentinels
//! that choose another primary when it is gone. Arguments, configuration, and when it is ready.
//!
//! The sentinels are told beforehand who the others and the replicas are; left alone they would
//! take two seconds to find each other.

use super::probe::{self, Node, replicas_online};
use super::replicated;
use crate::env::error::EnvError;
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// What the sentinels call the primary.
pub const NAME: &str = "mymaster";

/// A command to each sentinel, once it runs, that halves the time a failover takes and lets a
/// former primary be noticed in a second instead of ten. The period of its pings stays: with a
/// shorter one no replica is ever good enough.
pub const HURRY: &[&str] = &[
    "SENTINEL",
    "DEBUG",
    "INFO-PERIOD",
    "500",
    "PUBLISH-PERIOD",
    "200",
];

/// Who listens where, and how impatient the sentinels are.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// Where all of them listen.
    pub host: IpAddr,
    /// Ports of the data nodes, the first primary's in front; ≥ 1.
    pub data: Vec<u16>,
    /// Ports of the sentinels.
    pub sentinels: Vec<u16>,
    /// A node that is silent for so long is down. 200 ms is the least that does not misfire.
    pub down_after: Duration,
    /// A failover that has not succeeded is tried again after twice this long.
    pub failover_timeout: Duration,
}

impl Deployment {
    /// With the shortest times that hold on a busy machine.
    pub fn new(host: IpAddr, data: Vec<u16>, sentinels: Vec<u16>) -> Deployment {
        Deployment {
            host,
            data,
            sentinels,
            down_after: Duration::from_millis(300),
            failover_timeout: Duration::from_secs(1),
        }
    }

    /// How many sentinels have to agree: more than half.
    pub fn quorum(&self) -> usize {
        self.sentinels.len() / 2 + 1
    }

    /// The address of the lock service: `host:port` of every sentinel, with commas between.
    pub fn address(&self) -> String {
        let all: Vec<String> = self
            .sentinels
            .iter()
            .map(|port| self.at(*port).to_string())
            .collect();
        all.join(",")
    }

    fn at(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.host, port)
    }

    /// Arguments of a data node; the first of them begins as the primary.
    ///
    /// # Errors
    /// When there is no such node, or its folder's path is too long for a socket.
    pub fn data_args(&self, index: usize, folder: &Path) -> Result<Vec<String>, String> {
        let (Some(primary), Some(port)) = (self.data.first(), self.data.get(index)) else {
            return Err(format!("no data node {index}"));
        };
        let mut args = replicated::args(self.host, *port, folder)?;
        if index > 0 {
            args.push("--replicaof".to_owned());
            args.extend([self.host.to_string(), primary.to_string()]);
        }
        Ok(args)
    }

    /// Arguments of a sentinel whose configuration lies in this file. It will be rewritten.
    pub fn sentinel_args(config: &Path) -> Vec<String> {
        vec![config.display().to_string(), "--sentinel".to_owned()]
    }

    /// The configuration of a sentinel; only good before its first start.
    pub fn sentinel_config(&self, index: usize, folder: &Path) -> String {
        let host = self.host;
        let port = |ports: &[u16], at: usize| ports.get(at).copied().unwrap_or_default();
        let mut text = format!(
            "port {}\nbind {host}\nprotected-mode no\ndaemonize no\ndir {}\n\
             sentinel myid {}\nsentinel monitor {NAME} {host} {} {}\n\
             sentinel down-after-milliseconds {NAME} {}\nsentinel failover-timeout {NAME} {}\n\
             sentinel parallel-syncs {NAME} 8\n",
            port(&self.sentinels, index),
            folder.display(),
            id(index),
            port(&self.data, 0),
            self.quorum(),
            self.down_after.as_millis(),
            self.failover_timeout.as_millis(),
        );
        for replica in self.data.iter().skip(1) {
            let _ = writeln!(text, "sentinel known-replica {NAME} {host} {replica}");
        }
        for (other, port) in self.sentinels.iter().enumerate() {
            if other != index {
                let id = id(other);
                let _ = writeln!(text, "sentinel known-sentinel {NAME} {host} {port} {id}");
            }
        }
        text
    }

    /// Waits until the first primary feeds every replica. Sentinels that are started before that
    /// see replicas that are not linked, and look again only a second later.
    ///
    /// # Errors
    /// When it does not within the limit; the message says what was missing.
    pub async fn fed(&self, limit: Duration) -> Result<(), EnvError> {
        probe::until(limit, || self.look_at_data(self.primary())).await
    }

    /// Waits until a primary feeds every replica and every sentinel sees all of it. On a busy
    /// machine the sentinels may have replaced the first one before anybody came: then the one
    /// that they all name is as good.
    ///
    /// # Errors
    /// When it does not within the limit; the message says what was missing.
    pub async fn ready(&self, limit: Duration) -> Result<(), EnvError> {
        probe::until(limit, || self.look()).await
    }

    fn primary(&self) -> u16 {
        self.data.first().copied().unwrap_or_default()
    }

    async fn look_at_data(&self, primary: u16) -> Result<(), String> {
        let node = Node::at(self.at(primary)).await?;
        let info = node.text(&["INFO", "replication"]).await?;
        node.expect("its role", probe::field(&info, "role"), "master")?;
        let online = replicas_online(&info).to_string();
        let replicas = self.data.len().saturating_sub(1).to_string();
        node.expect("replicas online", &online, &replicas)
    }

    async fn look(&self) -> Result<(), String> {
        let mut named = None;
        for port in &self.sentinels {
            let sentinel = Node::at(self.at(*port)).await?;
            let primary = self.names(&sentinel).await?;
            let (first, is) = (named.get_or_insert_with(|| primary.clone()), &primary);
            sentinel.expect("whom it names", is, first)?;
        }
        let primary = named.and_then(|port| port.parse().ok());
        self.look_at_data(primary.unwrap_or_else(|| self.primary()))
            .await
    }

    /// The port of the primary that a sentinel names, if it sees all that there is.
    async fn names(&self, sentinel: &Node) -> Result<String, String> {
        let replicas = self.data.len().saturating_sub(1);
        let master = sentinel.fields(&["SENTINEL", "MASTER", NAME]).await?;
        let others = self.sentinels.len().saturating_sub(1);
        for (name, ought) in [
            ("flags", "master".to_owned()),
            ("num-slaves", replicas.to_string()),
            ("num-other-sentinels", others.to_string()),
        ] {
            let is = master.get(name).map_or("", String::as_str);
            sentinel.expect(name, is, &ought)?;
        }
        for replica in sentinel.table(&["SENTINEL", "REPLICAS", NAME]).await? {
            for (name, ought) in [("flags", "slave"), ("master-link-status", "ok")] {
                let is = replica.get(name).map_or("", String::as_str);
                sentinel.expect(name, is, ought)?;
            }
        }
        Ok(master.get("port").cloned().unwrap_or_default())
    }
}

/// The name of a sentinel among sentinels: forty digits.
fn id(index: usize) -> String {
    format!("{:040x}", index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn a_sentinel_is_told_of_everybody_but_itself() {
        let host = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let all = Deployment::new(host, vec![1, 2, 3], vec![11, 12, 13]);
        assert_eq!(all.address(), "127.0.0.1:11,127.0.0.1:12,127.0.0.1:13");
        let text = all.sentinel_config(1, Path::new("/tmp/x"));
        assert!(text.contains("port 12\n") && text.contains(&format!("myid {}", id(1))));
        assert!(text.contains("monitor mymaster 127.0.0.1 1 2\n"));
        assert_eq!(text.matches("known-replica").count(), 2);
        assert_eq!(text.matches("known-sentinel").count(), 2);
        assert!(!text.contains("known-sentinel mymaster 127.0.0.1 12 "));
        let args = all.data_args(0, Path::new("/tmp/x")).unwrap();
        assert!(!args.contains(&"--replicaof".to_owned()));
        let args = all.data_args(2, Path::new("/tmp/x")).unwrap();
        assert_eq!(args[args.len() - 3..], ["--replicaof", "127.0.0.1", "1"]);
        assert!(all.data_args(3, Path::new("/tmp/x")).is_err());
    }
}

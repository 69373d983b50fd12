//! What is started for a lock back end that lives on several servers: the one list.
//!
//! How to add one: a file with a [`Kind`], and its line in [`ALL`]. A back end that is not here
//! lives on one server, or on none.

use crate::env::error::EnvError;
use crate::plan::LockPlan;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

pub mod redis_cluster;
pub mod redis_sentinel;

/// One entry of the list.
#[derive(Debug)]
pub struct Kind {
    /// The lock back end that it is for.
    pub backend: &'static str,
    /// Its members by name, in the order in which they are started.
    pub members: &'static [&'static str],
    /// Where each member listens in a network of its own.
    pub own_ports: &'static [u16],
    /// A member that takes writes can be replaced by another: there are promotions.
    pub fails_over: bool,
    /// How many copy each member that takes writes.
    pub replicas: u64,
    /// Members that can be made one of those that copy and never take over, in this order.
    pub backups: &'static [&'static str],
    /// Who is started how.
    pub lay_out: fn(&Site<'_>) -> Result<Layout, EnvError>,
}

/// Every deployment.
pub const ALL: &[&Kind] = &[&redis_sentinel::KIND, &redis_cluster::KIND];

/// The deployment of a back end; none if it lives on one server or on none.
pub fn of(backend: &str) -> Option<&'static Kind> {
    ALL.iter().copied().find(|kind| kind.backend == backend)
}

/// The members of a lock's deployment that copy and never take over.
pub fn backups(lock: &LockPlan) -> &'static [&'static str] {
    let all = of(&lock.backend).map_or(&[][..], |kind| kind.backups);
    let count = usize::try_from(lock.backups).unwrap_or(usize::MAX);
    &all[..count.min(all.len())]
}

/// Where a deployment is to live.
#[derive(Debug)]
pub struct Site<'a> {
    /// Where all members listen.
    pub host: IpAddr,
    /// A port for each member.
    pub ports: &'a [u16],
    /// A second port for each member, for those that talk among themselves.
    pub inner_ports: &'a [u16],
    /// Each member has a folder of its name in it.
    pub folder: &'a Path,
    /// The program of Redis.
    pub redis: &'a Path,
    /// The key of the lock as the servers know it.
    pub key: &'a str,
    /// Members that copy and never take over.
    pub backups: &'a [&'a str],
}

impl Site<'_> {
    /// The folder of a member.
    pub fn folder_of(&self, member: &str) -> PathBuf {
        self.folder.join(member)
    }
}

/// Who is started how, and when all of it is ready.
pub struct Layout {
    /// Every process, in the order in which they are started.
    pub members: Vec<Member>,
    /// What the back end is connected with.
    pub address: String,
    /// Waits until all of it is ready; asked once everybody was started.
    pub ready: Box<dyn Fn(Duration) -> Waiting + Send>,
}

/// A wait for something of a deployment.
pub type Waiting = Pin<Box<dyn Future<Output = Result<(), EnvError>> + Send>>;

/// One process of a deployment.
#[derive(Debug, Clone)]
pub struct Member {
    /// Its name in the record.
    pub name: &'static str,
    /// Its program.
    pub program: PathBuf,
    /// What it is told to be called; none = its path.
    pub arg0: Option<&'static str>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Files that it finds in its folder: name and text.
    pub files: Vec<(String, String)>,
    /// Where it listens.
    pub address: SocketAddr,
    /// How its truth is followed.
    pub watched: Watched,
}

/// How a member's truth is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watched {
    /// It never holds the lock's key.
    No,
    /// By its append-only file and its role; the socket file is the lab's own way in.
    Appended {
        /// The socket file.
        socket: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::backends;

    #[test]
    fn every_deployment_is_of_a_back_end_and_has_a_port_for_everybody() {
        for kind in ALL {
            assert_eq!(kind.members.len(), kind.own_ports.len(), "{}", kind.backend);
            assert!(backends::named(kind.backend).is_some(), "{}", kind.backend);
            let known = |name: &&&str| kind.members.contains(*name);
            assert!(kind.backups.iter().all(|name| known(&name)));
        }
    }
}

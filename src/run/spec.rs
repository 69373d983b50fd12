//! What the conductor tells the director of one arm.

use crate::env::isolation::Mode;
use crate::env::zookeeper::find::Program as Zookeeper;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;

/// One arm to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArmSpec {
    /// Folder of the arm: `plan.json` is there, the record goes there.
    pub arm_dir: PathBuf,
    /// Folder for servers' data, databases and sockets; removed after the arm.
    pub work_dir: PathBuf,
    /// Name of the run.
    pub run: String,
    /// How the arm is kept apart.
    pub isolation: Mode,
    /// The redis-server program of the lab, which the store lives on if it lives on one.
    pub redis: PathBuf,
    /// The redis-server program of the lock.
    pub lock_redis: PathBuf,
    /// The folder with the programs of Postgres, if the lock or the store lives on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postgres: Option<PathBuf>,
    /// The etcd, if the lock or the store lives on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etcd: Option<PathBuf>,
    /// Java and the jars of ZooKeeper, if the lock lives on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zookeeper: Option<Zookeeper>,
    /// The program that is started as a worker: lockdrill itself.
    pub program: PathBuf,
    /// A lock server that somebody else has started; none = the arm starts its own.
    pub given: Option<GivenSpec>,
}

/// A lock server that somebody else has started, and what of it is the arm's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenSpec {
    /// Where it listens.
    pub address: SocketAddr,
    /// In front of every key of the arm: no other arm, run or program has it.
    pub prefix: String,
}

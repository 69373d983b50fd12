//! Edges as data: what can be done to one, and what is said about it afterwards.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;

/// One worker's way to one server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeId {
    /// The worker's name.
    pub worker: String,
    /// The server's name.
    pub server: String,
}

impl EdgeId {
    /// The edge from this worker to this server.
    pub fn new(worker: impl Into<String>, server: impl Into<String>) -> Self {
        let (worker, server) = (worker.into(), server.into());
        EdgeId { worker, server }
    }
}

/// `a>redis`.
impl fmt::Display for EdgeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}>{}", self.worker, self.server)
    }
}

/// How requests and replies are told apart on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerProtocol {
    /// RESP2 or RESP3.
    Redis,
    /// Postgres' own; no command can be chosen.
    Postgres,
    /// HTTP, to an etcd's gateway; no command can be chosen.
    Etcd,
    /// ZooKeeper's own; no command can be chosen.
    Zookeeper,
    /// HTTP, to the gateway of a store; no command can be chosen.
    Gateway,
    /// Bytes: no command can be chosen.
    Plain,
}

/// The server end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upstream {
    /// Where the server answers.
    pub address: SocketAddr,
    /// What it speaks.
    pub protocol: ServerProtocol,
}

/// Directions of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// From the worker to the server: requests.
    ToServer,
    /// From the server to the worker: replies.
    ToClient,
    /// Both.
    Both,
}

impl Way {
    /// Whether requests flow this way.
    pub const fn to_server(self) -> bool {
        matches!(self, Way::ToServer | Way::Both)
    }

    /// Whether replies flow this way.
    pub const fn to_client(self) -> bool {
        matches!(self, Way::ToClient | Way::Both)
    }
}

/// One command among those that pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    /// A request counts if it contains any of these, for example the hash of an `EVALSHA`. Looked
    /// for in the first 64 KiB of a request. Never empty.
    pub marks: Vec<String>,
    /// Which of the requests that count and begin after the onset, over all connections of the
    /// edge; the first is 1.
    pub nth: u64,
}

/// What is done to an edge: a closed set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Injury {
    /// What flows this way vanishes. Connections stay open, new ones are accepted or hang, nobody
    /// is told. What a connection sees at the heal depends on the provider: packets that the
    /// kernel dropped are sent again and arrive late; bytes that a proxy dropped never arrive, and
    /// the proxy resets or closes a connection that lost some.
    Silence(Way),
    /// Live connections get RST; new ones are refused or reset until the heal.
    Reset,
    /// Held, not lost: everything arrives at the heal. A stalled connection, not a partition.
    Stall(Way),
    /// What flows this way arrives `ms` later, in order; what is under way at the heal, at once.
    Delay {
        /// Direction.
        way: Way,
        /// Milliseconds.
        ms: u64,
    },
    /// The chosen request is held until the heal, and with it what follows it on its connection.
    HoldRequest(Chosen),
    /// The reply to the chosen request is held until the heal, and with it what follows it on its
    /// connection.
    HoldReply(Chosen),
    /// The chosen request is lost, and with it what follows it on its connection, which stays open
    /// until the heal and is reset then.
    LoseRequest(Chosen),
    /// The reply to the chosen request is lost, and with it what follows it on its connection,
    /// which stays open until the heal and is reset then.
    LoseReply(Chosen),
}

impl Injury {
    /// The word for it in messages.
    pub const fn word(&self) -> &'static str {
        match self {
            Injury::Silence(_) => "silence",
            Injury::Reset => "reset",
            Injury::Stall(_) => "stall",
            Injury::Delay { .. } => "delay",
            Injury::HoldRequest(_) => "hold_request",
            Injury::HoldReply(_) => "hold_reply",
            Injury::LoseRequest(_) => "lose_request",
            Injury::LoseReply(_) => "lose_reply",
        }
    }

    /// The command that it chooses, if it chooses one.
    pub const fn chosen(&self) -> Option<&Chosen> {
        match self {
            Injury::HoldRequest(chosen)
            | Injury::HoldReply(chosen)
            | Injury::LoseRequest(chosen)
            | Injury::LoseReply(chosen) => Some(chosen),
            Injury::Silence(_) | Injury::Reset | Injury::Stall(_) | Injury::Delay { .. } => None,
        }
    }
}

/// Counters by name, in a fixed order; only those that the provider has.
///
/// `connections`: opened so far, or live at the onset. `connections_reset`. `to_server_bytes_in`,
/// `_out`, `_dropped`: read from the worker, written to the server, thrown away; the same with
/// `to_client`. `requests`, `replies`: whole frames. `matching`: requests that contained a mark.
/// `held`, `delivered`, `lost`: chosen frames. `plain`: connections whose frames were not understood.
/// `to_server_packets_dropped`, `to_client_packets_dropped`, `packets_rejected`: as the kernel counts.
/// `toxics`: seen in Toxiproxy after the onset, or just before the heal.
pub type Measured = Vec<(String, u64)>;

/// An injury has begun. Times are `CLOCK_MONOTONIC`, ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Injured {
    /// Before anything was done.
    pub began_ns: u64,
    /// Every live connection has it, and every new one will.
    pub effective_ns: u64,
    /// What was done to reach that.
    pub measured: Measured,
}

/// An injury has ended, or there was none. Times are `CLOCK_MONOTONIC`, ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Healed {
    /// Before anything was done.
    pub began_ns: u64,
    /// No connection has it any more.
    pub removed_ns: u64,
    /// What the injury did, from its onset to its end; empty if there was none.
    pub measured: Measured,
}

/// Something happened on an edge while it was injured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeEvent {
    /// Where.
    pub edge: EdgeId,
    /// When, `CLOCK_MONOTONIC`, ns.
    pub at_ns: u64,
    /// What.
    pub what: Happening,
}

/// What can happen to a chosen frame. `connection` counts the edge's connections from 1, `frame`
/// the requests of that connection (a reply has the number of its request) from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Happening {
    /// The whole frame is here and kept.
    Held {
        /// Requests or replies.
        way: Way,
        /// Which connection.
        connection: u64,
        /// Which request, or the reply to which.
        frame: u64,
    },
    /// A frame that was held has been handed to the kernel, to its last byte.
    Delivered {
        /// Requests or replies.
        way: Way,
        /// Which connection.
        connection: u64,
        /// Which request, or the reply to which.
        frame: u64,
    },
    /// The whole frame was here and has been thrown away.
    Dropped {
        /// Requests or replies.
        way: Way,
        /// Which connection.
        connection: u64,
        /// Which request, or the reply to which.
        frame: u64,
    },
    /// The server answered what was chosen with an error. Where that is a reply, it passes, and the
    /// next one is chosen; where it is a request, it has been delivered.
    Refused {
        /// Requests or replies.
        way: Way,
        /// Which connection.
        connection: u64,
        /// Which request, or the reply to which.
        frame: u64,
    },
    /// From here on no command of this connection can be chosen: its frames are not understood.
    Plain {
        /// Which connection.
        connection: u64,
        /// Why, a fragment.
        why: String,
    },
}

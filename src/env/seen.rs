//! What an observer reads of a server's own record, whatever the server is, and how it tells it on.

use crate::env::redis::role::Role;
use crate::timeline::event::{Change, Event};

/// In front of the name of a mark by which a reader knows that it is in sync.
const SYNCED: &str = "synced-";

/// What one change means to the lab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// An effect on a lock.
    Effect(Event),
    /// A mark that the lab itself wrote.
    Mark(String),
    /// A key of a lock may have been changed, and nobody can tell to what: why.
    Lost(String),
}

/// What the observer says, with the lab's clock (ns of `CLOCK_MONOTONIC`) at the reading.
#[derive(Debug)]
pub enum Observed {
    /// From here on nothing is missed.
    Synced(u64),
    /// An effect, in the server's order.
    Effect(u64, Event),
    /// A mark that the lab wrote has come by: everything before it has been seen.
    Mark(String),
    /// When one of several servers had said what of itself, if it was otherwise than before, and
    /// when it was asked before and said something else; none = it had not been asked.
    Role(u64, Role, Option<u64>),
    /// The place in the stream is lost, and why.
    Gap(u64, String),
}

impl Seen {
    /// An effect on a key of this server. Its place is given to it where it is recorded.
    pub fn effect(server: &str, key: impl Into<String>, change: Change) -> Seen {
        Seen::Effect(Event::Effect {
            server: server.to_owned(),
            pos: 0,
            key: key.into(),
            change,
        })
    }

    /// The name of the mark of a reader that begins now, ns.
    pub fn sync_mark(now_ns: u64) -> String {
        format!("{SYNCED}{now_ns}")
    }

    /// As it is told on by the reader whose mark this is; none if it was meant for another.
    pub fn told(self, now_ns: u64, mark: &str) -> Option<Observed> {
        match self {
            Seen::Effect(event) => Some(Observed::Effect(now_ns, event)),
            Seen::Mark(name) if name == mark => Some(Observed::Synced(now_ns)),
            // Of a reader before this one.
            Seen::Mark(name) if name.starts_with(SYNCED) => None,
            Seen::Mark(name) => Some(Observed::Mark(name)),
            Seen::Lost(why) => Some(Observed::Gap(now_ns, why)),
        }
    }
}

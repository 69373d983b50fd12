//! The grammar of what lies around a drill: the lock's own server, and the ways to the servers.

use super::names;
use crate::experiment::registry;
use crate::experiment::shape::{Key, Shape, may, need};

pub(super) const NETWORK: &[Key] = &[need(
    "proxy",
    names("proxy", registry::proxy_names),
    "who makes the edges; auto (the default) takes what can do the faults of the drill",
)];

pub(super) const SERVER: &[Key] = &[
    may(
        "binary",
        Shape::Text,
        "a redis-server: its path, or its name on PATH",
    ),
    may(
        "config",
        Shape::Text,
        "a redis.conf; the report says which of its settings the lab replaces",
    ),
];

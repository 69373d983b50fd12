//! The grammar of those who take part: workers and faults.

use super::names;
use crate::experiment::cast::WORKERS_MAX;
use crate::experiment::registry;
use crate::experiment::shape::{Key, Shape, may, need};
use crate::experiment::worker::STEPS_MAX;

pub(super) const WORKER: &[Key] = &[
    may(
        "start",
        Shape::Table(AFTER),
        "the event after which it begins; absent = at once",
    ),
    need("script", Shape::Script, "what it does, in order"),
    may(
        "count",
        Shape::Count(WORKERS_MAX as u64),
        "so many workers that do the same: NAME1, NAME2, …",
    ),
    may(
        "rounds",
        Shape::Count(STEPS_MAX as u64),
        "the script is gone through so often, its steps numbered through",
    ),
    may(
        "key",
        Shape::Text,
        "the key that it locks; absent = the lock's",
    ),
    may(
        "gate",
        names("gate", registry::gate_names),
        "what it asks before each write: nothing, `is_locked`, or only whether it has a handle",
    ),
    may(
        "fencing",
        names("source of fencing tokens", registry::fencing_names),
        "where the tokens come from that it presents: the lock, or a counter of its own",
    ),
    may(
        "on_sigterm",
        names("answer to SIGTERM", registry::sigterm_names),
        "when it is asked to end: end at once (the default), finish the work and release, or release first",
    ),
];

pub(super) const FAULT: &[Key] = &[
    need(
        "kind",
        names("fault", registry::fault_names),
        "see `lockdrill list faults`",
    ),
    need(
        "target",
        Shape::Text,
        "a worker, `holder` (resolved once, at the onset), `lock-server`, `store-server`, or a member of a lock of several servers",
    ),
    may(
        "edge",
        names("service", registry::service_names),
        "for a fault of the network: the target's way to which service",
    ),
    may(
        "command",
        names("command", registry::command_names),
        "for a fault of one request or reply: which",
    ),
    may(
        "nth",
        Shape::Text,
        "which such request from the onset on, `1st`, `2nd`, …; absent = the first",
    ),
    may(
        "by",
        Shape::Text,
        "for a jump of a clock: by how much, with its sign, as `+31s` or `-1h`",
    ),
    need("when", Shape::Table(WHEN), "when it begins"),
    may(
        "heal",
        Shape::Table(AFTER),
        "the event that ends it; this or `for`, unless it cannot be undone",
    ),
    may(
        "for",
        Shape::Duration,
        "time since the proven onset that ends it; this or `heal`",
    ),
];

/// `{ after = EVENT }`
const AFTER: &[Key] = &[need("after", Shape::Event, "see `lockdrill list events`")];

/// `{ at = POINT }` or `{ after = EVENT }`
const WHEN: &[Key] = &[
    may(
        "at",
        Shape::Event,
        "a point of a script: the worker is parked there",
    ),
    may("after", Shape::Event, "an event: no worker waits"),
];

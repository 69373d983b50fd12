//! The grammar of experiment files, as data. What is refused as unknown or missing, the nearest
//! name that is offered, what `--set` and a control may set, and the JSON schema all come from
//! here; a key that is not here does not exist.

use super::registry;
use super::shape::{Key, Names, Shape, may, need};
use crate::checks::{EVIDENCE as GATE, RECORDS_AGREE};

mod cast;
mod servers;
mod store;

use cast::{FAULT, WORKER};
use servers::{NETWORK, SERVER};
use store::STORE;

/// The checks that a file may speak of.
const CHECKS: Names = Names {
    noun: "check",
    all: registry::check_names,
    barred: &[
        (GATE, "it decides whether an arm shows anything at all"),
        (
            RECORDS_AGREE,
            "its violation is a defect of the lab, never a finding",
        ),
    ],
};

/// More replicas than any deployment has.
const REPLICAS_MAX: u64 = 16;
/// Most servers that a quorum is made of.
const VOTERS_MAX: u64 = 9;

const fn names(noun: &'static str, all: fn() -> Vec<&'static str>) -> Shape {
    Shape::OneOf(Names {
        noun,
        all,
        barred: &[],
    })
}

/// The top level.
pub(super) const ROOT: &[Key] = &[
    need(
        "summary",
        Shape::Text,
        "the question that the drill asks, in one sentence",
    ),
    need(
        "class",
        names("class", registry::class_names),
        "what a lost lock costs: work done twice (efficiency) or damaged data (correctness)",
    ),
    need("lock", Shape::Table(LOCK), "the lock under test"),
    need("store", Shape::Table(STORE), "the protected store"),
    need(
        "worker",
        Shape::Named(WORKER),
        "the contenders, in the order of the file",
    ),
    may("fault", Shape::Named(FAULT), "what is broken on purpose"),
    may(
        "evidence",
        Shape::Table(EVIDENCE),
        "what the record must show before a check may hold",
    ),
    may(
        "control",
        Shape::Named(CONTROL),
        "the same drill with one protection removed",
    ),
    may(
        "network",
        Shape::Table(NETWORK),
        "what stands between workers and servers",
    ),
    may(
        "server",
        Shape::Table(SERVER),
        "the lock's server, where it is to be your own",
    ),
    may(
        "limit",
        Shape::Table(LIMIT),
        "what this design cannot hold, said beforehand",
    ),
    may("checks", Shape::Table(CHECK_OPTIONS), "which checks decide"),
    may("bounds", Shape::Table(BOUNDS), "how long things may take"),
];

/// The sections that a control or `--set` may change: what the drill does, not what it claims.
pub(super) const SETTABLE: &[&str] = &[
    "class", "lock", "store", "network", "server", "worker", "fault", "bounds",
];

const LOCK: &[Key] = &[
    need(
        "backend",
        names("lock", registry::lock_names),
        "see `lockdrill list locks`",
    ),
    need(
        "lease",
        Shape::Duration,
        "the lease that is asked for; at least 1ms",
    ),
    may(
        "renew",
        Shape::Duration,
        "renewal interval, below the lease; absent or 0s = never",
    ),
    may(
        "flaw",
        names("flaw", registry::flaw_names),
        "a named defect built in on purpose; see `lockdrill list flaws`",
    ),
    may("key", Shape::Text, "the key that every worker locks"),
    may(
        "renewal",
        names("thread for renewals", registry::renewal_names),
        "what renewals run on: threads of their own (the default), or the script's",
    ),
    may(
        "persist",
        names("kind of persistence", registry::persist_names),
        "what the server keeps over a restart: none (the default), everysec or always",
    ),
    may(
        "copies",
        Shape::Count(REPLICAS_MAX),
        "a grant counts only when so many replicas have it (WAIT); absent = nobody asks them",
    ),
    may(
        "backups",
        Shape::Count(REPLICAS_MAX),
        "so many of the replicas never take over; absent = each of them can",
    ),
    may(
        "voters",
        Shape::Count(VOTERS_MAX),
        "on how many independent servers a `redlock` lives; absent = 3",
    ),
];

const EVIDENCE: &[Key] = &[need("require", Shape::Sentences, super::evidence::FORMS)];

const CONTROL: &[Key] = &[
    need(
        "set",
        Shape::Setting,
        "the one path that differs, with its value",
    ),
    need("violates", Shape::Table(VIOLATES), "what must go red"),
    may(
        "also",
        Shape::ListOf(CHECKS),
        "checks that may be violated too",
    ),
];

const VIOLATES: &[Key] = &[
    need(
        "check",
        Shape::OneOf(CHECKS),
        "the check that must be violated",
    ),
    need(
        "by",
        Shape::Text,
        "the worker or fault that must be its witness",
    ),
];

const LIMIT: &[Key] = &[
    need(
        "checks",
        Shape::ListOf(CHECKS),
        "checks that must come out violated",
    ),
    need(
        "why",
        Shape::Text,
        "why this design cannot hold them, in one sentence",
    ),
];

const CHECK_OPTIONS: &[Key] = &[
    may(
        "require",
        Shape::ListOf(CHECKS),
        "checks that must be put to the test, beside single_holder and those of the controls",
    ),
    may(
        "optional",
        Shape::ListOf(CHECKS),
        "checks whose unknown outcome does not make the arm inconclusive",
    ),
];

const BOUNDS: &[Key] = &[
    may(
        "patience",
        Shape::Duration,
        "limit of any one trigger and of the arm after its last; 10 × lease",
    ),
    may(
        "recovery",
        Shape::Duration,
        "a free lock reaches a waiter within the lease and this; 2s",
    ),
];

//! The grammar of the protected store.

use super::names;
use crate::experiment::registry;
use crate::experiment::shape::{Key, Shape, may, need};

pub(super) const STORE: &[Key] = &[
    need(
        "kind",
        names("store", registry::store_names),
        "see `lockdrill list stores`",
    ),
    need(
        "fence",
        names("fence", registry::fence_names),
        "how fencing tokens are compared: atomic is sound; racy and off are known to be bad",
    ),
    may(
        "seal",
        Shape::Flag,
        "the store is told the fencing token on entry",
    ),
    may("once", Shape::Flag, "one write a fencing token only"),
    may(
        "idempotent",
        Shape::Flag,
        "each job takes effect once, however often it is delivered",
    ),
    may(
        "condition",
        names("way to look at the state", registry::fence_names),
        "how a write `if pending` looks at its job: atomic (the default) is sound; racy and off are known to be bad",
    ),
    may(
        "reads",
        names("rule for reads", registry::reads_names),
        "which `read` steps are answered: all (open, the default), or those that could write (fenced)",
    ),
    may(
        "outbox",
        Shape::Flag,
        "a write that does a job puts it into an outbox in the same step",
    ),
    may(
        "resource",
        Shape::Text,
        "the resource that every worker writes",
    ),
];

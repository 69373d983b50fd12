//! The drills built into the binary, so that an installed `lockdrill` has them everywhere. A test
//! compares this list with the folder.

use super::{Experiment, Overrides, read};

/// Name and text of every drill of `experiments/`.
const DRILLS: &[(&str, &str)] = &[
    (
        "ask-first",
        include_str!("../../experiments/ask-first.toml"),
    ),
    (
        "black-holed-session",
        include_str!("../../experiments/black-holed-session.toml"),
    ),
    (
        "clock-back",
        include_str!("../../experiments/clock-back.toml"),
    ),
    (
        "clock-jump",
        include_str!("../../experiments/clock-jump.toml"),
    ),
    (
        "cluster-failover",
        include_str!("../../experiments/cluster-failover.toml"),
    ),
    ("copies", include_str!("../../experiments/copies.toml")),
    (
        "counter-reset",
        include_str!("../../experiments/counter-reset.toml"),
    ),
    (
        "downstream",
        include_str!("../../experiments/downstream.toml"),
    ),
    (
        "duplicate",
        include_str!("../../experiments/duplicate.toml"),
    ),
    ("evict", include_str!("../../experiments/evict.toml")),
    ("expiry", include_str!("../../experiments/expiry.toml")),
    ("failover", include_str!("../../experiments/failover.toml")),
    (
        "fenced-read",
        include_str!("../../experiments/fenced-read.toml"),
    ),
    ("flush", include_str!("../../experiments/flush.toml")),
    (
        "half-done",
        include_str!("../../experiments/half-done.toml"),
    ),
    (
        "held-renew",
        include_str!("../../experiments/held-renew.toml"),
    ),
    (
        "held-reply",
        include_str!("../../experiments/held-reply.toml"),
    ),
    ("herd", include_str!("../../experiments/herd.toml")),
    ("kill", include_str!("../../experiments/kill.toml")),
    (
        "late-first",
        include_str!("../../experiments/late-first.toml"),
    ),
    (
        "late-release",
        include_str!("../../experiments/late-release.toml"),
    ),
    (
        "late-renew",
        include_str!("../../experiments/late-renew.toml"),
    ),
    (
        "late-token",
        include_str!("../../experiments/late-token.toml"),
    ),
    (
        "lost-release",
        include_str!("../../experiments/lost-release.toml"),
    ),
    ("mutex", include_str!("../../experiments/mutex.toml")),
    ("noscript", include_str!("../../experiments/noscript.toml")),
    (
        "old-primary",
        include_str!("../../experiments/old-primary.toml"),
    ),
    ("outage", include_str!("../../experiments/outage.toml")),
    (
        "partition",
        include_str!("../../experiments/partition.toml"),
    ),
    (
        "partition-reply",
        include_str!("../../experiments/partition-reply.toml"),
    ),
    (
        "partition-reset",
        include_str!("../../experiments/partition-reset.toml"),
    ),
    ("pause", include_str!("../../experiments/pause.toml")),
    (
        "paused-in-transaction",
        include_str!("../../experiments/paused-in-transaction.toml"),
    ),
    (
        "redlock-amnesia",
        include_str!("../../experiments/redlock-amnesia.toml"),
    ),
    (
        "redlock-clock",
        include_str!("../../experiments/redlock-clock.toml"),
    ),
    (
        "redlock-hung",
        include_str!("../../experiments/redlock-hung.toml"),
    ),
    (
        "redlock-majority",
        include_str!("../../experiments/redlock-majority.toml"),
    ),
    (
        "redlock-minority",
        include_str!("../../experiments/redlock-minority.toml"),
    ),
    (
        "refuse-writes",
        include_str!("../../experiments/refuse-writes.toml"),
    ),
    ("renew", include_str!("../../experiments/renew.toml")),
    ("restart", include_str!("../../experiments/restart.toml")),
    (
        "restart-everysec",
        include_str!("../../experiments/restart-everysec.toml"),
    ),
    (
        "restart-none",
        include_str!("../../experiments/restart-none.toml"),
    ),
    (
        "session-is-the-lock",
        include_str!("../../experiments/session-is-the-lock.toml"),
    ),
    (
        "session-killed",
        include_str!("../../experiments/session-killed.toml"),
    ),
    ("shutdown", include_str!("../../experiments/shutdown.toml")),
    (
        "stale-read",
        include_str!("../../experiments/stale-read.toml"),
    ),
    (
        "starved-renewal",
        include_str!("../../experiments/starved-renewal.toml"),
    ),
    (
        "state-machine",
        include_str!("../../experiments/state-machine.toml"),
    ),
    (
        "stop-server",
        include_str!("../../experiments/stop-server.toml"),
    ),
    (
        "worker-clock",
        include_str!("../../experiments/worker-clock.toml"),
    ),
    (
        "zk-session",
        include_str!("../../experiments/zk-session.toml"),
    ),
    (
        "zombie-refence",
        include_str!("../../experiments/zombie-refence.toml"),
    ),
];

/// Every drill as it stands in the binary, in order of names: the same everywhere.
pub fn built_in() -> Vec<Experiment> {
    all()
        .filter_map(|(name, text)| read(name, name, text, &Overrides::default()).ok())
        .collect()
}

/// Name and text of every drill, in order of names.
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    DRILLS.iter().copied()
}

/// The text of a drill.
pub(super) fn find(name: &str) -> Option<&'static str> {
    let found = all().find(|(known, _)| *known == name)?;
    Some(found.1)
}

/// Every name.
pub(super) fn names() -> Vec<&'static str> {
    all().map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::files::{FOLDER, stems};
    use std::path::Path;

    #[test]
    fn every_drill_of_the_folder_is_built_in() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
        let files: Vec<String> = stems(&folder).into_keys().collect();
        assert_eq!(
            files,
            names(),
            "add or remove its line in DRILLS, in order of names"
        );
    }
}

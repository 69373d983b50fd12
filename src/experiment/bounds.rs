//! `[bounds]`: how long things may take, and whether every fault ends in that time.

use super::duration::show;
use super::place::At;
use super::reading::Reading;
use super::section::Section;
use crate::plan::{FaultPlan, Heal};

/// A trigger may take this many leases, unless the file says otherwise.
const PATIENCE_LEASES: u64 = 10;

/// A free lock reaches a waiter within the lease and this, unless the file says otherwise.
const RECOVERY_MS: u64 = 2_000;

/// Patience and the bound of recovery, milliseconds.
pub(super) fn read(reading: &mut Reading, root: &Section<'_>, lease_ms: Option<u64>) -> (u64, u64) {
    let lease_ms = lease_ms.unwrap_or(0);
    let section = root.table(reading, "bounds");
    let mut read = |name| {
        section
            .as_ref()
            .and_then(|section| section.duration(reading, name))
    };
    let (patience, recovery) = (read("patience"), read("recovery"));
    if let Some(patience) = patience
        .as_ref()
        .filter(|patience| patience.value <= lease_ms)
    {
        let (waits, lease) = (show(patience.value), show(lease_ms));
        let message = format!("patience of {waits} ends before a lease of {lease} can");
        reading.problem(&patience.at, message);
    }
    (
        patience.map_or(lease_ms * PATIENCE_LEASES, |patience| patience.value),
        recovery.map_or(RECOVERY_MS, |recovery| recovery.value),
    )
}

/// A fault that ends by time ends within the patience of the drill.
pub(super) fn faults_end_in_time(
    reading: &mut Reading,
    root: &Section<'_>,
    (faults, patience_ms): (&[FaultPlan], u64),
) {
    for fault in faults {
        let Some(Heal::For(ms)) = fault.heal else {
            continue;
        };
        if ms >= patience_ms {
            let (lasts, patience) = (show(ms), show(patience_ms));
            let message =
                format!("`for` of {lasts} does not end within the patience of {patience}");
            let at = for_at(reading, root, &fault.name);
            reading.hinted(&at, message, "raise `patience` in [bounds]");
        }
    }
}

fn for_at(reading: &mut Reading, root: &Section<'_>, fault: &str) -> At {
    let faults = root.named(reading, "fault");
    let found = faults.iter().find(|(name, _)| name.value == fault);
    found.map_or_else(|| root.at.clone(), |(_, section)| section.place("for"))
}

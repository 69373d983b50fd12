//! What became of the protected work: an axis of its own. A lock may lose its holder's exclusivity
//! and fencing still keep the work; a lock may look fine and the work be damaged.
//!
//! A fence compares numbers and can be wrong with them: if the lock server gave a new holder a
//! token that is not above an older one's, the store refuses the rightful holder. That is no stale
//! write, and where the store then takes the older holder's, the work was not kept.

use super::Protection;
use crate::checks::no_stale_read::exposed;
use crate::checks::no_stale_write::staleness;
use crate::checks::rightful_served::rightful;
use crate::checks::{EVIDENCE, Finding, Outcome};
use crate::timeline::event::AttemptKind;
use crate::timeline::history::{Grant, History};

/// Checks whose violation means that the work itself was damaged.
const DAMAGE: [&str; 4] = [
    "no_stale_write",
    "no_lost_update",
    "effects_once",
    "published_once",
];

/// What became of the protected work, from the store's log and what the checks say of it.
pub fn protection(history: &History, findings: &[Finding]) -> Protection {
    let damaged = findings
        .iter()
        .any(|finding| finding.outcome == Outcome::Violated && DAMAGE.contains(&&*finding.check));
    if damaged {
        return Protection::Lost;
    }
    let staleness = staleness(history);
    if staleness.writes == 0 {
        return Protection::NotTested;
    }
    let stale = staleness.stale.iter().map(|(index, _)| *index);
    let (accepted, refused): (Vec<_>, Vec<_>) = stale
        .chain(staleness.late)
        .map(|index| &history.store[index])
        .filter(|attempt| attempt.kind == AttemptKind::Write)
        .partition(|attempt| attempt.accepted);
    let rightful = rightful(history, refused.iter().copied());
    let rightful: Vec<&Grant> = rightful.map(|(_, grant)| grant).collect();
    let overtaken = rightful.iter().any(|grant| older_accepted(history, grant));
    let reads = exposed(history);
    let mut reads = reads.iter().filter(|read| read.stale);
    if !accepted.is_empty() || overtaken {
        Protection::Lost
    } else if refused.len() > rightful.len()
        || reads.any(|read| !history.store[read.index].accepted)
    {
        Protection::KeptByFencing
    } else if is_shown(findings) {
        Protection::Kept
    } else {
        Protection::NotTested
    }
}

/// The store took a write of an older grant of the same key after this one was made.
fn older_accepted(history: &History, newer: &Grant) -> bool {
    let writes = history.store.iter();
    writes
        .filter(|write| write.took_effect() && write.kind == AttemptKind::Write)
        .filter(|write| write.applied > newer.granted.latest)
        .filter_map(|write| history.grant_of(write.grant.as_ref()?))
        .any(|older| older.is_before(newer))
}

/// What should have endangered the work is shown to have happened; else nothing was kept from it.
fn is_shown(findings: &[Finding]) -> bool {
    let evidence = findings.iter().find(|finding| finding.check == EVIDENCE);
    evidence.is_none_or(|finding| finding.outcome == Outcome::Holds)
}

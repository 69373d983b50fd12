//! What became of the protected work: an axis of its own. A lock may lose its holder's exclusivity
//! and fencing still keep the work; a lock may look fine and the work be damaged.

use super::Protection;
use crate::checks::no_stale_read::exposed;
use crate::checks::no_stale_write::staleness;
use crate::checks::{Finding, Outcome};
use crate::timeline::event::AttemptKind;
use crate::timeline::history::History;

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
    let mut refused = stale.chain(staleness.late).filter(|index| {
        let attempt = &history.store[*index];
        !attempt.accepted && attempt.kind == AttemptKind::Write
    });
    let reads = exposed(history);
    let mut reads = reads.iter().filter(|read| read.stale);
    if refused.next().is_some() || reads.any(|read| !history.store[read.index].accepted) {
        Protection::KeptByFencing
    } else {
        Protection::Kept
    }
}

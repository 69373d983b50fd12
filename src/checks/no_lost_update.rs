//! `no_lost_update`: the accepted writes of a resource form one chain by `based_on`.
//!
//! Lock and fence may both have worked and an update still be lost: a late write is taken between
//! the successor's read and its first write.

use super::{Check, Finding};
use crate::timeline::event::AttemptKind;
use crate::timeline::history::{History, StoreAttempt};
use foldhash::HashMap;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct NoLostUpdate;

impl Check for NoLostUpdate {
    fn name(&self) -> &'static str {
        "no_lost_update"
    }

    fn claim(&self) -> &'static str {
        "each accepted write was based on the accepted write before it"
    }

    fn judge(&self, history: &History) -> Finding {
        let mut last: HashMap<&str, &StoreAttempt> = HashMap::default();
        let mut accepted = 0_usize;
        let writes = history.store.iter();
        for write in writes.filter(|write| write.accepted && write.kind == AttemptKind::Write) {
            accepted += 1;
            let before = last.insert(&write.resource, write);
            if write.based_on.as_deref() == before.map(|before| &*before.write) {
                continue;
            }
            let why = format!(
                "{} was based on {} although {}",
                write.write,
                write.based_on.as_deref().unwrap_or("nothing"),
                match before {
                    Some(before) => {
                        format!("{} had been accepted: that update is lost", before.write)
                    }
                    None => "nothing had been accepted".to_owned(),
                }
            );
            return Finding::violated(self, why)
                .resting_on(
                    [write.seq]
                        .into_iter()
                        .chain(before.map(|before| before.seq)),
                )
                .witnessed_by(
                    history,
                    write
                        .worker
                        .into_iter()
                        .chain(before.and_then(|before| before.worker)),
                );
        }
        if accepted < 2 {
            return Finding::vacuous(self, "fewer than two writes were accepted");
        }
        Finding::holds(
            self,
            format!("{accepted} accepted writes, each based on the one before"),
        )
    }
}

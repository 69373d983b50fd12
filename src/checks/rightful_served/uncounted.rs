//! Accepted writes of which it is not certain that their writer was the only entitled one, and why.

use super::crowd::Crowd;
use crate::checks::say::secs;
use crate::timeline::history::{Grant, History, StoreAttempt};

/// How many accepted writes are not counted, by reason.
#[derive(Debug, Default)]
pub(super) struct Uncounted {
    /// Another was entitled as well, or may have been.
    shared: usize,
    /// The writer had no grant, or its entitlement was over.
    without: usize,
    /// It sent another fencing token than its grant has.
    misnumbered: usize,
    /// Begin or end of the writer's entitlement is not known finely enough.
    unsure: usize,
}

impl Uncounted {
    /// Takes in an accepted write that is not counted.
    pub(super) fn add(
        &mut self,
        (history, crowd): (&History, &Crowd),
        (write, grant): (&StoreAttempt, Option<&Grant>),
    ) {
        let over = write.applied.saturating_sub(history.epsilon_ns);
        match grant {
            None => self.without += 1,
            Some(grant) if grant.doubt.is_none() && grant.possible.to < over => self.without += 1,
            Some(grant) if grant.fencing != write.fencing => self.misnumbered += 1,
            Some(_) if crowd.shared_at(write.applied) => self.shared += 1,
            Some(_) => self.unsure += 1,
        }
    }

    /// In words, to follow what is counted; nothing if all are.
    pub(super) fn told(&self, history: &History) -> String {
        let reasons = [
            (
                self.shared,
                "while another was entitled as well, or may have been".to_owned(),
            ),
            (
                self.without,
                "of a writer that was not entitled, or no longer".to_owned(),
            ),
            (
                self.misnumbered,
                "under another fencing token than its writer's grant has".to_owned(),
            ),
            (
                self.unsure,
                format!(
                    "so near to the begin or the end of its writer's entitlement that it is not \
                     certain on which side it lies (a time of the server is known to within {} at \
                     best)",
                    secs(history.epsilon_ns)
                ),
            ),
        ];
        let reasons = reasons.iter().filter(|(n, _)| *n > 0);
        let told: Vec<String> = reasons.map(|(n, why)| format!("{n} {why}")).collect();
        match told.as_slice() {
            [] => String::new(),
            all => format!("; accepted and not counted: {}", all.join("; ")),
        }
    }
}

//! `effects_once`: what was accepted is in the final data, once, and nothing else is.

use super::{Check, Finding};
use crate::timeline::event::AttemptKind;
use crate::timeline::history::{History, StoreAttempt};
use foldhash::HashMap;
use std::collections::BTreeMap;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct EffectsOnce;

impl Check for EffectsOnce {
    fn name(&self) -> &'static str {
        "effects_once"
    }

    fn claim(&self) -> &'static str {
        "each accepted write took effect once, and the final data are the accepted writes'"
    }

    fn judge(&self, history: &History) -> Finding {
        let mut last: BTreeMap<&str, &StoreAttempt> = BTreeMap::new();
        let mut seen: HashMap<(&str, &str), &StoreAttempt> = HashMap::default();
        let writes = history.store.iter();
        for write in writes.filter(|write| write.accepted && write.kind == AttemptKind::Write) {
            if let Some(first) = seen.insert((&write.resource, &write.write), write) {
                let why = format!("{} was accepted twice", write.write);
                return Finding::violated(self, why)
                    .resting_on([first.seq, write.seq])
                    .witnessed_by(history, write.worker);
            }
            last.insert(&write.resource, write);
        }
        for value in &history.final_values {
            let accepted = last.get(&*value.resource);
            if value.write.as_deref() == accepted.map(|write| &*write.write) {
                continue;
            }
            let why = format!(
                "{} holds {} at the end, but the last accepted write is {}",
                value.resource,
                value.write.as_deref().unwrap_or("nothing"),
                accepted.map_or("none", |write| &*write.write),
            );
            let writer = accepted.and_then(|write| write.worker);
            return Finding::violated(self, why)
                .resting_on(
                    [value.seq]
                        .into_iter()
                        .chain(accepted.map(|write| write.seq)),
                )
                .witnessed_by(history, writer);
        }
        let told = |resource: &&str| {
            history
                .final_values
                .iter()
                .any(|v| v.resource == **resource)
        };
        if let Some(resource) = last.keys().find(|resource| !told(resource)) {
            let why = format!("the final data of {resource} are not on the record");
            return Finding::unknown(self, why);
        }
        if last.is_empty() {
            return Finding::vacuous(self, "no write was accepted");
        }
        Finding::holds(self, "the final data are those of the last accepted write")
            .resting_on(history.final_values.iter().map(|value| value.seq))
    }
}

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
        "each accepted write and each job took effect once, and the final data are the accepted writes'"
    }

    fn judge(&self, history: &History) -> Finding {
        let mut last: BTreeMap<&str, &StoreAttempt> = BTreeMap::new();
        let mut seen: HashMap<(&str, &str), &StoreAttempt> = HashMap::default();
        let writes = history.store.iter();
        for write in writes.filter(|write| write.took_effect() && write.kind == AttemptKind::Write)
        {
            if let Some(first) = seen.insert((&write.resource, &write.write), write) {
                let why = format!("{} was accepted twice", write.write);
                return Finding::violated(self, why)
                    .resting_on([first.seq, write.seq])
                    .witnessed_by(history, write.worker);
            }
            last.insert(&write.resource, write);
        }
        if let Some(finding) = self.jobs(history) {
            return finding;
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

impl EffectsOnce {
    /// A job that is in the final data other than once, or than the store's log says.
    fn jobs(&self, history: &History) -> Option<Finding> {
        let mut done: BTreeMap<(&str, &str), Vec<&StoreAttempt>> = BTreeMap::new();
        for write in &history.store {
            let Some(job) = write.job.as_ref().filter(|_| write.accepted) else {
                continue;
            };
            let writes = done.entry((&write.resource, job)).or_default();
            if write.took_effect() {
                writes.push(write);
            }
        }
        for value in &history.final_values {
            for job in value.jobs.keys() {
                done.entry((&value.resource, job)).or_default();
            }
        }
        for ((resource, job), writes) in done {
            let mut values = history.final_values.iter();
            let value = values.find(|value| value.resource == resource);
            // Without final data the log alone can still show that it was done twice.
            let times = value.map_or(writes.len() as u64, |value| {
                value.jobs.get(job).copied().unwrap_or(0)
            });
            if times == 1 && writes.len() == 1 {
                continue;
            }
            let by: Vec<&str> = writes.iter().map(|write| &*write.write).collect();
            let why = format!(
                "the job {job} took effect {times} times, by the log in {}",
                if by.is_empty() {
                    "no write".to_owned()
                } else {
                    by.join(" and ")
                }
            );
            let seqs = writes.iter().map(|write| write.seq);
            let latest_first = writes.iter().rev().filter_map(|write| write.worker);
            return Some(
                Finding::violated(self, why)
                    .resting_on(seqs.chain(value.map(|value| value.seq)))
                    .witnessed_by(history, latest_first),
            );
        }
        None
    }
}

//! `published_once`: what was done is published once, and nothing else is.
//!
//! The store and the queue share no transaction, and no lock makes one of them: who dies between
//! the two has done one of them. Which job was done is said by the store's log, what was published
//! by the queue's; neither by a worker.

use super::say::{count, secs};
use super::{Check, Finding};
use crate::timeline::history::{History, Publication, StoreAttempt};
use std::collections::BTreeMap;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct PublishedOnce;

/// What the two logs say of one job.
#[derive(Debug, Default)]
struct Job<'h> {
    /// Writes of it that took effect.
    done: Vec<&'h StoreAttempt>,
    /// Publications of it that took effect.
    published: Vec<&'h Publication>,
}

impl Check for PublishedOnce {
    fn name(&self) -> &'static str {
        "published_once"
    }

    fn claim(&self) -> &'static str {
        "each job that was done is published once, and no other is"
    }

    fn judge(&self, history: &History) -> Finding {
        if !history.plan.has_queue() && history.published.is_empty() {
            return Finding::vacuous(self, "nothing is published in this drill");
        }
        let jobs = jobs(history);
        if let Some((job, told)) = jobs.iter().find(|(_, job)| job.published.len() > 1) {
            return self.violated(history, (job, told));
        }
        let Some((seq, lines)) = history.queue_read else {
            return Finding::unknown(self, "the queue's log was not read to its end");
        };
        if lines != history.published.len() as u64 {
            let why = format!(
                "the queue's log has {lines} publications and {} are on the record",
                history.published.len()
            );
            return Finding::unknown(self, why).resting_on([seq]);
        }
        if let Some(wrong) = jobs.iter().find(|(_, job)| !job.is_whole()) {
            return self.violated(history, wrong).resting_on([seq]);
        }
        if jobs.is_empty() {
            return Finding::vacuous(self, "no job was done and none was published");
        }
        let seqs = history.published.iter().map(|line| line.seq);
        let why = format!("{} done, each published once", count(jobs.len(), "job"));
        Finding::holds(self, why).resting_on(seqs.chain([seq]))
    }
}

impl Job<'_> {
    /// Done or not, it was published as it should be. How often it was done is another check's.
    fn is_whole(&self) -> bool {
        self.published.len() == usize::from(!self.done.is_empty())
    }
}

impl PublishedOnce {
    fn violated(&self, history: &History, (name, job): (&&str, &Job<'_>)) -> Finding {
        let by: Vec<&str> = job.published.iter().map(|line| &*line.publish).collect();
        let why = match (job.done.first(), by.as_slice()) {
            (Some(done), []) => format!(
                "the job {name} was done by {} at {} and was never published",
                done.write,
                secs(done.applied)
            ),
            (None, [first, ..]) => {
                format!("{first} published the job {name}, which no accepted write had done")
            }
            (_, all) => format!(
                "the job {name} was published {} times, by {}",
                all.len(),
                all.join(" and ")
            ),
        };
        let latest_first = job.published.iter().rev().filter_map(|line| line.worker);
        let writers = job.done.iter().filter_map(|write| write.worker);
        let seqs = job.done.iter().map(|write| write.seq);
        Finding::violated(self, why)
            .resting_on(seqs.chain(job.published.iter().map(|line| line.seq)))
            .witnessed_by(history, latest_first.chain(writers))
    }
}

fn jobs(history: &History) -> BTreeMap<&str, Job<'_>> {
    let mut jobs: BTreeMap<&str, Job<'_>> = BTreeMap::new();
    for write in history.store.iter().filter(|write| write.took_effect()) {
        if let Some(job) = &write.job {
            jobs.entry(job).or_default().done.push(write);
        }
    }
    for line in history.published.iter().filter(|line| !line.known_before) {
        jobs.entry(&line.message).or_default().published.push(line);
    }
    jobs
}

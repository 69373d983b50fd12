//! What happens beside the writes: reads of the store, publications to the queue, fencing tokens
//! drawn without the lock.

use super::tenure::Tenure;
use super::writes::Fate;
use crate::checks::no_stale_read::exposed;
use crate::timeline::event::{Answer, AttemptKind, Call};
use crate::timeline::history::{History, Publication};
use std::collections::{HashMap, HashSet};

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// A `read` step; the write that it was shown.
    Read(Option<String>),
    /// A publication of this job, and what the queue did with it.
    Published(String, Queued),
    /// This fencing token was drawn from the lock's counter, without the lock.
    Drew(u64),
}

/// What the queue did with a publication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queued {
    /// It took it, for the first time.
    First,
    /// It knew the job already and kept it once.
    Known,
    /// It took the job once more: whoever reads the queue gets it again.
    Again,
}

/// One such deed.
#[derive(Debug, Clone)]
pub struct BesideMark {
    /// Who.
    pub worker: String,
    /// The step with its worker in front, `a.read.1`.
    pub step: String,
    /// What.
    pub deed: Deed,
    /// When it counted: at the store or the queue, else when it was answered.
    pub at: u64,
    /// Fencing token that it presented.
    pub fencing: Option<u64>,
    /// What became of it.
    pub fate: Fate,
    /// A read after its reader's entitlement had ended and another was granted: how long after its
    /// end, ns.
    pub stale: Option<u64>,
    /// The line to point at.
    pub event: u64,
}

impl BesideMark {
    /// It is a `read` step.
    pub fn is_read(&self) -> bool {
        matches!(self.deed, Deed::Read(_))
    }

    /// It should not have been answered, or not have been done.
    pub fn is_harmful(&self) -> bool {
        match self.deed {
            Deed::Read(_) => self.stale.is_some() && self.fate == Fate::Accepted,
            Deed::Published(_, queued) => queued == Queued::Again,
            Deed::Drew(_) => true,
        }
    }
}

/// Every deed, by time.
pub fn beside(history: &History, tenures: &[Tenure]) -> Vec<BesideMark> {
    let mut marks = reads(history, tenures);
    let name = |worker: Option<usize>| worker.map_or("?", |worker| history.worker_name(worker));
    let mut taken = HashSet::new();
    let mut lines: Vec<&Publication> = history.published.iter().collect();
    lines.sort_by_key(|line| line.n);
    for line in lines {
        let queued = match line.known_before {
            true => Queued::Known,
            false if taken.insert(&*line.message) => Queued::First,
            false => Queued::Again,
        };
        marks.push(BesideMark {
            worker: name(line.worker).to_owned(),
            step: line.publish.clone(),
            deed: Deed::Published(line.message.clone(), queued),
            at: line.applied,
            fencing: None,
            fate: Fate::Accepted,
            stale: None,
            event: line.seq,
        });
    }
    for operation in &history.operations {
        if let (Call::Refence, Some(Answer::Drawn { fencing })) =
            (&operation.call, operation.answer())
        {
            let worker = history.worker_name(operation.worker);
            marks.push(BesideMark {
                worker: worker.to_owned(),
                step: format!(
                    "{worker}.{}",
                    operation.step.as_deref().unwrap_or("refence")
                ),
                deed: Deed::Drew(fencing.0),
                at: operation.ended(),
                fencing: None,
                fate: Fate::Accepted,
                stale: None,
                event: operation.seq,
            });
        }
    }
    marks.sort_by_key(|mark| mark.at);
    marks
}

fn reads(history: &History, tenures: &[Tenure]) -> Vec<BesideMark> {
    let exposed = exposed(history);
    let stale: HashMap<usize, bool> = exposed
        .iter()
        .map(|read| (read.index, read.stale))
        .collect();
    let entries = history.store.iter().enumerate();
    let reads = entries.filter(|(_, entry)| entry.kind == AttemptKind::Read);
    let marks = reads.map(|(index, entry)| {
        let own = entry.grant.as_ref();
        let own = tenures
            .iter()
            .find(|one| own.is_some() && one.grant.as_ref() == own);
        let late = own.map(|own| entry.applied.saturating_sub(own.entitled));
        BesideMark {
            worker: entry
                .worker
                .map_or("?", |worker| history.worker_name(worker))
                .to_owned(),
            step: entry.write.clone(),
            deed: Deed::Read(entry.based_on.clone()),
            at: entry.applied,
            fencing: entry.fencing.map(|token| token.0),
            fate: if entry.accepted {
                Fate::Accepted
            } else {
                Fate::Rejected
            },
            stale: late.filter(|_| stale.get(&index) == Some(&true)),
            event: entry.seq,
        }
    });
    marks.collect()
}

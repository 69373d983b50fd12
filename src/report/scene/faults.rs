//! Faults that were injected: what, whom, from when to when.

use crate::timeline::history::History;

/// One fault that was injected.
#[derive(Debug, Clone)]
pub struct FaultMark {
    /// Name in the plan.
    pub name: String,
    /// Kind.
    pub kind: String,
    /// The worker that it hit.
    pub worker: Option<String>,
    /// The server that it hit.
    pub server: Option<String>,
    /// What was awaited to begin it.
    pub trigger: String,
    /// What made the lab undo it; none if it was not undone.
    pub cause: Option<String>,
    /// When the injecting call began, and when its effect was seen in full.
    pub began: u64,
    /// When its effect was seen in full.
    pub effective: u64,
    /// It lasts until it is undone; else it is over as soon as it is done.
    pub lasts: bool,
    /// When the heal began.
    pub healed: Option<u64>,
    /// When the removal was seen by its effect.
    pub removed: Option<u64>,
    /// Onset and heal.
    pub events: Vec<u64>,
}

impl FaultMark {
    /// Whom it hit, a worker or a server.
    pub fn whom(&self) -> Option<&str> {
        self.worker.as_deref().or(self.server.as_deref())
    }

    /// When it was begun, where that is told at another time than when its effect was seen: a fault
    /// counts from when it was seen to work, and only this says when it was begun.
    pub fn begun(&self, told: impl Fn(u64) -> String) -> Option<String> {
        let begun = told(self.began);
        (begun != told(self.effective)).then_some(begun)
    }

    /// From when a picture shows it: what is over at once stands where it was done, before
    /// anything that came of it.
    pub fn stands(&self) -> u64 {
        if self.lasts {
            self.effective
        } else {
            self.began.min(self.effective)
        }
    }

    /// When it was over: at once, when its heal began (of a server's when that was seen to have
    /// worked: until then nobody could ask it), or never on the record.
    pub fn over(&self) -> Option<u64> {
        if self.lasts && self.server.is_some() {
            self.removed
        } else if self.lasts {
            self.healed.or(self.removed)
        } else {
            Some(self.effective)
        }
    }
}

/// Every fault that was injected, with its heal.
pub fn faults(history: &History) -> Vec<FaultMark> {
    let mut marks = Vec::new();
    for window in &history.faults {
        for (index, onset) in window.onsets.iter().enumerate() {
            let heal = window.heals.get(index);
            let mut events = vec![onset.seq];
            events.extend(heal.map(|heal| heal.seq));
            marks.push(FaultMark {
                name: window.fault.clone(),
                kind: window.kind.clone(),
                worker: window
                    .worker
                    .map(|worker| history.worker_name(worker).to_owned()),
                server: window.server.clone(),
                trigger: onset.trigger.clone(),
                cause: heal.map(|heal| heal.cause.clone()),
                began: onset.began,
                effective: onset.effective,
                lasts: window.lasts,
                healed: heal.map(|heal| heal.began),
                removed: heal.and_then(|heal| heal.removed),
                events,
            });
        }
    }
    marks
}

//! What one server has told of the lock, as far as it has been read.

use crate::ids::OwnerDigest;
use crate::timeline::event::Change;
use std::collections::HashMap;

/// What one server has told.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) owner: Option<OwnerDigest>,
    pub(super) until_ms: Option<u64>,
    /// Server µs minus lab ns / 1000, at the last clock sample.
    pub(super) offset_us: Option<i128>,
    /// Of one of several.
    pub(super) role: Option<Role>,
    /// How far each counter has come.
    pub(super) counters: HashMap<String, u64>,
    /// Lab time at which a counter was last seen to have fallen, ns.
    pub(super) forgot: Option<u64>,
}

/// What one of several servers says of itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Role {
    pub(super) primary: bool,
    pub(super) links: u64,
    /// Lab time at which it became so, or was first asked, ns.
    pub(super) since: u64,
    /// Lab time at which it said so, ns.
    pub(super) at: u64,
}

impl Told {
    /// The owner that it names at this lab time, if the lease has not ended.
    pub(super) fn names(&self, lab_ns: u64) -> Result<&OwnerDigest, &'static str> {
        let owner = self.owner.as_ref().ok_or("the server names no holder")?;
        let offset_us = self
            .offset_us
            .ok_or("the server's clock is not known yet")?;
        let now_ms = (i128::from(lab_ns) / 1000 + offset_us) / 1000;
        match self.until_ms {
            Some(until) if i128::from(until) <= now_ms => {
                Err("the last lease has ended by the server's clock")
            }
            Some(_) | None => Ok(owner),
        }
    }

    /// Whether a counter that had come somewhere is behind that now, or everything is gone.
    pub(super) fn falls(&mut self, key: &str, change: &Change) -> bool {
        match change {
            // Where nothing was known yet, too: the server itself said that it was emptied.
            Change::Flushed => {
                self.counters.clear();
                true
            }
            Change::Counter { value: Some(value) } => {
                let before = self.counters.insert(key.to_owned(), *value);
                before.is_some_and(|before| *value < before)
            }
            _other => false,
        }
    }

    pub(super) fn change(&mut self, change: &Change) {
        match change {
            Change::Set {
                owner, until_ms, ..
            } => {
                self.owner = Some(owner.clone());
                self.until_ms = *until_ms;
            }
            Change::Extended { until_ms } => self.until_ms = *until_ms,
            Change::Restarted {
                owner, until_ms, ..
            }
            | Change::Copied {
                owner, until_ms, ..
            } => {
                self.owner.clone_from(owner);
                self.until_ms = *until_ms;
            }
            Change::Deleted | Change::Flushed => {
                self.owner = None;
                self.until_ms = None;
            }
            Change::Counter { .. } => {}
        }
    }
}

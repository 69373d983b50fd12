//! Who holds the lock by the server's truth, right now: for faults whose target is the holder.
//!
//! Follows the record as it grows. Only the choice of a target rests on it; the checks work the
//! same out again from the record alone.

use crate::ids::{GrantId, OwnerDigest};
use crate::timeline::event::{By, Call, Change, Event, Line};
use std::collections::HashMap;

/// The holder so far.
#[derive(Debug, Default)]
pub struct Truth {
    attempts: HashMap<OwnerDigest, (String, GrantId)>,
    owner: Option<OwnerDigest>,
    until_ms: Option<u64>,
    /// Server µs minus lab ns / 1000, at the last clock sample.
    offset_us: Option<i128>,
}

impl Truth {
    /// Takes note of one line.
    pub fn note(&mut self, line: &Line) {
        match (&line.by, &line.event) {
            (
                By::Worker(worker),
                Event::Invoke {
                    call: Call::Attempt { grant, owner },
                    ..
                },
            ) => {
                self.attempts
                    .insert(owner.clone(), (worker.clone(), grant.clone()));
            }
            (_, Event::Effect { change, .. }) => self.change(change),
            (
                _,
                Event::ClockSample {
                    before,
                    after,
                    server_us,
                    ..
                },
            ) => {
                let middle_us = i128::from(before.midpoint(*after)) / 1000;
                self.offset_us = Some(i128::from(*server_us) - middle_us);
            }
            _ => {}
        }
    }

    fn change(&mut self, change: &Change) {
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

    /// Worker and grant that the server names at this lab time, if the lease has not ended.
    ///
    /// # Errors
    /// Why there is no such worker, in words.
    pub fn holder(&self, lab_ns: u64) -> Result<(String, GrantId), String> {
        let owner = self.owner.as_ref().ok_or("the server names no holder")?;
        let offset_us = self
            .offset_us
            .ok_or("the server's clock is not known yet")?;
        let now_ms = (i128::from(lab_ns) / 1000 + offset_us) / 1000;
        if self
            .until_ms
            .is_some_and(|until| i128::from(until) <= now_ms)
        {
            return Err("the last lease has ended by the server's clock".to_owned());
        }
        self.attempts
            .get(owner)
            .cloned()
            .ok_or_else(|| format!("no worker knows the owner {owner} that the server names"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(by: By, event: Event) -> Line {
        Line {
            seq: 0,
            at: 0,
            by,
            event,
        }
    }

    #[test]
    fn the_holder_is_whom_the_server_names_while_the_lease_lasts() {
        let mut truth = Truth::default();
        let owner = OwnerDigest("aa".into());
        let grant = GrantId("a.1".into());
        let server = || By::Server("redis".into());
        truth.note(&line(
            By::Worker("a".into()),
            Event::Invoke {
                op: 1,
                step: None,
                call: Call::Attempt {
                    grant: grant.clone(),
                    owner: owner.clone(),
                },
            },
        ));
        assert!(truth.holder(0).is_err());
        truth.note(&line(
            server(),
            Event::ClockSample {
                server: "redis".into(),
                before: 0,
                after: 0,
                server_us: 1_000_000,
            },
        ));
        truth.note(&line(
            server(),
            Event::Effect {
                server: "redis".into(),
                pos: 0,
                key: "k".into(),
                change: Change::Set {
                    owner,
                    fencing: None,
                    until_ms: Some(2000),
                },
            },
        ));
        assert_eq!(truth.holder(999_000_000), Ok(("a".into(), grant)));
        assert!(truth.holder(1_000_000_000).is_err(), "the lease has ended");
    }
}
